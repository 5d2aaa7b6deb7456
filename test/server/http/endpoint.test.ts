import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { InlayError, parseWith, rateLimitedBodySchema } from '@inlay/protocol'
import { aDocument, apiBase, setup, unknownSessionId } from '../fakes.ts'

const chat = '/chat/send-chat-message'
const ingestion = '/service-api/ingestion'

/** Status and body of each faulty request, and that nothing of it reached a part. */
const faulty: [
  name: string,
  path: string,
  init: Parameters<ReturnType<typeof setup>['ask']>[1],
  status: number,
  body: object,
][] = [
  ['missing message', chat, { json: {} }, 422, { detail: [{ loc: ['body', 'message'], type: 'missing' }] }],
  [
    'message of a wrong type',
    chat,
    { json: { message: 7 } },
    422,
    { detail: [{ loc: ['body', 'message'], type: 'string_type' }] },
  ],
  [
    'tool ids of a wrong type',
    chat,
    { json: { message: 'x', allowed_tool_ids: ['one'] } },
    422,
    { detail: [{ loc: ['body', 'allowed_tool_ids', '0'], type: 'int_parsing' }] },
  ],
  [
    'unknown origin',
    chat,
    { json: { message: 'x', origin: 'moon' } },
    422,
    { detail: [{ loc: ['body', 'origin'], type: 'enum' }] },
  ],
  [
    'session id that is no uuid',
    chat,
    { json: { message: 'x', chat_session_id: 'abc' } },
    422,
    { detail: [{ loc: ['body', 'chat_session_id'], type: 'uuid_parsing' }] },
  ],
  ['malformed JSON', chat, { body: '{"message": ' }, 422, { detail: [{ loc: ['body'], type: 'json_invalid' }] }],
  ['an empty body', chat, { body: '' }, 422, { detail: [{ loc: ['body'], type: 'missing' }] }],
  ['a list for an object', chat, { json: ['x'] }, 422, { detail: [{ loc: ['body'], type: 'model_attributes_type' }] }],
  [
    'bytes that are not UTF-8',
    chat,
    { body: new Uint8Array([0x22, 0xff, 0x22]) },
    422,
    { detail: [{ loc: ['body'], type: 'json_invalid' }] },
  ],
  [
    'unknown session',
    chat,
    { json: { message: 'x', chat_session_id: unknownSessionId } },
    404,
    { error_code: 'SESSION_NOT_FOUND' },
  ],
  ['no key', chat, { key: null, json: { message: 'x' } }, 401, { error_code: 'UNAUTHENTICATED' }],
  ['wrong key', chat, { key: 'nobodys', json: { message: 'x' } }, 401, { error_code: 'INVALID_TOKEN' }],
  [
    'an empty key, as of a variable that is not set',
    chat,
    { key: null, headers: { authorization: 'Bearer ' }, json: { message: 'x' } },
    401,
    { error_code: 'UNAUTHENTICATED' },
  ],
  ['no key and a wrong body', chat, { key: null, json: {} }, 401, { error_code: 'UNAUTHENTICATED' }],
  [
    'lacking scope',
    chat,
    { key: 'key-importer', json: { message: 'x' } },
    403,
    { error_code: 'INSUFFICIENT_PERMISSIONS' },
  ],
  ['lacking scope and a wrong body', ingestion, { json: {} }, 403, { error_code: 'INSUFFICIENT_PERMISSIONS' }],
  [
    'no document',
    ingestion,
    { key: 'key-importer', json: {} },
    422,
    { detail: [{ loc: ['body', 'document'], type: 'missing' }] },
  ],
  [
    'unknown pair',
    ingestion,
    { key: 'key-importer', json: { ...aDocument('a'), cc_pair_id: 9 } },
    404,
    { error_code: 'CONNECTOR_NOT_FOUND' },
  ],
  [
    'session in a path that is no uuid',
    '/chat/stop-chat-session/abc',
    { method: 'POST' },
    422,
    { detail: [{ loc: ['path', 'session_id'], type: 'uuid_parsing' }] },
  ],
  [
    'cursor that is no number',
    `/chat/chat-session/${unknownSessionId}/resume-stream?cursor=x`,
    {},
    422,
    { detail: [{ loc: ['query', 'cursor'], type: 'int_parsing' }] },
  ],
  [
    'broken percent-encoding',
    `${ingestion}/%E0%A4`,
    { key: 'key-importer' },
    422,
    { detail: [{ loc: ['path', 'document_id'] }] },
  ],
  ['unknown address', '/nothing/here', {}, 404, { error_code: 'NOT_FOUND' }],
  ['retired endpoint', '/chat/send-message', { json: { message: 'x' } }, 410, { error_code: 'GONE' }],
  ['other retired endpoint', '/chat/send-message-simple-api', { json: {} }, 410, { error_code: 'GONE' }],
]

