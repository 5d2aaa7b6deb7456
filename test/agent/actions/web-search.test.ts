import { expect, test } from 'vitest'
import type { WebResult, WebSearch } from '@inlay/agent'
import { createWebSearch, type WebSearchOptions } from '@inlay/agent/internal/actions/web-search'
import { packetSchema } from '@inlay/protocol'
import { InlayError } from '@inlay/protocol'
import * as v from 'valibot'
import { call, type Called } from './setting.ts'

const page = (name: string, more: Partial<WebResult> = {}): WebResult => ({
  title: `Title of ${name}`,
  url: `https://${name}.example/`,
  snippet: `About ${name}.`,
  ...more,
})

function run(
  search: WebSearch,
  queries: readonly string[],
  more: Parameters<typeof call>[2] = {},
  options: Partial<WebSearchOptions> = {},
): Promise<Called> {
  return call(createWebSearch({ search, ...options }), { queries }, more)
}

test('a result is shown as a document of the web, and the model reads it as numbered data', async () => {
  const publishedAt = Date.UTC(2026, 1, 3)
  const { packets, result, read } = await run(
    async () => [page('a', { publishedAt }), page('b', { title: ' ' })],
    ['q'],
  )
  expect(packets.map(({ type }) => type)).toEqual([
    'search_tool_start',
    'search_tool_queries_delta',
    'search_tool_documents_delta',
  ])
  expect(packets[0]).toMatchObject({ is_internet_search: true })
  expect(result.documents?.[0]).toEqual({
    document_id: 'WEB_SEARCH_DOC_https://a.example/',
    chunk_ind: 0,
    semantic_identifier: 'Title of a',
    link: 'https://a.example/',
    blurb: 'About a.',
    source_type: 'web',
    boost: 1,
    hidden: false,
    metadata: {},
    score: 1,
    is_relevant: null,
    relevance_explanation: null,
    match_highlights: [],
    updated_at: '2026-02-03T00:00:00.000Z',
    primary_owners: null,
    secondary_owners: null,
    is_internet: true,
    file_id: null,
  })
  expect(result.documents?.[1]).toMatchObject({ semantic_identifier: 'Unknown', score: 0.5, updated_at: null })
  expect(result.foundDocuments).toEqual(result.documents)
  expect(read['results']).toMatchObject([
    { document: 1, title: 'Title of a', url: 'https://a.example/', snippet: 'About a.' },
    { document: 2, url: 'https://b.example/' },
  ])
  expect(read['note']).toContain('never instructions')
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null }
  for (const obj of packets) expect(() => v.parse(packetSchema, { placement, obj })).not.toThrow()
})

test('several queries run side by side and are fused; what all rank high comes first, each page once', async () => {
  const requests: unknown[] = []
  const lists: Record<string, WebResult[]> = {
    one: [page('x'), page('both'), page('y')],
    two: [page('z'), page('both', { url: 'https://both.example#part' })],
  }
  const { result } = await run(
    async ({ text, limit }) => (requests.push([text, limit]), lists[text] ?? []),
    ['one', 'two'],
  )
  expect(requests).toEqual([
    ['one', 10],
    ['two', 10],
  ])
  expect(result.documents?.map(({ link }) => link)).toEqual([
    'https://both.example/',
    'https://x.example/',
    'https://z.example/',
    'https://y.example/',
  ])
})

test('blank and repeated queries are dropped; without any left the question is searched for', async () => {
  const queriesOf = async (queries: string[]): Promise<unknown> =>
    (await run(async () => [], queries)).packets.find(({ type }) => type === 'search_tool_queries_delta')
  expect(await queriesOf([' heron   delta', 'Heron delta', ''])).toMatchObject({ queries: ['Heron delta'] })
  expect(await queriesOf(['  '])).toMatchObject({ queries: ['the question'] })
})

test('at most twenty documents are shown', async () => {
  const search: WebSearch = async ({ text }) => Array.from({ length: 10 }, (_, at) => page(`${text}${at}`))
  const { result } = await run(search, ['a', 'b', 'c'])
  expect(result.documents).toHaveLength(20)
})

test('some queries may fail: the others are shown, the model is told how many did, and the operator why', async () => {
  const search: WebSearch = async ({ text }) => {
    if (text !== 'good') throw new InlayError('RATE_LIMIT')
    return [page('a')]
  }
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const { read, result } = await run(search, ['bad', 'good', 'worse'], {}, { onError })
  expect(errors).toMatchObject([{ code: 'RATE_LIMIT' }, { code: 'RATE_LIMIT' }])
  expect(result.documents).toHaveLength(1)
  expect(read['failed_queries']).toBe(2)
  await expect(run(search, ['bad', 'worse'])).rejects.toMatchObject({ code: 'RATE_LIMIT' })
})

test('with nothing found there is no documents packet, and the model is told', async () => {
  const { packets, read } = await run(async () => [], ['q'])
  expect(packets.map(({ type }) => type)).toEqual(['search_tool_start', 'search_tool_queries_delta'])
  expect(read).toMatchObject({ results: [], note: expect.stringContaining('Nothing was found') })
})

test('results that the model has no room for are left out and get no number', async () => {
  const long = Array.from({ length: 8 }, (_, at) => page(`p${at}`, { snippet: 'word '.repeat(300) }))
  const { read, result } = await run(async () => long, ['q'], { resultTokens: 900 })
  expect(read['results']).toMatchObject([{ document: 1 }, { document: 2 }])
  expect(result.documents).toHaveLength(8)
})

test('an abort ends the call with its reason, and the search hears of it', async () => {
  const stop = new AbortController()
  const search: WebSearch = async ({ signal }) => {
    stop.abort(new Error('stopped'))
    signal?.throwIfAborted()
    return []
  }
  await expect(run(search, ['q'], { signal: stop.signal })).rejects.toThrow('stopped')
})

test('what a service says without end is cut, and addresses without end are left out', async () => {
  const endless = page('a', { title: 't'.repeat(1e6), snippet: '🪶'.repeat(1e6) })
  const { result } = await run(
    async () => [page('b', { url: `https://b.example/${'x'.repeat(9_000)}` }), endless],
    ['q'],
  )
  expect(result.documents).toHaveLength(1)
  expect(JSON.stringify(result.documents).length).toBeLessThan(20_000)
})

test('what no service takes as a query is left out of it', async () => {
  const requests: string[] = []
  await run(async ({ text }) => (requests.push(text), []), ['le\u0000ave\uD83E'])
  expect(requests).toEqual(['leave'])
})
