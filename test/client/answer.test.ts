import { describe, expect, it } from 'vitest'
import { type Client, createClient, type ResumeOptions } from '@inlay/client'
import { fold, heartbeatLine, type StreamLine } from '@inlay/protocol'
import { json, type Reply, type Service, service, stream } from './service.ts'

const session = '0d9f3a52-41f7-4f0c-8f49-5c1be6a3d7e0'
const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
const delta = (content: string): StreamLine => ({ placement, obj: { type: 'message_delta', content } })
const lines: StreamLine[] = [
  { chat_session_id: session, incognito: false },
  { user_message_id: 2, reserved_assistant_message_id: 3 },
  { placement, obj: { type: 'message_start', final_documents: null, pre_answer_processing_seconds: 0.1 } },
  delta('Good '),
  delta('evening'),
  delta('!'),
  { placement, obj: { type: 'stop', stop_reason: null } },
]

function clientOf(resume: ResumeOptions, ...replies: Reply[]): { client: Client; seen: Service['seen'] } {
  const { fetch, seen } = service(...replies)
  const client = createClient({
    baseUrl: 'http://inlay.example/api/',
    apiKey: 'k',
    fetch,
    resume: { delayMs: () => 0, ...resume },
  })
  return { client, seen }
}

async function all(answer: AsyncIterable<StreamLine>): Promise<StreamLine[]> {
  const read: StreamLine[] = []
  for await (const line of answer) read.push(line)
  return read
}

describe('a sent message', () => {
  it('streams its lines and folds to the whole answer', async () => {
    const { client, seen } = clientOf({}, () => stream(lines))
    const answer = client.send('Hello')
    expect(await all(answer)).toEqual(lines)
    expect(await answer.whole()).toEqual(fold(lines))
    expect(answer.state).toMatchObject({ phase: 'done', messageId: 3, revision: lines.length })
    expect([answer.text, answer.sessionId]).toEqual(['Good evening!', session])
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/api/chat/send-chat-message' })
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ message: 'Hello', stream: true })
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer k')
    expect(seen[0]?.headers.get('accept')).toBe('text/event-stream')
    expect(seen[0]?.headers.get('idempotency-key')).toMatch(/^[\w-]{10,255}$/)
  })

  it('can be read by many, at any time, or by nobody', async () => {
    const { client } = clientOf({}, () => stream(lines))
    const answer = client.send({ message: 'Hello', include_usage: true })
    const [first, other] = await Promise.all([all(answer), all(answer)])
    expect(first).toEqual(lines)
    expect(other).toEqual(lines)
    expect(await all(answer)).toEqual(lines)
  })

  it('shows each line in its state before it is read', async () => {
    const { client } = clientOf({}, () => stream(lines))
    const answer = client.send('Hello')
    const phases: string[] = []
    for await (const _ of answer) phases.push(answer.state.phase)
    expect(phases[0]).toBeDefined()
    expect(phases.at(-1)).toBe('done')
  })

  it('reads lines of a service that frames them so', async () => {
    const { client } = clientOf({}, () => stream(lines, { format: 'lines' }))
    expect(await client.send('Hello').whole()).toEqual(fold(lines))
  })

  it('ends with its last line even if the connection stays open', async () => {
    const { client } = clientOf({}, () => stream(lines, { ending: 'open' }))
    expect(await all(client.send('Hello'))).toEqual(lines)
  })

  it('that fails is an answer with its reason', async () => {
    const failure: StreamLine = {
      error: 'The model declined.',
      stack_trace: null,
      error_code: 'MODEL_REFUSAL',
      is_retryable: false,
      details: { model_index: 0 },
    }
    const { client, seen } = clientOf({}, () => stream([...lines.slice(0, 5), failure]))
    const answer = client.send('Hello')
    expect(await answer.whole()).toMatchObject({ answer: 'Good evening', error_msg: 'The model declined.' })
    expect((await all(answer)).at(-1)).toEqual(failure)
    expect(seen).toHaveLength(1)
  })

  it('that is refused rejects with the code', async () => {
    const { client, seen } = clientOf({}, () =>
      json({ error_code: 'SESSION_NOT_FOUND', detail: 'No such session.' }, { status: 404 }),
    )
    const answer = client.send({ message: 'Hello', chat_session_id: session })
    await expect(all(answer)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND', message: 'No such session.' })
    await expect(answer.whole()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    expect(seen).toHaveLength(1)
  })

  it('waits for every model of several', async () => {
    const from = (model: number | null): typeof placement => ({ ...placement, model_index: model as number })
    const many: StreamLine[] = [
      {
        user_message_id: 1,
        responses: [
          { message_id: 2, model_name: 'a' },
          { message_id: 3, model_name: 'b' },
        ],
      },
      { placement: from(1), obj: { type: 'stop', stop_reason: null } },
      { placement: from(0), obj: { type: 'message_delta', content: 'late' } },
      { placement: from(0), obj: { type: 'stop', stop_reason: null } },
    ]
    const { client, seen } = clientOf({}, () => stream(many, { ending: 'open' }))
    expect((await client.send('Hello').whole()).answer).toBe('late')
    const cancelled = [
      many[0]!,
      { placement: from(null), obj: { type: 'stop', stop_reason: 'user_cancelled' } },
    ] as StreamLine[]
    const other = clientOf({}, () => stream(cancelled, { ending: 'open' }))
    expect(await all(other.client.send('Hello'))).toHaveLength(2)
    expect(seen).toHaveLength(1)
  })
})