describe('a faulty request', () => {
  test.each(faulty)('%s: documented status and body, nothing stored', async (_, path, init, status, body) => {
    const { ask, agent, knowledge, errors } = setup()
    const response = await ask(path, init)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
    const answered = await response.json()
    expect(answered).toMatchObject(body)
    if (status !== 422) expect(Object.keys(answered).sort()).toEqual(['detail', 'error_code'])
    expect(response.headers.get('www-authenticate')).toEqual(status === 401 ? expect.stringMatching(/^Bearer /) : null)
    expect(agent.sent).toEqual([])
    expect(knowledge.accepted.size).toBe(0)
    expect(errors).toEqual([])
  })

  test('tells every fault at once, with what is wrong in words', async () => {
    const response = await setup().ask(chat, { json: { stream: 'never', deep_research: 2 } })
    const { detail } = (await response.json()) as { detail: { loc: string[]; msg: string }[] }
    expect(detail.map(({ loc }) => loc.join('.')).sort()).toEqual(['body.deep_research', 'body.message', 'body.stream'])
    for (const { msg } of detail) expect(msg.length).toBeGreaterThan(3)
  })

  test('an unauthenticated body is never read', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++
          controller.enqueue(new TextEncoder().encode('{}'))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    expect((await setup().ask(chat, { key: null, method: 'POST', body })).status).toBe(401)
    expect(pulled).toBe(0)
  })
})

describe('request ids', () => {
  test('a sane one is kept, on errors too', async () => {
    const { ask } = setup()
    for (const path of ['/health', '/nothing']) {
      const response = await ask(path, { headers: { 'x-request-id': 'trace-1.a:b/c' } })
      expect(response.headers.get('x-request-id')).toBe('trace-1.a:b/c')
    }
  })

  test.each(['a b', '<script>', 'x'.repeat(129), 'a,b'])('%j is replaced', async (given) => {
    const response = await setup().ask('/health', { headers: { 'x-request-id': given } })
    expect(response.headers.get('x-request-id')).not.toBe(given)
    expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
  })
})

