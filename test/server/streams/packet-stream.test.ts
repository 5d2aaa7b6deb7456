import { EventSourceParserStream } from 'eventsource-parser/stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLineDecoder, type StreamLine } from '@inlay/protocol'
import { delta, sessionId, setup, stop, wholeAnswer, type Setup } from '../fakes.ts'

const ids: StreamLine = { user_message_id: 1, reserved_assistant_message_id: 2 }
const chat = '/chat/send-chat-message'
const resume = `/chat/chat-session/${sessionId}/resume-stream`

/** Timers that fire when a test triggers it. */
function handTimer(): { timer: (ms: number, callback: () => void) => () => void; fire(): void; pending(): number[] } {
  const set = new Map<() => void, number>()
  return {
    timer: (ms, callback) => {
      set.set(callback, ms)
      return () => set.delete(callback)
    },
    fire() {
      const due = Array.from(set.keys())
      set.clear()
      for (const callback of due) callback()
    },
    pending: () => [...set.values()],
  }
}

const decoded = async (response: Response): Promise<{ sequence?: number; line: StreamLine }[]> => {
  const decoder = createLineDecoder()
  return [...decoder.push(new Uint8Array(await response.arrayBuffer())), ...decoder.end()]
}

const text = (chunk: ReadableStreamReadResult<Uint8Array>): string => new TextDecoder().decode(chunk.value)

async function answered(accept: string | undefined, options: Parameters<typeof setup>[0] = {}): Promise<Response> {
  const { ask, agent } = setup(options)
  agent.run.say(ids, delta('Hel'), delta('lo\u2028'), stop)
  agent.run.end()
  return ask(chat, { json: { message: 'Hi' }, headers: accept === undefined ? {} : { accept } })
}

describe('framing', () => {
  test.each([
    [undefined, 'sse', 'sse'],
    ['*/*', 'sse', 'sse'],
    ['*/*', 'lines', 'lines'],
    [undefined, 'lines', 'lines'],
    ['application/json', 'sse', 'lines'],
    ['application/x-ndjson', 'sse', 'lines'],
    ['application/jsonl', 'sse', 'lines'],
    ['text/event-stream', 'lines', 'sse'],
    ['application/json, text/event-stream', 'lines', 'sse'],
    ['text/html', 'lines', 'lines'],
  ] as const)('Accept %j with the option %s gives %s', async (accept, streamFormat, expected) => {
    const response = await answered(accept, { streamFormat })
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    })
    expect((await response.text()).startsWith('id: 1\ndata: {') ? 'sse' : 'lines').toBe(expected)
  })

  test('the default stream is read by an independent parser, numbered from 1', async () => {
    const response = await answered(undefined)
    const events: { id?: string; data: string }[] = []
    const parsed = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
    for await (const event of parsed) events.push({ id: event.id, data: event.data })
    expect(events.map(({ id }) => id)).toEqual(['1', '2', '3', '4'])
    expect(events.map(({ data }) => JSON.parse(data))).toEqual([ids, delta('Hel'), delta('lo\u2028'), stop])
  })

  test('lines are one JSON object each, also where text holds other line ends', async () => {
    const body = await (await answered('application/x-ndjson')).text()
    expect(body.endsWith('\n')).toBe(true)
    const lines = body.slice(0, -1).split(/[\n\u2028]/)
    expect(lines.map((line) => JSON.parse(line))).toEqual([ids, delta('Hel'), delta('lo\u2028'), stop])
  })

  test('stream: false answers whole whatever Accept says', async () => {
    const { ask } = setup()
    const response = await ask(chat, {
      json: { message: 'Hi', stream: false },
      headers: { accept: 'text/event-stream' },
    })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual(wholeAnswer)
  })
})

