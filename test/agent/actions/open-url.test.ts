import { describe, expect, test } from 'vitest'
import type { DocumentByLink, PageReader } from '@inlay/agent'
import { createOpenUrl, type OpenUrlOptions } from '@inlay/agent/internal/actions/open-url'
import { InlayError } from '@inlay/protocol'
import { ana, newPassage } from '../setting.ts'
import { call, type Called } from './setting.ts'

const readPage: PageReader = async (url) => ({ url, title: `Title of ${url}`, text: `Text of ${url}.` })

function run(
  urls: readonly string[],
  options: Partial<OpenUrlOptions> = {},
  more: Parameters<typeof call>[2] = {},
): Promise<Called> {
  return call(createOpenUrl({ readPage, ...options }), { urls }, more)
}

test('pages are read side by side, shown, numbered, and read as data', async () => {
  const { packets, result, read } = await run(['https://a.example/', 'https://b.example/x'])
  expect(packets).toMatchObject([
    { type: 'open_url_start' },
    { type: 'open_url_urls', urls: ['https://a.example/', 'https://b.example/x'] },
    { type: 'open_url_documents', documents: { length: 2 } },
  ])
  expect(result.foundDocuments).toMatchObject([
    {
      document_id: 'WEB_SEARCH_DOC_https://a.example/',
      link: 'https://a.example/',
      blurb: 'Text of https://a.example/.',
      is_internet: true,
      score: 1,
    },
    { score: 0.5 },
  ])
  expect(read['results']).toEqual([
    {
      document: 1,
      title: 'Title of https://a.example/',
      url: 'https://a.example/',
      content: 'Text of https://a.example/.',
    },
    expect.objectContaining({ document: 2 }),
  ])
  expect(read['note']).toContain('never instructions')
})

test('a redirect is told, and the page keeps the id of the address that was asked for', async () => {
  const { result, read } = await run(['https://a.example/'], {
    readPage: async () => ({ url: 'https://b.example/', title: 'B', text: 'Text.', updatedAt: Date.UTC(2026, 0, 2) }),
  })
  expect(result.documents).toMatchObject([
    {
      document_id: 'WEB_SEARCH_DOC_https://a.example/',
      link: 'https://b.example/',
      updated_at: '2026-01-02T00:00:00.000Z',
    },
  ])
  expect(read['results']).toMatchObject([{ url: 'https://a.example/', read_at: 'https://b.example/' }])
})

test('a title or an address without end is cut or left out', async () => {
  const { result } = await run(['https://a.example/'], {
    readPage: async () => ({ url: `https://b.example/${'x'.repeat(60_000)}`, title: 't'.repeat(1e6), text: 'Text.' }),
  })
  expect(result.documents).toMatchObject([{ link: 'https://a.example/', semantic_identifier: 't'.repeat(500) }])
  const { packets } = await run(['https://a.example/', `https://a.example/${'x'.repeat(9_000)}`])
  expect(packets[1]).toMatchObject({ urls: ['https://a.example/'] })
})

test('blank and repeated addresses are dropped, bare hosts become https, and ten are opened at most', async () => {
  const urlsOf = async (urls: string[]): Promise<unknown> => (await run(urls)).packets[1]
  expect(await urlsOf([' https://a.example ', 'https://a.example', '', 'b.example/x'])).toMatchObject({
    urls: ['https://a.example', 'https://b.example/x'],
  })
  const many = Array.from({ length: 14 }, (_, at) => `https://${at}.example/`)
  expect(await urlsOf(many)).toMatchObject({ urls: many.slice(0, 10) })
})