describe('a fault of ours', () => {
  test('says nothing but its id, which the log has too', async () => {
    const failures: unknown[] = []
    const { ask, knowledge } = setup({ onError: (error, request) => failures.push({ error, ...request }) })
    knowledge.before = () => {
      throw new Error('SQLITE_CORRUPT in /var/lib/secret.db')
    }
    const response = await ask(ingestion, { key: 'key-importer', json: aDocument('a') })
    expect(response.status).toBe(500)
    const body = (await response.json()) as Record<string, unknown>
    expect(body).toEqual({
      error_code: 'INTERNAL_ERROR',
      detail: expect.not.stringMatching(/SQLITE|secret/),
      request_id: response.headers.get('x-request-id'),
    })
    expect(failures).toEqual([
      {
        error: expect.objectContaining({ message: expect.stringContaining('SQLITE_CORRUPT') }),
        requestId: body['request_id'],
        method: 'POST',
        route: '/service-api/ingestion',
      },
    ])
  })

  test('what was called off because the client left is not in the log', async () => {
    const leaving = new AbortController()
    const { ask, knowledge, errors } = setup()
    Object.assign(knowledge, {
      search: ({ signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new DOMException('left', 'AbortError'))),
        ),
    })
    const answer = ask('/search', { json: { query: 'x' }, signal: leaving.signal })
    await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    await answer
    expect(errors).toEqual([])
  })

  test('a queue that is full says when to come back', async () => {
    const { ask, knowledge } = setup()
    knowledge.before = () => {
      throw new InlayError('RATE_LIMITED', { data: { retryAfterSeconds: 2.2 } })
    }
    const response = await ask(ingestion, { key: 'key-importer', json: aDocument('a') })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3'])
  })

  test.each([
    ['caller', 'user'],
    ['key', 'user'],
    ['tenant', 'global'],
    [undefined, 'global'],
  ])('a limit of %s that is used up names the scope %s and when there is room again', async (of, scope) => {
    const { ask, knowledge } = setup()
    knowledge.before = () => {
      throw new InlayError('RATE_LIMITED', { data: { retryAfterSeconds: 2.2, ...(of && { of }) } })
    }
    const before = Date.now()
    const response = await ask(ingestion, { key: 'key-importer', json: aDocument('a') })
    const body = parseWith(rateLimitedBodySchema, await response.json(), 'body')
    expect(body).toMatchObject({ error_code: 'RATE_LIMITED', scope, retry_after_seconds: 3 })
    expect(Date.parse(body.reset_at) - before).toBeGreaterThanOrEqual(3_000)
    expect(Date.parse(body.reset_at) - Date.now()).toBeLessThanOrEqual(3_000)
  })

  test('a part that is down for a while is a 503 that says when to come back, one that is closed says nothing', async () => {
    const { ask, knowledge } = setup()
    const answerTo = async (code: 'SERVICE_UNAVAILABLE' | 'CLOSED'): Promise<unknown> => {
      knowledge.before = () => {
        throw new InlayError(code)
      }
      const response = await ask(ingestion, { key: 'key-importer', json: aDocument('a') })
      return [response.status, response.headers.get('retry-after')]
    }
    expect(await answerTo('SERVICE_UNAVAILABLE')).toEqual([503, '2'])
    expect(await answerTo('CLOSED')).toEqual([503, null])
  })

  test('advice that only the operator can follow is in the log, and callers get a neutral sentence', async () => {
    const { ask, errors, knowledge } = setup()
    const message = 'The database does not exist: create it, or set another one in INLAY_DATABASE_URL.'
    const advice = new InlayError('INVALID_INPUT', { message, data: { isForOperator: true, retryAfterSeconds: 30 } })
    knowledge.before = () => {
      throw advice
    }
    const response = await ask(ingestion, { key: 'key-importer', json: aDocument('a') })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30'])
    expect(await response.json()).toMatchObject({
      error_code: 'SERVICE_UNAVAILABLE',
      detail: 'Not available right now: try again later.',
    })
    expect(errors).toEqual([advice])
  })

  test('an authenticator that fails is a 500, one that refuses is believed', async () => {
    const failing = setup({ authenticate: () => Promise.reject(new Error('ldap is down')) })
    expect((await failing.ask(chat, { json: { message: 'x' } })).status).toBe(500)
    expect(failing.errors).toHaveLength(1)
    const refusing = setup({
      authenticate: () => {
        throw new InlayError('INSUFFICIENT_PERMISSIONS', { message: 'This account is locked.' })
      },
    })
    const response = await refusing.ask(chat, { json: { message: 'x' } })
    expect([response.status, await response.json()]).toEqual([
      403,
      { error_code: 'INSUFFICIENT_PERMISSIONS', detail: 'This account is locked.' },
    ])
  })
})

