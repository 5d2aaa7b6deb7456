import { describe, expect, it } from 'vitest'
import { createClient } from '@inlay/client'
import { type ChatFullResponse, fold } from '@inlay/protocol'
import { json, type Reply, service, type Service } from './service.ts'

function clientOf(...replies: Reply[]): { client: ReturnType<typeof createClient>; seen: Service['seen'] } {
  const { fetch, seen } = service(...replies)
  return { client: createClient({ baseUrl: '/api', apiKey: () => Promise.resolve('fresh'), fetch }), seen }
}

const document = { semantic_identifier: 'Rules', sections: [{ text: 'No flash.' }], metadata: {} }
const whole: ChatFullResponse = fold([{ user_message_id: 1, reserved_assistant_message_id: 2 }])

describe('a client', () => {
  it('asks for a whole answer', async () => {
    const { client, seen } = clientOf(() => json(whole))
    expect(await client.ask('Hello')).toEqual(whole)
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ message: 'Hello', stream: false })
  })

  it('asks for its key before every request', async () => {
    const { client, seen } = clientOf(() => json({ message: 'stopped' }))
    await client.stop('a/b')
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/api/chat/stop-chat-session/a%2Fb' })
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer fresh')
  })

  it('lets fetch know of an abort right after the call', async () => {
    const controller = new AbortController()
    const aborted: unknown[] = []
    const fetch = async (_: string, { signal }: RequestInit): Promise<Response> => {
      aborted.push(signal?.aborted)
      return json(whole)
    }
    const sent = createClient({ baseUrl: '/api', apiKey: 'plain', fetch }).ask('Hello', { signal: controller.signal })
    controller.abort()
    await sent
    expect(aborted).toEqual([true])
  })

  it('sends no key when it has none', async () => {
    const { fetch, seen } = service(() => json({ results: [] }))
    await createClient({ baseUrl: '/api', fetch }).search('a')
    expect(seen[0]?.headers.has('authorization')).toBe(false)
  })

  it('ingests, waiting if asked', async () => {
    const accepted = { document_id: 'd', already_existed: false }
    const { client, seen } = clientOf(
      () => json(accepted),
      () => json(accepted),
    )
    expect(await client.ingest(document)).toEqual(accepted)
    await client.ingest(document, { ccPairId: 4, waitSeconds: 5 })
    expect(seen.map((each) => [each.path, JSON.parse(each.body), each.headers.get('prefer')])).toEqual([
      ['/api/service-api/ingestion', { document, cc_pair_id: null }, null],
      ['/api/service-api/ingestion', { document, cc_pair_id: 4 }, 'wait=5'],
    ])
  })

  it('ingests many in as few requests as fit, numbered through', async () => {
    const answers: Reply = (request) => {
      const lines = request.body.trim().split('\n')
      const prompt = lines.map((_, at) =>
        JSON.stringify({ line: at + 1, status: 200, document_id: 'd', already_existed: false }),
      )
      return new Response(`${prompt.join('\n')}\n`)
    }
    const { client, seen } = clientOf(answers, answers, answers)
    const reports = []
    for await (const line of client.ingestBatch(Array(5).fill(document), { requestCharacters: 250, ccPairId: 2 }))
      reports.push(line.line)
    expect(reports).toEqual([1, 2, 3, 4, 5])
    expect(seen.map((each) => each.body.trim().split('\n').length)).toEqual([2, 2, 1])
    expect(JSON.parse(seen[2]?.body ?? '')).toEqual({ document, cc_pair_id: 2 })
  })

  it('tells a faulty document of a batch in its place', async () => {
    const { client } = clientOf(
      () =>
        new Response(
          '{"line":1,"status":422,"detail":[{"loc":["body"],"msg":"m","type":"missing"}]}\n{"line":2,"status":200,"document_id":"d","already_existed":true}',
        ),
    )
    const reports = []
    for await (const line of client.ingestBatch([document, document])) reports.push(line)
    expect(reports).toEqual([
      { line: 1, status: 422, detail: [{ loc: ['body'], msg: 'm', type: 'missing' }] },
      { line: 2, status: 200, document_id: 'd', already_existed: true },
    ])
  })

  it('throws for a batch what other calls throw, also once it has begun', async () => {
    const first = new TextEncoder().encode('{"line":1,"status":200,"document_id":"d","already_existed":true}\n')
    const broken = new ReadableStream<Uint8Array>(
      {
        pull: (controller) =>
          sent++ === 0 ? controller.enqueue(first) : controller.error(new TypeError('terminated')),
      },
      { highWaterMark: 0 },
    )
    let sent = 0
    const { client } = clientOf(
      () => new Response('<html>A proxy</html>'),
      () => new Response(broken),
    )
    const all = async (): Promise<void> => {
      for await (const { status } of client.ingestBatch([document, document])) expect(status).toBe(200)
    }
    await expect(all()).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
    await expect(all()).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
  })

  it.each([
    ['breaks off', new TypeError('terminated'), { code: 'CONNECTION_ERROR' }],
    ['fails in the host', new Error('boom'), { code: 'CONNECTION_ERROR' }],
    ['is aborted', new DOMException('Left', 'AbortError'), { name: 'AbortError' }],
  ])('says so when an answer %s while it is read', async (_, error, thrown) => {
    const broken: Reply = () => new Response(new ReadableStream({ pull: (controller) => controller.error(error) }))
    const { client } = clientOf(broken, broken)
    await expect(client.search('a')).rejects.toMatchObject(thrown)
    await expect(client.tools()).rejects.toMatchObject(thrown)
  })

  it('asks where a document stands and takes it out, whatever its id', async () => {
    const state = {
      document_id: 'https://a.example/b c',
      state: 'indexed',
      reason: null,
      attempts: 1,
      next_try_at: null,
      accepted_at: '2026-01-01T00:00:00Z',
      indexed_at: null,
      chunk_count: 3,
      cc_pair_ids: [1],
    }
    const { client, seen } = clientOf(
      () => json(state),
      () => json(null),
    )
    expect(await client.documentState(state.document_id)).toEqual(state)
    await client.deleteDocument(state.document_id)
    const path = '/api/service-api/ingestion/https%3A%2F%2Fa.example%2Fb%20c'
    expect(seen.map((each) => [each.method, each.path])).toEqual([
      ['GET', path],
      ['DELETE', path],
    ])
  })

  it('changes metadata of a document, and tells when it was changed meanwhile', async () => {
    const conflict = { error_code: 'CONFLICT', detail: 'The document was changed meanwhile.' }
    const { client, seen } = clientOf(
      () => json({ document_id: 'a/b', already_existed: true }),
      () => json(conflict, { status: 409 }),
    )
    await client.changeMetadata('a/b', { team: ['red', 'blue'], draft: null })
    expect(seen[0]).toMatchObject({ method: 'PATCH', path: '/api/service-api/ingestion/a%2Fb' })
    expect(JSON.parse(seen[0]!.body)).toEqual({ metadata: { team: ['red', 'blue'], draft: null } })
    await expect(client.changeMetadata('a/b', {})).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The document was changed meanwhile.',
    })
  })

  it('sets the pairs of a document', async () => {
    const { client, seen } = clientOf(() => json({ document_id: 'a/b', already_existed: true }))
    await client.changePairs('a/b', [3, 4])
    expect(seen[0]).toMatchObject({ method: 'PATCH', path: '/api/service-api/ingestion/a%2Fb' })
    expect(JSON.parse(seen[0]!.body)).toEqual({ cc_pair_ids: [3, 4] })
  })

  it('lists documents page by page', async () => {
    const item = { document_id: 'd', semantic_id: 's', link: '', state: 'failed' }
    const { client, seen } = clientOf(
      () => json([item], { headers: { link: '</x>; rel="prev", <?limit=1&after=a%20b>; rel="next"' } }),
      () => json([]),
    )
    const page = await client.documents({ state: 'failed', ccPairId: 2, limit: 1 })
    expect(page).toEqual({ documents: [item], next: 'a b' })
    expect(await client.documents({ after: page.next ?? '' })).toEqual({ documents: [], next: null })
    expect(seen.map((each) => each.path)).toEqual([
      '/api/service-api/ingestion?state=failed&limit=1&cc_pair_id=2',
      '/api/service-api/ingestion?after=a+b',
    ])
  })

  it('searches', async () => {
    const results = [{ citation_id: 1, title: 't', content: 'c', link: null, source_type: 'web', updated_at: null }]
    const { client, seen } = clientOf(() => json({ results }))
    expect(await client.search({ query: 'a', sources: ['web'] })).toEqual({ results })
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ query: 'a', sources: ['web'] })
  })
})

