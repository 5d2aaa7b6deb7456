import { syncBuiltinESMExports } from 'node:module'
import { promises as timers } from 'node:timers'
import { opensearchIndex } from '@inlay/drivers/opensearch'
import { createCluster } from '@inlay/drivers/internal/opensearch/transport'
import { createKnowledge, type IndexFilter } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { makeRecords } from '../../knowledge/setup.ts'
import { row } from '../lancedb/sample-rows.ts'

/** A clock that waits between two tries set forward, in milliseconds. */
const clock = { waited: 0, onWait: () => {} }

// Not by a mock of the module that waits: another file may have loaded it, and the driver with it, in this process.
beforeEach(() => {
  Object.assign(clock, { waited: 0, onWait: () => {} })
  const wait = vi.spyOn(timers, 'setTimeout').mockImplementation(async (delayMs = 0, value) => {
    clock.waited += delayMs
    clock.onWait()
    return value as never
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    wait.mockRestore()
    syncBuiltinESMExports()
  })
})

interface SentRequest {
  readonly method: string
  readonly url: URL
  readonly body: string
}

type Reply = readonly [status: number, body: unknown]

/** A cluster by its answers; what is not answered is an empty index without a space. */
function standIn(answer: (requests: SentRequest) => Reply | undefined | Promise<never>) {
  const requests: SentRequest[] = []
  const send: typeof fetch = async (input, init) => {
    const request = { method: init?.method ?? 'GET', url: new URL(String(input)), body: String(init?.body ?? '') }
    requests.push(request)
    const [status, body] = (await answer(request)) ?? usual(request)
    return new Response(JSON.stringify(body), { status })
  }
  return { requests, fetch: send }
}

function usual({ url }: SentRequest): Reply {
  if (url.pathname.endsWith('/_mapping')) return [200, { 'inlay-000001': { mappings: { _meta: { space: '' } } } }]
  return [200, {}]
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (isInlayError(error) ? error.code : String(error)),
  )

const bulks = (requests: readonly SentRequest[]): readonly SentRequest[] =>
  requests.filter(({ url }) => url.pathname === '/inlay/_bulk')