describe('a dropped connection', () => {
  it.each(['broken', 'closed', 'half'] as const)(
    'that is %s is resumed after the last line that came whole',
    async (ending) => {
      const after = ending === 'half' ? 3 : 4
      const { client, seen } = clientOf(
        {},
        () => stream(lines.slice(0, 4), { ending }),
        () => stream(lines.slice(after), { from: after + 1 }),
      )
      const answer = client.send('Hello')
      expect(await all(answer)).toEqual(lines)
      expect((await answer.whole()).answer).toBe('Good evening!')
      expect(seen[1]).toMatchObject({ method: 'GET', path: `/api/chat/chat-session/${session}/resume-stream` })
      expect(seen[1]?.headers.get('last-event-id')).toBe(String(after))
      expect(seen[1]?.headers.get('authorization')).toBe('Bearer k')
    },
  )

  it('is resumed again and again while lines come', async () => {
    const { client, seen } = clientOf(
      { attempts: 1 },
      ...lines.map((line, at) => () => stream([line], { from: at + 1, ending: 'broken' })),
    )
    expect(await all(client.send('Hello'))).toEqual(lines)
    expect(seen).toHaveLength(lines.length)
  })

  it('drops lines that come twice', async () => {
    const { client } = clientOf(
      {},
      () => stream(lines.slice(0, 5), { ending: 'broken' }),
      () => stream(lines),
    )
    expect(await all(client.send('Hello'))).toEqual(lines)
  })

  it('counts the lines of a service that numbers none', async () => {
    const { client, seen } = clientOf(
      {},
      () => stream(lines.slice(0, 5), { ending: 'broken', format: 'lines' }),
      () => stream(lines, { format: 'lines' }),
    )
    expect(await all(client.send('Hello'))).toEqual(lines)
    expect(seen[1]?.headers.has('last-event-id')).toBe(false)
  })

  it('leaves heartbeats out of the count', async () => {
    const { client, seen } = clientOf(
      {},
      () => stream([...lines.slice(0, 4), heartbeatLine], { ending: 'broken' }),
      () => stream([heartbeatLine], { ending: 'broken' }),
      () => stream(lines.slice(4), { from: 5 }),
    )
    expect(await all(client.send('Hello'))).toEqual(lines)
    expect(seen[2]?.headers.get('last-event-id')).toBe('4')
  })

  it('before the session is known repeats the message with its key', async () => {
    const { client, seen } = clientOf(
      {},
      () => 'unreachable',
      () => stream([], { ending: 'broken' }),
      () => stream(lines),
    )
    expect(await all(client.send('Hello', { idempotencyKey: 'once' }))).toEqual(lines)
    expect(seen.map((each) => [each.method, each.headers.get('idempotency-key'), each.body])).toEqual(
      Array(3).fill(['POST', 'once', '{"message":"Hello","stream":true}']),
    )
  })

  it('in a session that existed is resumed there, though no line named it', async () => {
    const { client, seen } = clientOf(
      {},
      () => stream(lines.slice(1, 4), { ending: 'broken' }),
      () => stream(lines.slice(4), { from: 4 }),
    )
    const whole = await client.send({ message: 'Hello', chat_session_id: session }).whole()
    expect(whole).toMatchObject({ answer: 'Good evening!', chat_session_id: session })
    expect(seen[1]?.path).toContain(session)
  })

  it('is given up after as many attempts as allowed, each after its pause', async () => {
    const pauses: number[] = []
    const { client, seen } = clientOf(
      { attempts: 3, delayMs: (attempt) => (pauses.push(attempt), 0) },
      () => stream(lines.slice(0, 4), { ending: 'broken' }),
      () => 'unreachable',
      () => json({}, { status: 503 }),
      () => stream([], { ending: 'closed' }),
    )
    const answer = client.send('Hello')
    await expect(answer.whole()).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
    expect(answer.text).toBe('Good ')
    expect(pauses).toEqual([1, 2, 3])
    expect(seen).toHaveLength(4)
  })

  it('is not resumed when the run is gone', async () => {
    const { client, seen } = clientOf(
      {},
      () => stream(lines.slice(0, 4), { ending: 'broken' }),
      () => json({ error_code: 'NOT_FOUND', detail: 'Nothing to resume.' }, { status: 404 }),
    )
    await expect(client.send('Hello').whole()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(seen).toHaveLength(2)
  })

  it('is noticed by its silence', async () => {
    const { client } = clientOf(
      { idleTimeoutMs: 5 },
      () => stream(lines.slice(0, 4), { ending: 'open' }),
      () => stream(lines.slice(4), { from: 5 }),
    )
    expect(await all(client.send('Hello'))).toEqual(lines)
  })

  it('is not resumed once the caller has left', async () => {
    const left = new AbortController()
    const { client, seen } = clientOf({}, () => stream(lines.slice(0, 4), { ending: 'open' }))
    const answer = client.send('Hello', { signal: left.signal })
    for await (const _ of answer) if (answer.text !== '') break
    left.abort(new Error('enough'))
    await expect(answer.whole()).rejects.toThrow('enough')
    expect(seen).toHaveLength(1)
  })

  it('is not taken for one when the service talks nonsense', async () => {
    const { client, seen } = clientOf({}, () => new Response('<html>\n\ndata: <p>\n\n'))
    await expect(client.send('Hello').whole()).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
    expect(seen).toHaveLength(1)
  })
})

describe('a run that exists', () => {
  it('is followed from its first line or after a given one', async () => {
    const { client, seen } = clientOf(
      {},
      () => stream(lines),
      () => stream(lines.slice(5), { from: 6 }),
    )
    expect(await client.resume(session).whole()).toMatchObject({ answer: 'Good evening!', chat_session_id: session })
    expect(await all(client.resume(session, { after: 5 }))).toEqual(lines.slice(5))
    expect(seen.map((each) => each.headers.get('last-event-id'))).toEqual([null, '5'])
  })
})