describe('a live stream', () => {
  async function open(
    options: Parameters<typeof setup>[0] = {},
  ): Promise<Setup & { reader: ReadableStreamDefaultReader<Uint8Array> }> {
    const all = setup(options)
    const response = await all.ask(chat, { json: { message: 'Hi' } })
    const reader = response.body!.getReader()
    // Opens the stream: headers are not kept back until something is said.
    expect((await reader.read()).value).toHaveLength(0)
    return { ...all, reader }
  }

  test('sends what is ready as one chunk and then waits', async () => {
    const { agent, reader } = await open()
    agent.run.say(ids, delta('a'), delta('b'))
    expect(text(await reader.read()).match(/^id: /gm)).toHaveLength(3)
    const next = reader.read()
    agent.run.say(delta('c'))
    expect(text(await next)).toContain('"c"')
    agent.run.end()
    expect((await reader.read()).done).toBe(true)
  })

  test('reads no further than the socket takes', async () => {
    const { agent, reader } = await open()
    const long = delta('x'.repeat(30_000))
    agent.run.say(long, long, long, long, long)
    agent.run.end()
    const sizes: number[] = []
    for (let step = await reader.read(); !step.done; step = await reader.read()) sizes.push(step.value.byteLength)
    expect(sizes.length).toBe(5)
    expect(Math.max(...sizes)).toBeLessThan(40_000)
  })

  test('sends an unnumbered heartbeat after the silence it was told, again and again', async () => {
    const hand = handTimer()
    const { agent, reader } = await open({ timer: hand.timer, heartbeatMs: 15_000 })
    const first = reader.read()
    await expect.poll(() => hand.pending()).toEqual([15_000])
    hand.fire()
    const beat = text(await first)
    expect(beat).toMatch(/^data: .*"chat_heartbeat"/)
    const second = reader.read()
    await expect.poll(() => hand.pending()).toEqual([15_000])
    hand.fire()
    expect(text(await second)).toBe(beat)
    const third = reader.read()
    agent.run.say(ids)
    expect(text(await third)).toMatch(/^id: 1\n/)
  })

  test('counts a silence from the last thing that was sent', async () => {
    const hand = handTimer()
    const { agent, reader } = await open({ timer: hand.timer, heartbeatMs: 15_000 })
    const first = reader.read()
    await expect.poll(() => hand.pending()).toEqual([15_000])
    agent.run.say(ids)
    await first
    const second = reader.read()
    // The timer that was set before it finds that something was sent, and waits for the rest.
    hand.fire()
    const [rest] = hand.pending()
    expect(rest).toBeGreaterThan(10_000)
    expect(rest).toBeLessThanOrEqual(15_000)
    hand.fire()
    expect(text(await second)).toContain('chat_heartbeat')
  })

  test('sends a heartbeat as long after the last line as it was told, not later', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000)
    onTestFinished(() => clock.mockRestore())
    const hand = handTimer()
    const { agent, reader } = await open({ timer: hand.timer, heartbeatMs: 15_000 })
    const first = reader.read()
    await expect.poll(() => hand.pending()).toEqual([15_000])
    clock.mockReturnValue(5_000)
    agent.run.say(ids)
    await first
    const second = reader.read()
    clock.mockReturnValue(16_000)
    hand.fire()
    expect(hand.pending()).toEqual([4_000])
    clock.mockReturnValue(20_000)
    hand.fire()
    expect(text(await second)).toContain('chat_heartbeat')
  })

  test('leaves no timer behind, whether it ends or is left', async () => {
    const hand = handTimer()
    const ended = await open({ timer: hand.timer })
    const last = ended.reader.read()
    await expect.poll(() => hand.pending()).toHaveLength(1)
    ended.agent.run.end()
    expect((await last).done).toBe(true)
    expect(hand.pending()).toEqual([])
    const abandoned = await open({ timer: hand.timer })
    const waiting = abandoned.reader.read()
    await expect.poll(() => hand.pending()).toHaveLength(1)
    await abandoned.reader.cancel()
    await waiting
    expect(hand.pending()).toEqual([])
  })

  test('that is left ends the reading, not the run', async () => {
    const { agent, reader } = await open()
    agent.run.say(ids)
    await reader.read()
    expect(agent.run.readers).toBe(1)
    const waiting = reader.read()
    await reader.cancel()
    await waiting
    expect(agent.run.readers).toBe(0)
    expect([agent.run.finished, agent.stopped]).toEqual([false, []])
  })

  test('that cannot be read on ends regularly, so that a client can resume', async () => {
    const { agent, reader, errors } = await open()
    agent.run.say(ids)
    await reader.read()
    agent.run.fail(new Error('the log is gone'))
    expect((await reader.read()).done).toBe(true)
    expect(errors).toEqual([expect.objectContaining({ message: 'the log is gone' })])
  })
})