describe('methods', () => {
  test('a wrong one is told with those that work', async () => {
    const response = await setup().ask(chat, { method: 'GET' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    expect(await response.json()).toMatchObject({ error_code: 'METHOD_NOT_ALLOWED' })
  })

  test('HEAD answers as GET does, without a body; OPTIONS lists what is allowed', async () => {
    const { ask } = setup()
    const head = await ask('/health', { method: 'HEAD' })
    expect([head.status, await head.text(), head.headers.get('content-type')]).toEqual([200, '', 'application/json'])
    const options = await ask('/health', { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    expect((await ask('/nothing', { method: 'OPTIONS' })).status).toBe(404)
    expect((await ask(chat, { method: 'HEAD' })).status).toBe(405)
  })

  test('an address with a fixed part beside a variable one answers the methods of both', async () => {
    const { ask, knowledge } = setup()
    knowledge.accepted.set('batch', { title: '', caller: undefined })
    expect((await ask(`${ingestion}/batch`, { key: 'key-importer' })).status).toBe(200)
  })
})

describe('bodies', () => {
  test('are read whatever their content type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      const { ask, agent } = setup()
      await ask(chat, { body: '{"message":"x","stream":false}', headers: type === '' ? {} : { 'content-type': type } })
      expect(agent.sent).toHaveLength(1)
    }
  })

  test('above the limit are refused by their declared length, and while they are read', async () => {
    const { ask, agent } = setup({ limits: { maxChatBytes: 50 } })
    const long = JSON.stringify({ message: 'x'.repeat(50) })
    const declared = await ask(chat, { body: long, headers: { 'content-length': String(long.length) } })
    const streamed = await ask(chat, { method: 'POST', body: new Blob([long]).stream() })
    for (const response of [declared, streamed]) {
      expect([response.status, await response.json()]).toEqual([
        413,
        { error_code: 'PAYLOAD_TOO_LARGE', detail: expect.stringContaining('50') },
      ])
    }
    expect(agent.sent).toEqual([])
    expect((await ask(chat, { json: { message: 'x', stream: false } })).status).toBe(200)
  })
})

describe('a body of exactly the limit is taken, one of a byte more is not', () => {
  const small = JSON.stringify(aDocument('a'))
  // Read piece by piece as it arrives.
  const large = JSON.stringify(aDocument('a', 'x'.repeat(2 ** 20 + 1000)))
  const post = { key: 'key-importer', method: 'POST' }
  const forms = {
    'with a declared length': (text: string) => ({
      ...post,
      body: text,
      headers: { 'content-length': String(text.length) },
    }),
    'in pieces': (text: string) => ({ ...post, body: new Blob([text]).stream() }),
    compressed: (text: string) => ({
      ...post,
      body: new Uint8Array(gzipSync(text)),
      headers: { 'content-encoding': 'gzip' },
    }),
  }
  const sent = Object.entries(forms).flatMap(([form, of]) => [
    [`small, ${form}`, small, of] as const,
    [`large, ${form}`, large, of] as const,
  ])

  test.each(sent)('%s', async (_, text, of) => {
    for (const [limit, status] of [
      [text.length, 200],
      [text.length - 1, 413],
    ] as const) {
      const { ask } = setup({ limits: { maxIngestionBytes: limit } })
      expect((await ask(ingestion, of(text))).status).toBe(status)
    }
  })

  test('a line of a batch', async () => {
    for (const [limit, status] of [
      [small.length, 200],
      [small.length - 1, 413],
    ] as const) {
      const { ask } = setup({ limits: { maxIngestionBytes: limit } })
      const answer = await ask(`${ingestion}/batch`, { ...post, body: new Blob([`${small}\n`]).stream() })
      expect(JSON.parse((await answer.text()).split('\n', 1)[0]!)).toMatchObject({ status })
    }
  })
})

describe('compressed bodies', () => {
  const packed = (coding: 'gzip' | 'deflate', text: string | Uint8Array) => ({
    key: 'key-importer',
    method: 'POST',
    headers: { 'content-encoding': coding },
    body: new Uint8Array((coding === 'gzip' ? gzipSync : deflateSync)(text)),
  })
  const statusAndBody = async (response: Response) => [response.status, await response.json()]

  test.each(['gzip', 'deflate'] as const)(
    'in %s are unpacked: a document, and each line of a batch',
    async (coding) => {
      const { ask, knowledge } = setup()
      expect((await ask(ingestion, packed(coding, JSON.stringify(aDocument('a'))))).status).toBe(200)
      const lines = [aDocument('b'), aDocument('c')].map((line) => `${JSON.stringify(line)}\n`).join('')
      expect(await (await ask(`${ingestion}/batch`, packed(coding, lines))).text()).toMatch(
        /"status":200.*\n.*"status":200/,
      )
      expect([...knowledge.accepted.keys()]).toEqual(['a', 'b', 'c'])
    },
  )

  test('are measured by what they become', async () => {
    const { ask, knowledge } = setup({ limits: { maxIngestionBytes: 100_000 } })
    const bomb = JSON.stringify(aDocument('a', ' '.repeat(10_000_000)))
    expect(gzipSync(bomb).length).toBeLessThan(100_000)
    expect(await statusAndBody(await ask(ingestion, packed('gzip', bomb)))).toEqual([
      413,
      { error_code: 'PAYLOAD_TOO_LARGE', detail: expect.stringContaining('100000') },
    ])
    const batch = await (await ask(`${ingestion}/batch`, packed('gzip', bomb))).json()
    expect(batch).toMatchObject({ line: 1, status: 413, error_code: 'PAYLOAD_TOO_LARGE' })
    expect(knowledge.accepted.size).toBe(0)
  })

  test('that are broken off, or are none, are a 400; a batch is answered as far as it could be read', async () => {
    const { ask, errors } = setup()
    const whole = packed('gzip', JSON.stringify(aDocument('a')))
    for (const body of [whole.body.slice(0, -9), new TextEncoder().encode('{"document": {}}')]) {
      const answer = await statusAndBody(await ask(ingestion, { ...whole, body }))
      expect(answer).toEqual([400, { error_code: 'BAD_REQUEST', detail: expect.stringContaining('Encoding') }])
    }
    const batch = packed('gzip', `${JSON.stringify(aDocument('b'))}\n`.repeat(5000))
    const text = await (await ask(`${ingestion}/batch`, { ...batch, body: batch.body.slice(0, -9) })).text()
    const statuses = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).status as number)
    expect([new Set(statuses.slice(0, -1)), statuses.at(-1)]).toEqual([new Set([200]), 400])
    expect(errors).toEqual([])
  })

  test('of another compression are refused, with those that are taken', async () => {
    const { ask } = setup()
    for (const coding of ['br', 'zstd', 'gzip, gzip', 'constructor']) {
      for (const path of [ingestion, `${ingestion}/batch`]) {
        const headers = { 'content-encoding': coding }
        const response = await ask(path, { key: 'key-importer', method: 'POST', headers, body: 'x' })
        expect(response.headers.get('accept-encoding')).toBe('gzip, deflate')
        expect(await statusAndBody(response)).toEqual([
          415,
          { error_code: 'UNSUPPORTED_MEDIA_TYPE', detail: expect.stringContaining('gzip') },
        ])
      }
    }
  })
})

describe('the base path', () => {
  test('may be left out, since hosts strip it', async () => {
    const { server } = setup()
    const statuses = await Promise.all(
      ['/api/health', '/health', '/api/health/', '/other/health', '/apihealth'].map(
        async (path) => (await server.fetch(new Request(`http://host.example${path}`))).status,
      ),
    )
    expect(statuses).toEqual([200, 200, 200, 404, 404])
  })

  test.each([
    ['assistant/v1', '/assistant/v1/health'],
    ['/assistant/', '/assistant/health'],
    ['/', '/health'],
    ['', '/health'],
  ])('%j is taken as meant', async (basePath, path) => {
    const { server } = setup({ basePath })
    expect((await server.fetch(new Request(`http://host.example${path}`))).status).toBe(200)
    expect((await server.fetch(new Request(`${apiBase}/health`))).status).toBe(404)
  })

  test('with a wildcard is refused at once', () => {
    expect(() => setup({ basePath: '/api/**' })).toThrow(/base path/)
  })
})