describe('an OpenSearch index', () => {
  test('passes over nodes that cannot be reached without a wait, each of them once', async () => {
    const down = new Set(['9201', '9203'])
    const { requests, fetch } = standIn(async ({ url }) => {
      if (down.has(url.port)) throw new TypeError('connection refused')
      return undefined as never
    })
    const nodes = ['http://search:9201', 'http://search:9202/', 'http://search:9203']
    const index = opensearchIndex({ nodes, fetch })
    await index.open()
    await index.append([row('a', 'The heron waits.')])
    expect(new Set(requests.slice(-2).map(({ url }) => url.port))).toEqual(new Set(['9202']))
    down.add('9202')
    requests.length = 0
    let beforeWait: string[] | undefined
    clock.onWait = () => void (beforeWait ??= requests.map(({ url }) => url.port))
    expect(await codeOf(index.search({ text: 'heron', limit: 3 }))).toBe('SERVICE_UNAVAILABLE')
    expect(beforeWait?.sort()).toEqual(['9201', '9202', '9203'])
  })

  test('writes in batches, sends again only what the cluster was too busy for, and shows all rows at once', async () => {
    let isBusy = true
    const { requests, fetch } = standIn(({ url, body }) => {
      if (url.pathname !== '/inlay/_bulk') return undefined
      const count = body.trim().split('\n').length / 2
      const items = Array.from({ length: count }, (_, at) => ({
        index: { status: isBusy && at % 2 === 1 ? 429 : 201 },
      }))
      const errors = isBusy && count > 1
      isBusy = false
      return [200, { errors, items }]
    })
    const index = opensearchIndex({ nodes: 'http://search:9200', fetch })
    await index.open()
    await index.append(Array.from({ length: 1_500 }, (_, n) => row(`d${n}`, `Row ${n}.`)))
    const sizes = bulks(requests).map(({ body }) => body.trim().split('\n').length / 2)
    expect(sizes).toEqual([1_000, 500, 500])
    expect(requests.filter(({ url }) => url.pathname === '/inlay/_refresh')).toHaveLength(1)
    expect(requests.at(-1)?.url.pathname).toBe('/inlay/_refresh')
  })

  test.each([
    ['what it holds', 400, 'mapper', 'The search cluster refused a request with status 400: mapper.', false],
    ['its role', 403, 'security_exception', expect.stringMatching(/lacks a permission.*INLAY_INDEX_URL/), true],
  ])(
    'refuses an append when the cluster refuses a row for %s, without its content in the message',
    async (_, status, type, message, retryable) => {
      const { fetch, requests } = standIn(({ url }) =>
        url.pathname === '/inlay/_bulk'
          ? [200, { errors: true, items: [{ index: { status, error: { type, reason: 'secret heron' } } }] }]
          : undefined,
      )
      const index = opensearchIndex({ nodes: 'http://search:9200', fetch })
      await index.open()
      const error = await index.append([row('a', 'secret heron')]).catch((thrown: Error) => thrown)
      expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message, retryable })
      expect(bulks(requests)).toHaveLength(1)
    },
  )

  test('a document waits while the role lacks a right, which is not asked for again at once', async () => {
    const { fetch, requests } = standIn(({ url }) =>
      url.pathname === '/inlay/_refresh' ? [403, { error: { type: 'security_exception' } }] : undefined,
    )
    const index = opensearchIndex({ nodes: 'http://search:9200', fetch })
    await index.open()
    await expect(index.append([row('a', 'heron')])).rejects.toMatchObject({ retryable: true })
    expect(requests.filter(({ url }) => url.pathname === '/inlay/_refresh')).toHaveLength(1)
  })

  test('folds many segments into few when idle, leaves the largest alone, and lets searches see it', async () => {
    const giga = 2 ** 30
    for (const { segments, bytes, merges } of [
      { segments: 24, bytes: 3 * giga, merges: [] },
      { segments: 60, bytes: 3 * giga, merges: ['?max_num_segments=8'] },
      { segments: 60, bytes: 60 * giga, merges: ['?max_num_segments=12'] },
      { segments: 33, bytes: 60 * giga, merges: [] },
    ]) {
      const all = { docs: { count: 9, deleted: 0 }, store: { size_in_bytes: bytes }, segments: { count: segments } }
      const { requests, fetch } = standIn(({ url }) =>
        url.pathname.includes('_stats')
          ? [200, { _shards: { successful: 3 }, _all: { primaries: all, total: all } }]
          : undefined,
      )
      const index = opensearchIndex({ nodes: ['http://search:9200'], fetch })
      await index.open()
      await index.maintain()
      expect(requests.some(({ url }) => url.pathname.endsWith('/_forcemerge'))).toBe(false)
      await index.maintain({ idle: true })
      const forced = requests.filter(({ url }) => url.pathname.endsWith('/_forcemerge'))
      expect(forced.map(({ url }) => url.search)).toEqual(merges)
      expect(requests.at(-1)!.url.pathname).toBe('/inlay/_refresh')
      expect(await index.figures()).toEqual({ rows: 9, unindexedRows: 0, bytes })
    }
  })

  test('leaves a merge to the cluster after some minutes, and when the host closes', async () => {
    const isMinutes = (ms: number): boolean => ms > 60_000 && ms < 300_000
    onTestFinished(() => void vi.restoreAllMocks())
    const all = { docs: { count: 9, deleted: 3 }, store: { size_in_bytes: 9 }, segments: { count: 60 } }
    for (const which of [0, 1]) {
      const [minutes, closing] = [new AbortController(), new AbortController()]
      const ended = [minutes, closing][which]!
      vi.spyOn(AbortSignal, 'timeout').mockImplementation(
        (ms) => (isMinutes(ms) ? minutes : new AbortController()).signal,
      )
      const { requests, fetch } = standIn(({ url }) => {
        if (url.pathname.endsWith('/_stats/docs,store,segments'))
          return [200, { _shards: { successful: 1 }, _all: { primaries: all, total: all } }]
        if (!url.pathname.endsWith('/_forcemerge')) return undefined
        ended.abort()
        return Promise.reject(new DOMException('It was ended.', 'AbortError'))
      })
      const index = opensearchIndex({ nodes: ['http://search:9200', 'http://search:9201'], fetch })
      await index.open()
      const { rows, upkeepDueMs } = await index.maintain({ idle: true, signal: closing.signal })
      expect(rows).toBe(9)
      expect(upkeepDueMs).toBeGreaterThan(0)
      expect(requests.filter(({ url }) => url.pathname.endsWith('/_forcemerge'))).toHaveLength(1)
    }
  })

  test('sends vectors in as few digits as keep every bit', async () => {
    const { requests, fetch } = standIn(({ url }) =>
      url.pathname.endsWith('/_mapping')
        ? [200, { 'inlay-000001': { mappings: { _meta: { space: 'four@1 4' } } } }]
        : undefined,
    )
    const index = opensearchIndex({ nodes: ['http://search:9200'], fetch })
    const vector = Float32Array.of(0.1, -1 / 3, 1e-7, 0.123456789)
    await index.open({ id: 'four@1', dimensions: 4 })
    await index.append([{ ...row('a', 'The heron waits.'), vector }])
    const line = bulks(requests)[0]!.body.split('\n')[1]!
    expect(Float32Array.from(JSON.parse(line).vector)).toEqual(vector)
    expect(line).not.toMatch(/\d{11}/)
  })

  test('says that the k-NN plugin is missing', async () => {
    const { fetch } = standIn(({ method, url }) => {
      if (method === 'PUT') return [400, { error: { type: 'mapper_parsing_exception' } }]
      return url.pathname === '/inlay' ? [404, {}] : undefined
    })
    const index = opensearchIndex({ nodes: 'http://search:9200', fetch })
    expect(await codeOf(index.open({ id: 'some/model@8', dimensions: 8 }))).toBe('UNSUPPORTED')
  })

  test('adds words spelt alike only for words that no part of the index holds', async () => {
    const searched: string[] = []
    const { fetch } = standIn(({ url, body }) => {
      if (url.pathname !== '/inlay/_msearch') return undefined
      searched.push(body)
      const option = (text: string) => ({ text, options: [{ text: `${text}e`, score: 0.8 }] })
      const suggest = { spelling: [option('hern'), option('rivr')] }
      const total = (value: number) => ({ hits: { total: { value }, hits: [] } })
      if (searched.length === 1) return [200, { responses: [{ ...total(0), suggest }] }]
      return [200, { responses: [total(1), total(0)] }]
    })
    const index = opensearchIndex({ nodes: 'http://search:9200', fetch })
    await index.open()
    await index.search({ text: 'hern rivr', limit: 3 })
    expect(searched).toHaveLength(3)
    expect(searched[2]).toContain('rivre')
    expect(searched[2]).not.toContain('herne')
  })

  test('compares all vectors that a narrow filter lets through, and weighs words alone over all parts', async () => {
    const counted: string[] = []
    const searched: { readonly query?: { readonly knn?: { readonly vector: unknown } } }[] = []
    let passing = 3_600
    const { fetch } = standIn(({ url, body }) => {
      if (url.pathname.endsWith('/_mapping'))
        return [200, { 'inlay-000001': { mappings: { _meta: { space: 'two@1 2' } } } }]
      if (url.pathname === '/inlay/_search') {
        counted.push(body)
        return [200, { _shards: { total: 3 }, hits: { total: { value: passing }, hits: [] } }]
      }
      if (url.pathname !== '/inlay/_msearch') return undefined
      const lines = body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      searched.push(...lines)
      return [200, { responses: lines.filter((_, at) => at % 2 === 1).map(() => ({ hits: { hits: [] } })) }]
    })
    const index = opensearchIndex({ nodes: ['http://search:9200'], fetch })
    await index.open({ id: 'two@1', dimensions: 2 })
    const search = async (filter?: IndexFilter): Promise<unknown> => {
      searched.length = 0
      await index.search({ text: 'heron', vector: Float32Array.of(1, 0), limit: 3, ...(filter && { filter }) })
      const [wordsHeader, , vectorHeader, near] = searched
      expect(wordsHeader).toEqual({ search_type: 'dfs_query_then_fetch' })
      expect(vectorHeader).toEqual({})
      return near?.query?.knn?.vector
    }
    expect(await search()).toMatchObject({ k: 100 })
    expect(counted).toEqual([])
    const filter = { bool: { filter: [{ terms: { pairs: [7] } }] } }
    expect(await search({ pairs: [7] })).toMatchObject({ k: 120, filter })
    expect(await search({ pairs: [7] })).toMatchObject({ k: 120, filter })
    expect(counted.map((body) => JSON.parse(body).query)).toEqual([filter])
    passing = 60_003
    expect(await search({ pairs: [8] })).toMatchObject({ k: 100 })
  })

  test('a search that is aborted does not end another one with the same filter', async () => {
    const { promise: counted, resolve: count } = Promise.withResolvers<Response>()
    const { requests, fetch: send } = standIn(({ url }) => {
      if (url.pathname.endsWith('/_mapping'))
        return [200, { 'inlay-000001': { mappings: { _meta: { space: 'two@1 2' } } } }]
      return [200, { responses: [{ hits: { hits: [] } }] }]
    })
    const counting: string[] = []
    const index = opensearchIndex({
      nodes: ['http://search:9200'],
      fetch: (input, init) => {
        const { pathname } = new URL(String(input))
        if (pathname !== '/inlay/_search') return send(input, init)
        counting.push(pathname)
        const aborted = new Promise<never>((_, reject) =>
          init?.signal?.addEventListener('abort', () => reject(init.signal!.reason)),
        )
        return Promise.race([counted, aborted])
      },
    })
    await index.open({ id: 'two@1', dimensions: 2 })
    const query = { vector: Float32Array.of(1, 0), limit: 3, filter: { pairs: [7] } }
    const leaving = new AbortController()
    const left = index.search({ ...query, signal: leaving.signal })
    const other = index.search({ ...query, signal: new AbortController().signal })
    await expect.poll(() => counting.length).toBe(1)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    count(Response.json({ _shards: { total: 1 }, hits: { total: { value: 5 }, hits: [] } }))
    expect(await other).toEqual([])
    expect(requests.filter(({ url }) => url.pathname === '/inlay/_msearch')).toHaveLength(1)
  })

  test.each(['https://mé:50%25off@search:9200', 'https://mé:50%off@search:9200/'])(
    'sends the name and password that the address %s holds',
    async (nodes) => {
      const sent: string[] = []
      const send: typeof fetch = async (input, init) => {
        sent.push(`${input} ${new Headers(init?.headers).get('authorization')}`)
        return Response.json({ 'inlay-000001': { mappings: { _meta: { space: '' } } } })
      }
      await opensearchIndex({ nodes, fetch: send }).open()
      const authorization = `Basic ${Buffer.from('mé:50%off').toString('base64')}`
      expect(sent[0]).toMatch(/^https:\/\/search:9200\/[^:@]* /)
      expect(new Set(sent.map((line) => line.slice(line.indexOf(' ') + 1)))).toEqual(new Set([authorization]))
    },
  )

  test.each(['ftp://search', 'search:9200', ''])('refuses the address "%s"', (nodes) => {
    expect(() => opensearchIndex({ nodes })).toThrow('http://localhost:9200')
  })

  test.each(['Inlay', '_inlay', 'a/b', ''])('refuses the prefix "%s"', (prefix) => {
    expect(() => opensearchIndex({ nodes: 'http://search:9200', prefix })).toThrow('prefix')
  })
})