describe('resuming', () => {
  async function resumed(path: string, headers: Record<string, string> = {}): Promise<(number | undefined)[]> {
    const { ask, agent } = setup()
    agent.run.say(ids, delta('a'), delta('b'), stop)
    agent.run.end()
    return (await decoded(await ask(path, { headers }))).map(({ sequence }) => sequence)
  }

  test('gives the lines after the cursor', async () => {
    expect(await resumed(resume)).toEqual([1, 2, 3, 4])
    expect(await resumed(`${resume}?cursor=0`)).toEqual([1, 2, 3, 4])
    expect(await resumed(`${resume}?cursor=2`)).toEqual([3, 4])
    expect(await resumed(`${resume}?cursor=99`)).toEqual([])
  })

  test('Last-Event-ID wins over the cursor, unless it is none of ours', async () => {
    expect(await resumed(`${resume}?cursor=1`, { 'last-event-id': '3' })).toEqual([4])
    expect(await resumed(`${resume}?cursor=1`, { 'last-event-id': 'abc' })).toEqual([2, 3, 4])
  })

  test('and stopping belong to the owner of the session', async () => {
    const { ask, agent } = setup()
    const stopPath = `/chat/stop-chat-session/${sessionId}`
    for (const [path, method] of [
      [resume, 'GET'],
      [stopPath, 'POST'],
    ] as const) {
      const response = await ask(path, { method, key: 'key-bob' })
      expect([response.status, ((await response.json()) as { error_code: string }).error_code]).toEqual([
        404,
        'SESSION_NOT_FOUND',
      ])
    }
    expect(agent.stopped).toEqual([])
    expect((await ask(stopPath, { method: 'POST' })).status).toBe(200)
    expect(agent.stopped).toEqual([sessionId])
  })
})

describe('what the agent is told', () => {
  test('the caller, the request id and the idempotency key', async () => {
    const { ask, agent } = setup()
    await ask(chat, { json: { message: 'Hi' }, headers: { 'x-request-id': 'r1', 'idempotency-key': 'k1' } })
    expect(agent.sent[0]).toEqual([
      expect.objectContaining({ message: 'Hi', parent_message_id: -1 }),
      { caller: { id: 'alice', scopes: ['chat'] }, requestId: 'r1', idempotencyKey: 'k1' },
    ])
  })

  test('headers that the operator lets pass, and no others', async () => {
    const { ask, agent } = setup({ passHeaders: ['X-Tenant', 'x-other'] })
    await ask(chat, { json: { message: 'Hi' }, headers: { 'x-tenant': 'acme', 'x-secret': 'no' } })
    expect(agent.sent[0]?.[1]).toMatchObject({ headers: { 'x-tenant': 'acme' } })
    expect(JSON.stringify(agent.sent)).not.toContain('x-secret')
  })

  test('an idempotency key that is too long is refused', async () => {
    const { ask, agent } = setup()
    const response = await ask(chat, { json: { message: 'Hi' }, headers: { 'idempotency-key': 'k'.repeat(256) } })
    expect(await response.json()).toMatchObject({ error_code: 'INVALID_INPUT' })
    expect(agent.sent).toEqual([])
  })
})
