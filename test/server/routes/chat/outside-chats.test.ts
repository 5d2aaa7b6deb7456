import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InlayError } from '@inlay/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { startSite } from '../../../stand-in/web-site.ts'
import type { InlayOptions } from 'inlay'
import { newInstallation } from '../administration/installation.ts'

const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0])
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

test('the configured web search answers each query, best first, up to the results wanted', async () => {
  const queries: string[] = []
  const { call, inlay } = await newInstallation({
    webSearch: async ({ text }) => {
      queries.push(text)
      return [1, 2, 3].map((place) => ({
        title: `${text} ${place}`,
        url: `https://${text}.example/${place}`,
        snippet: `About ${text}.`,
      }))
    },
  })
  const { key } = await inlay.keys.create({ scopes: ['chat'], owner: 'alice' })
  const query = { queries: [' herons ', 'owls'], max_results: 2 }
  const { status, body } = await call<{ results: { url: string }[] }>('POST', '/web-search/search-lite', query, key)
  expect(status).toBe(200)
  expect(body.results.map(({ url }) => url)).toEqual([
    'https://herons.example/1',
    'https://herons.example/2',
    'https://owls.example/1',
    'https://owls.example/2',
  ])
  expect(body.results[0]).toEqual({
    type: 'web_search',
    document_citation_number: -1,
    unique_identifier_to_strip_away: 'https://herons.example/1',
    url: 'https://herons.example/1',
    title: 'herons 1',
    snippet: 'About herons.',
  })
  expect(queries.toSorted()).toEqual(['herons', 'owls'])
  for (const wrong of [{}, { queries: [] }, { queries: [' '] }, { queries: ['a'], max_results: 0 }])
    expect((await call('POST', '/web-search/search-lite', wrong, key)).status).toBe(422)
  const narrow = await inlay.keys.create({ scopes: ['ingest'] })
  expect((await call('POST', '/web-search/search-lite', query, narrow.key)).status).toBe(403)
})

test('clients are told the search service by a name that they know', async () => {
  const providerOf = async (webSearch: NonNullable<InlayOptions['webSearch']>): Promise<unknown> => {
    const { call } = await newInstallation({ webSearch })
    const { body } = await call('POST', '/web-search/search-lite', { queries: ['herons'] })
    return (body as { provider_type: unknown }).provider_type
  }
  const brave = createServer((_, response) => response.end('{"web":{"results":[]}}')).listen(0, '127.0.0.1')
  onTestFinished(() => void brave.close())
  await once(brave, 'listening')
  const { port } = brave.address() as AddressInfo
  expect(await providerOf(async () => [])).toBe('searxng')
  expect(await providerOf({ service: 'brave', apiKey: 'k', baseUrl: `http://127.0.0.1:${port}` })).toBe('brave')
})

test('what a service does not know is no missing page of ours', async () => {
  const { call } = await newInstallation({
    imageGenerator: async () => {
      throw new InlayError('NOT_FOUND', { message: 'The image service does not know this model.' })
    },
  })
  expect(await call('POST', '/image-generation/generate', { prompt: 'A heron' })).toMatchObject({
    status: 502,
    body: { detail: 'The image service does not know this model.' },
  })
})

test('a search service that fails is told as that', async () => {
  const { call } = await newInstallation({
    webSearch: async () => {
      throw new InlayError('BAD_GATEWAY', { message: 'The search service does not answer.' })
    },
  })
  expect(await call('POST', '/web-search/search-lite', { queries: ['herons'] })).toMatchObject({
    status: 502,
    body: { detail: 'The search service does not answer.' },
  })
})

test('pages are opened by the one reader: public and opened hosts alone, and what fails says why', async () => {
  const site = await startSite({ '/herons': { body: '<p>Herons are counted in May.</p>' } })
  onTestFinished(() => site.close())
  const { call } = await newInstallation({ egress: { allowHosts: [site.host] } })
  const page = `${site.origin}/herons`
  const inner = 'http://169.254.169.254/latest/meta-data'
  const { status, body } = await call('POST', '/web-search/open-urls', { urls: [page, inner] })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    results: [{ type: 'open_url', unique_identifier_to_strip_away: page, content: 'Herons are counted in May.' }],
    not_read: [{ url: inner, reason: expect.stringMatching(/\w/) }],
  })
})

test('own documents are opened from the index', async () => {
  const { call } = await newInstallation()
  const link = 'https://wiki.example/herons'
  const document = {
    id: 'd',
    semantic_identifier: 'Herons',
    metadata: {},
    sections: [{ text: 'Herons are counted in May.', link }],
  }
  await call('POST', '/service-api/ingestion', { document })
  const { body } = await call<{ results: { content: string }[] }>('POST', '/web-search/open-urls', { urls: [link] })
  expect(body.results[0]?.content).toContain('Herons are counted in May.')
})

test('the configured generator makes as many pictures as are wanted, and nothing is stored', async () => {
  const requests: { prompt: string; shape: string; references: number }[] = []
  const { call } = await newInstallation({
    imageGenerator: async ({ prompt, shape, references }) => {
      requests.push({ prompt, shape, references: references.length })
      return [{ bytes: png, mediaType: 'image/png', revisedPrompt: `${prompt}, at dawn` }]
    },
  })
  const wanted = { prompt: 'A heron', shape: 'portrait', n: 2, reference_images: [{ data_base64: base64(png) }] }
  const image = { data_base64: base64(png), mime_type: 'image/png', revised_prompt: 'A heron, at dawn' }
  expect(await call('POST', '/image-generation/generate', wanted)).toEqual({
    status: 200,
    body: { images: [image, image] },
  })
  const request = { prompt: 'A heron', shape: 'portrait', references: 1 }
  expect(requests).toEqual([request, request])
  expect((await call('GET', '/user/projects/file')).body).toEqual([])
  for (const data of ['not base64!', base64(Uint8Array.from([1, 2, 3]))]) {
    const wrong = { prompt: 'A heron', reference_images: [{ data_base64: data }] }
    expect((await call('POST', '/image-generation/generate', wrong)).status).toBe(400)
  }
  for (const wrong of [{ prompt: ' ' }, { prompt: 'a', n: 5 }, { prompt: 'a', n: 0 }])
    expect((await call('POST', '/image-generation/generate', wrong)).status).toBe(422)
})

test('what is not set up is refused with the reason', async () => {
  const { call } = await newInstallation({ pageReader: null })
  const calls = [
    ['/web-search/search-lite', { queries: ['herons'] }],
    ['/web-search/open-urls', { urls: ['https://a.example'] }],
  ] as const
  for (const [path, body] of calls)
    expect(await call('POST', path, body)).toMatchObject({
      status: 403,
      body: { error_code: 'DEPLOYMENT_UNSUPPORTED', detail: expect.stringContaining('not configured') },
    })
  expect(await call('POST', '/image-generation/generate', { prompt: 'A heron' })).toMatchObject({
    status: 404,
    body: { error_code: 'NOT_FOUND', detail: expect.stringContaining('INLAY_IMAGE_MODEL') },
  })
})