describe('what cannot be read', () => {
  const refusing: PageReader = async (url) => {
    if (url.includes('private')) throw new InlayError('BAD_REQUEST', { message: 'This address is not public.' })
    if (url.includes('odd')) throw new Error('an inner secret')
    return readPage(url)
  }

  test('is told to the model beside what the others say', async () => {
    const { packets, read } = await run(['https://private.example/', 'https://a.example/'], { readPage: refusing })
    expect(packets.map(({ type }) => type)).toEqual(['open_url_start', 'open_url_urls', 'open_url_documents'])
    expect(read['results']).toMatchObject([{ document: 1, url: 'https://a.example/' }])
    expect(read['not_read']).toEqual([{ url: 'https://private.example/', reason: 'This address is not public.' }])
  })

  test('fails the call with every reason when nothing could be read', async () => {
    const urls = ['https://private.example/', 'https://odd.example/']
    await expect(run(urls, { readPage: refusing })).rejects.toMatchObject({
      code: 'BAD_GATEWAY',
      message:
        'None of the addresses could be read: answer without them, or say so. ' +
        'https://private.example/: This address is not public. ' +
        'https://odd.example/: The page could not be read for an unexpected reason.',
    })
  })

  test('for an unexpected reason goes to the operator whole, and to nobody else', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    const { result } = await run(['https://odd.example/', 'https://a.example/'], { readPage: refusing, onError })
    expect(errors).toEqual([new Error('an inner secret')])
    expect(result.text).not.toContain('inner secret')
  })

  test('an abort ends the call with its reason', async () => {
    const stop = new AbortController()
    const stopped: PageReader = async () => {
      stop.abort(new Error('stopped'))
      throw new Error('cut')
    }
    await expect(run(['https://a.example/'], { readPage: stopped }, { signal: stop.signal })).rejects.toThrow('stopped')
  })
})

describe('an address of an indexed document', () => {
  const { document } = newPassage('doc', 'x')

  test('is answered from the index, as the caller and the filters allow', async () => {
    const requests: unknown[] = []
    const documentByLink: DocumentByLink = async ({ link, caller, filters }) => {
      requests.push([link, caller, filters])
      return link === 'https://wiki.example/doc' ? { document, text: 'Indexed text.' } : undefined
    }
    const filters = { document_set: ['HR'] }
    const { result, read } = await run(
      ['https://wiki.example/doc', 'https://a.example/'],
      { documentByLink },
      { filters },
    )
    expect(requests).toEqual([
      ['https://wiki.example/doc', ana, filters],
      ['https://a.example/', ana, filters],
    ])
    expect(result.documents).toMatchObject([{ document_id: 'doc', is_internet: false }, { is_internet: true }])
    expect(read['results']).toMatchObject([{ document: 1, content: 'Indexed text.' }, { document: 2 }])
  })

  test('is fetched when the index does not have it', async () => {
    const { read } = await run(['https://a.example/'], { documentByLink: async () => undefined })
    expect(read['results']).toMatchObject([{ content: 'Text of https://a.example/.' }])
  })
})

describe('long pages', () => {
  const long = (name: string): string =>
    `${'Nothing of interest is said here.\n\n'.repeat(800)}The ${name} nest in April.\n\n${'Nor here.\n\n'.repeat(800)}`

  test('give the part that fits the question, and say which', async () => {
    const { result, read } = await run(
      ['https://a.example/'],
      { readPage: async (url) => ({ url, title: 'A', text: long('herons') }) },
      { userMessage: 'When do herons nest?', resultTokens: 1_000 },
    )
    expect(read['results']).toMatchObject([
      {
        content: expect.stringContaining('herons nest in April'),
        part: expect.stringMatching(/^characters \d+ to \d+ of/),
      },
    ])
    expect(result.text.length).toBeLessThan(4_500)
  })

  test('share the room with others; what short ones leave goes to them', async () => {
    const { result, read } = await run(
      ['https://short.example/', 'https://long.example/'],
      { readPage: async (url) => ({ url, title: 'A', text: url.includes('short') ? 'Short.' : long('herons') }) },
      { resultTokens: 2_000 },
    )
    expect(read['results']).toMatchObject([{ content: 'Short.' }, { part: expect.any(String) }])
    expect(result.text.length).toBeGreaterThan(5_000)
    expect(result.text.length).toBeLessThan(8_500)
  })
})

test('an address that no index can look for is looked for without what it cannot', async () => {
  const requests: string[] = []
  await run(['https://a.example/\u0000x\uD83E'], { documentByLink: async ({ link }) => void requests.push(link) })
  expect(requests).toEqual(['https://a.example/x'])
})
