import type { DocumentByLink } from '@inlay/agent'
import { describe, expect, onTestFinished, test } from 'vitest'
import { webSearchServices } from 'inlay/internal/options/tool-options'
import { toDocumentByLink, toFileUrl, webParts } from 'inlay/internal/parts/web-parts'
import { newDoc } from '../../agent/setting.ts'
import { startSearch } from '../../stand-in/web-search.ts'
import { startSite } from '../../stand-in/web-site.ts'

describe('a web search by name', () => {
  test.each(webSearchServices)('%s is asked with its key at its address', async (service) => {
    const pages = [{ title: 'A', url: 'https://a.example/', snippet: '' }]
    const standIn = await startSearch(service, { pages, mood: 'well' })
    onTestFinished(() => standIn.close())
    const parts = await webParts({ webSearch: { service, apiKey: 'sk-1', baseUrl: standIn.baseUrl } })
    expect(await parts.webSearch?.({ text: 'q', limit: 5 })).toHaveLength(1)
    expect(Object.values(standIn.seen[0]?.headers ?? {}).join()).toContain('sk-1')
    await parts.close()
  })

  test.each(webSearchServices)('%s says what it lacks', async (service) => {
    await expect(webParts({ webSearch: { service } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(service === 'searxng' ? 'address' : 'API key'),
    })
  })
})

test('nothing is there that was not asked for, but the reader of pages, which may be left out', async () => {
  const usual = await webParts({})
  expect([usual.webSearch, usual.imageGenerator, typeof usual.readPage]).toEqual([undefined, undefined, 'function'])
  expect((await webParts({ pageReader: null })).readPage).toBeUndefined()
  // Closing what nobody used loads nothing.
  await usual.close()
})

test('parts that are handed in are taken as they are', async () => {
  const [webSearch, pageReader, imageGenerator] = [
    async () => [],
    async () => ({ url: '', title: '', text: 'x' }),
    async () => [],
  ]
  const parts = await webParts({ webSearch, pageReader, imageGenerator })
  expect([parts.webSearch, parts.readPage, parts.imageGenerator]).toEqual([webSearch, pageReader, imageGenerator])
})

test('pages are read of the hosts that were named alone', async () => {
  const site = await startSite({ '/': { body: '<p>Inner page.</p>' } })
  onTestFinished(() => site.close())
  const open = await webParts({ egress: { allowHosts: [site.host] }, pageReader: { onlyHosts: ['docs.example'] } })
  onTestFinished(() => open.close())
  expect((await open.readPage?.(site.origin))?.text).toBe('Inner page.')
  await expect(open.readPage?.('https://evil.example/?leak=1')).rejects.toThrow('operator opened')
  await expect((await webParts({})).readPage?.(site.origin)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('a kept file is fetched below the base path', () => {
  expect([undefined, '/api', 'assistant/', '', '//a//b/'].map((base) => toFileUrl(base)('f'))).toEqual([
    '/api/chat/file/f',
    '/api/chat/file/f',
    '/assistant/chat/file/f',
    '/chat/file/f',
    '/a/b/chat/file/f',
  ])
})

test('documents are found by link as the knowledge finds them', async () => {
  const document = newDoc('d')
  const find: DocumentByLink = toDocumentByLink({
    byLink: async ({ link }) =>
      link === 'l' ? { document, content: 'Text.', headings: [], span: { first: 0, last: 0 } } : undefined,
  })
  const caller = { id: 'ana', scopes: ['chat'] } as const
  expect(await find({ link: 'l', caller })).toEqual({ document, text: 'Text.' })
  expect(await find({ link: 'other', caller })).toBeUndefined()
})