describe('a failure', () => {
  const failure = async (reply: Reply): Promise<unknown> => {
    const { client } = clientOf(reply)
    return client.search('a').then(
      () => undefined,
      (error: unknown) => error,
    )
  }

  it('has the code, text and id the service told', async () => {
    const values = { error_code: 'INTERNAL_ERROR', detail: 'Something failed.', request_id: 'r1' }
    expect(await failure(() => json(values, { status: 500 }))).toMatchObject({
      code: 'INTERNAL_ERROR',
      message: 'Something failed.',
      data: { status: 500, requestId: 'r1' },
      retryable: true,
    })
  })

  it('of a wrong request has its issues', async () => {
    const detail = [{ loc: ['body', 'query'], msg: 'is required', type: 'missing' }]
    expect(await failure(() => json({ detail }, { status: 422 }))).toMatchObject({
      code: 'VALIDATION_FAILED',
      data: { issues: detail },
    })
  })

  it('tells when to try again', async () => {
    const reply = (): Response =>
      json({ error_code: 'RATE_LIMITED', detail: 'x' }, { status: 429, headers: { 'retry-after': '7' } })
    expect(await failure(reply)).toMatchObject({
      code: 'RATE_LIMITED',
      data: { retryAfterSeconds: 7 },
      retryable: true,
    })
  })

  it.each([
    [401, 'UNAUTHENTICATED'],
    [403, 'INSUFFICIENT_PERMISSIONS'],
    [404, 'NOT_FOUND'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [418, 'BAD_REQUEST'],
    [502, 'BAD_GATEWAY'],
    [507, 'INTERNAL_ERROR'],
  ])('of status %d without a body of ours is %s', async (status, code) => {
    expect(await failure(() => new Response('<html>', { status }))).toMatchObject({ code, data: { status } })
  })

  it('with a code of a newer service keeps it beside the nearest known', async () => {
    expect(await failure(() => json({ error_code: 'SEAT_TAKEN', detail: 'x' }, { status: 409 }))).toMatchObject({
      code: 'CONFLICT',
      data: { errorCode: 'SEAT_TAKEN' },
    })
  })

  it('of the network is no answer of the service', async () => {
    expect(await failure(() => 'unreachable')).toMatchObject({ code: 'CONNECTION_ERROR', cause: expect.any(TypeError) })
  })

  it('is an answer that is not what is documented', async () => {
    for (const reply of [(): Response => new Response('hello'), (): Response => json({ found: [] })])
      expect(await failure(reply)).toMatchObject({ code: 'BAD_GATEWAY' })
  })

  it('keeps the reason of an abort', async () => {
    const left = new AbortController()
    left.abort(new Error('left'))
    const { client } = clientOf(() => 'unreachable')
    await expect(client.search('a', { signal: left.signal })).rejects.toThrow('left')
  })
})
