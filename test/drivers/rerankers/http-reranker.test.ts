import { httpReranker, type HttpRerankerOptions } from '@inlay/drivers/http-reranker'
import type { Reranker } from '@inlay/knowledge'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { makeKnowledge, request } from '../../knowledge/setup.ts'
import { startRerank, type RerankMishap, type RerankStandIn } from '../../stand-in/rerank.ts'

const apiKey = 'rk-very-secret-0123456789'
const protocols = ['cohere', 'jina', 'tei'] as const
let server: RerankStandIn
let delays: number[]

beforeEach(async () => {
  server = await startRerank({ apiKey })
  delays = []
})
afterEach(() => server.close())

function reranker(options: Partial<HttpRerankerOptions> = {}): Reranker {
  const { protocol = 'jina' } = options
  return httpReranker({
    protocol,
    baseUrl: server.baseUrls[protocol],
    apiKey,
    model: protocol === 'tei' ? undefined : 'stand-in',
    sleep: async (delayMs) => void delays.push(delayMs),
    ...options,
  })
}

function failing(...mishaps: RerankMishap[]): void {
  server.mishaps.push(...mishaps)
}

const texts = ['nothing', 'red', 'red herons', 'herons that are red and rare', '']

describe.each(protocols)('as %s speaks', (protocol) => {
  it('gives a score a text, in the order of the texts', async () => {
    expect(await reranker({ protocol }).rerank('rare red herons', texts)).toEqual([0, 1 / 3, 2 / 3, 1, 0])
    expect(server.seen[0]).toMatchObject({ authorization: `Bearer ${apiKey}`, body: { query: 'rare red herons' } })
  })

  it('asks for many in several requests', async () => {
    const many = Array.from({ length: 150 }, (_, at) => (at % 3 === 0 ? 'red' : 'blue'))
    const scores = await reranker({ protocol }).rerank('red', many)
    expect(scores).toEqual(many.map((text) => (text === 'red' ? 1 : 0)))
    expect(server.seen).toHaveLength(protocol === 'tei' ? 5 : 2)
    await reranker({ protocol, maxBatchSize: 10 }).rerank('red', many.slice(0, 25))
    expect(server.seen).toHaveLength(protocol === 'tei' ? 8 : 5)
  })

  it('asks nothing about nothing', async () => {
    expect(await reranker({ protocol }).rerank('x', [])).toEqual([])
    expect(server.seen).toEqual([])
  })
})

describe('a request', () => {
  it('has the form of its protocol and nothing else', async () => {
    for (const protocol of protocols) await reranker({ protocol }).rerank('q', ['a', 'b'])
    expect(server.seen.map(({ path, body }) => [path, body])).toEqual([
      ['/v2/rerank', { model: 'stand-in', query: 'q', documents: ['a', 'b'], top_n: 2 }],
      ['/v1/rerank', { model: 'stand-in', query: 'q', documents: ['a', 'b'], top_n: 2, return_documents: false }],
      ['/rerank', { query: 'q', texts: ['a', 'b'], truncate: true }],
    ])
  })

  it('keeps the query of the base URL and its own headers, and needs no key where none is given', async () => {
    const queries: string[] = []
    await reranker({
      baseUrl: `${server.baseUrls.jina}/?version=7`,
      headers: { 'x-team': 'search' },
      fetch: (input, init) => {
        queries.push(String(input), new Headers(init?.headers).get('x-team') ?? '')
        return fetch(input, init)
      },
    }).rerank('q', ['a'])
    expect(queries).toEqual([`${server.baseUrls.jina}/rerank?version=7`, 'search'])
    const open = await startRerank()
    await reranker({ baseUrl: open.baseUrls.jina, apiKey: undefined }).rerank('q', ['a'])
    expect(open.seen[0]?.authorization).toBeUndefined()
    await open.close()
  })
})

describe('a failure', () => {
  it('that may pass is tried once more', async () => {
    failing({ status: 503 })
    expect(await reranker().rerank('red', ['red'])).toEqual([1])
    failing({ cut: true }, { status: 500 })
    await expect(reranker().rerank('red', ['red'])).rejects.toMatchObject({ code: 'API_ERROR', retryable: true })
    expect(server.seen).toHaveLength(4)
  })

  it('that would need a long wait is not waited for', async () => {
    failing({ status: 429, headers: { 'retry-after': '5' } })
    await expect(reranker().rerank('red', ['red'])).rejects.toMatchObject({ code: 'RATE_LIMIT' })
    expect([server.seen.length, delays]).toEqual([1, []])
  })

  it('that will not pass is reported at once, without the key, the texts or the answer', async () => {
    const error = await reranker({ apiKey: 'rk-wrong' })
      .rerank('private question', ['private text'])
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'AUTH_ERROR', retryable: false })
    const { message, data } = error as Error & { data: unknown }
    expect(`${message} ${JSON.stringify(data)}`).not.toMatch(/rk-|private|invalid/)
    expect(server.seen).toHaveLength(1)
  })

  it('is a time-out when nothing comes, and the caller’s own when the caller goes', async () => {
    failing({ hangs: true })
    await expect(reranker({ attempts: 1, timeoutMs: 30 }).rerank('q', ['a'])).rejects.toMatchObject({
      code: 'GATEWAY_TIMEOUT',
    })
    const controller = new AbortController()
    failing({ hangs: true })
    const call = reranker().rerank('q', ['a'], controller.signal)
    await expect.poll(() => server.seen.length).toBe(2)
    controller.abort(new Error('gone'))
    await expect(call).rejects.toThrow('gone')
    await expect(reranker().rerank('q', ['a'], AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    expect(server.seen).toHaveLength(2)
  })

  test.each([
    ['no JSON', '<html>'],
    ['another shape', '{"answer":42}'],
    ['too few scores', '{"results":[{"index":0,"relevance_score":1}]}'],
    ['one text twice', '{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}'],
    ['a text that is not there', '{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":1}]}'],
    ['no number', '{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":null}]}'],
    ['null', 'null'],
  ])('is a reply with %s', async (_, body) => {
    failing({ body })
    await expect(reranker({ attempts: 1 }).rerank('q', ['a', 'b'])).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
  })

  test.each<Partial<HttpRerankerOptions>>([
    { model: undefined },
    { protocol: 'cohere', model: '' },
    { baseUrl: 'nonsense' },
    { baseUrl: 'file:///etc' },
    { baseUrl: 'https://me:secret@example.com' },
  ])('is an option that cannot work: %j', (options) => {
    expect(() => reranker(options)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  })
})

test('a search is ordered by the service, and by the index while the service is down', async () => {
  const { knowledge, errors } = await makeKnowledge({ reranker: reranker({ attempts: 1 }) })
  await knowledge.start()
  await knowledge.accept(request({ id: 'most', text: 'one two three' }))
  await knowledge.accept(request({ id: 'least', text: 'one' }))
  await knowledge.whenIdle()
  const search = async (): Promise<string[]> =>
    (await knowledge.search({ text: 'one two three', limit: 5 })).map(({ document }) => document.document_id)
  failing({
    body: '{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}]}',
  })
  expect(await search()).toEqual(['least', 'most'])
  failing({ status: 500 })
  expect(await search()).toEqual(['most', 'least'])
  expect(errors).toMatchObject([{ code: 'API_ERROR' }])
  expect(server.seen[0]!.body).toMatchObject({ query: 'one two three', top_n: 2 })
})