/** A cluster whose nodes refuse connections once it is down. */
function cluster() {
  let identity: unknown
  const state = { isDown: false }
  const send: typeof fetch = async (input, init) => {
    if (state.isDown) throw new TypeError('connection refused')
    const { pathname } = new URL(String(input))
    if (init?.method === 'PUT') identity = JSON.parse(String(init.body))._meta?.identity
    const mapping = { 'inlay-000001': { mappings: { _meta: { space: '', identity } } } }
    return Response.json(pathname.endsWith('/_mapping') ? mapping : { responses: [{ hits: { hits: [] } }] })
  }
  const nodes = ['http://search-1:9200', 'http://search-2:9200']
  return { state, index: opensearchIndex({ nodes, fetch: send }) }
}

describe('an outage', () => {
  test('tells a person within two seconds that no node can be reached, in a process that has searched or not', async () => {
    for (const hasSearched of [true, false]) {
      const { state, index } = cluster()
      const knowledge = createKnowledge({ db: await makeRecords(), index, onError: () => {} })
      onTestFinished(() => knowledge.close())
      if (hasSearched) expect(await knowledge.search({ text: 'heron' })).toEqual([])
      state.isDown = true
      clock.waited = 0
      await expect(knowledge.search({ text: 'heron' })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      expect(clock.waited).toBeGreaterThan(0)
      expect(clock.waited).toBeLessThan(2_000)
    }
  })

  test('goes on from a node that says nothing, and waits for one that is only slow', async () => {
    // The time until a node is looked after.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    let isSlow = false
    const { requests, fetch: send } = standIn(() => undefined)
    const { promise: slowAnswer, resolve: answer } = Promise.withResolvers<Response>()
    const cluster = createCluster({
      nodes: ['http://first:9200', 'http://second:9200'],
      fetch: (input, init) => {
        const { hostname, pathname } = new URL(String(input))
        if (isSlow && pathname === '/slow') return slowAnswer
        // A proxy before it leads from the root to elsewhere.
        if (isSlow && init!.redirect === 'error') return Promise.reject(new TypeError('unexpected redirect'))
        if (isSlow || hostname === answering) return send(input, init)
        if (answering === '') answering = hostname === 'first' ? 'second' : 'first'
        return new Promise((_, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason)))
      },
    })
    let answering = ''
    const reply = cluster({ method: 'GET', path: '/search' })
    await expect.poll(() => (vi.advanceTimersByTime(5_000), requests.length)).toBe(1)
    expect((await reply).status).toBe(200)
    expect(requests[0]!.url.hostname).toBe(answering)
    isSlow = true
    const slow = cluster({ method: 'GET', path: '/slow' })
    await expect.poll(() => (vi.advanceTimersByTime(5_000), requests.length)).toBeGreaterThan(3)
    expect(new Set(requests.slice(1).map(({ url }) => url.pathname))).toEqual(new Set(['/']))
    answer(new Response('{}'))
    expect((await slow).status).toBe(200)
  })

  test('writes rows once a node answers again, for longer than a person would wait', async () => {
    const { state, index } = cluster()
    await index.open()
    state.isDown = true
    clock.waited = 0
    clock.onWait = () => {
      state.isDown = clock.waited < 2_500
    }
    await index.append([row('a', 'The heron waits.')])
    expect(clock.waited).toBeGreaterThan(2_500)
  })
})
