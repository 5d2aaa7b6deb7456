import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createClient } from '@inlay/client'
import { encodeLine, fold, frameLine, type StreamLine } from '@inlay/protocol'

const session = '0d9f3a52-41f7-4f0c-8f49-5c1be6a3d7e0'
const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 }
const words = Array.from({ length: 200 }, (_, at) => `Wörter ${at} 🛰 `)
const lines: StreamLine[] = [
  { chat_session_id: session, incognito: false },
  { user_message_id: 2, reserved_assistant_message_id: 3 },
  ...words.map((content): StreamLine => ({ placement, obj: { type: 'message_delta', content } })),
  { placement, obj: { type: 'stop', stop_reason: null } },
]

/** The bytes of a run after a line. */
function bytesAfter(cursor: number): Uint8Array {
  const framed = lines.map((line, at) => frameLine(encodeLine(line), { format: 'sse', sequence: at + 1 }))
  return new TextEncoder().encode(framed.slice(cursor).join(''))
}

let server: Server | undefined
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
  server?.closeAllConnections()
  server?.close()
})

/** A service whose connections break after so many bytes each. */
async function fragile(bytes: number): Promise<{ baseUrl: string; cursors: number[] }> {
  const cursors: number[] = []
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const cursor = Number(request.headers['last-event-id'] ?? 0)
    cursors.push(cursor)
    const rest = bytesAfter(cursor)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (rest.length <= bytes) response.end(rest)
    else response.write(rest.slice(0, bytes), () => response.destroy())
  }
  const opened = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response))
  })
  server = opened
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve))
  return { baseUrl: `http://127.0.0.1:${(opened.address() as AddressInfo).port}`, cursors }
}

describe('an answer over sockets that break', () => {
  it('arrives whole, wherever they break', async () => {
    const { baseUrl, cursors } = await fragile(3333)
    const client = createClient({ baseUrl, resume: { attempts: 3, delayMs: () => 0 } })
    const answer = client.send('Hello')
    const read: StreamLine[] = []
    for await (const line of answer) read.push(line)
    expect(read).toEqual(lines)
    expect(await answer.whole()).toEqual(fold(lines))
    expect(cursors.length).toBeGreaterThan(5)
    expect(cursors).toEqual([...new Set(cursors)].sort((left, right) => left - right))
  })

  it('is lost in the end when no connection brings anything new', async () => {
    const { baseUrl, cursors } = await fragile(40)
    const client = createClient({ baseUrl, resume: { attempts: 2, delayMs: () => 0 } })
    await expect(client.resume(session).whole()).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
    expect(cursors).toEqual([0, 0, 0])
  })
})

const unreachable = (): Promise<never> => Promise.reject(new TypeError('Failed to fetch'))

describe('a device that is offline', () => {
  /** A service without a network for so many calls. */
  function offlineFor(failures: number): {
    keys: (string | null)[]
    fetch(url: string, init: RequestInit): Promise<Response>
  } {
    const keys: (string | null)[] = []
    return {
      keys,
      async fetch(_url, init) {
        keys.push(new Headers(init.headers).get('idempotency-key'))
        if (keys.length <= failures) throw new TypeError('Failed to fetch')
        return new Response(bytesAfter(0) as BodyInit, { headers: { 'content-type': 'text/event-stream' } })
      },
    }
  }

  it('sends a question once it is back, however long that takes, and says at once that it waits', async () => {
    vi.useFakeTimers()
    vi.stubGlobal('navigator', { onLine: false })
    const { keys, fetch } = offlineFor(100)
    const changes: boolean[] = []
    const client = createClient({ baseUrl: 'https://app.example/api', fetch })
    const answer = client.send('Hello', { onConnectionChange: (isConnected) => changes.push(isConnected) })
    await vi.advanceTimersByTimeAsync(0)
    expect(changes).toEqual([false])
    await vi.advanceTimersByTimeAsync(100_000)
    expect(await answer.whole()).toEqual(fold(lines))
    expect(changes.at(-1)).toBe(true)
    // One key: a question that did reach the service is answered once.
    expect(new Set(keys).size).toBe(1)
  })

  it('gives up on a service that is down while it has a network', async () => {
    vi.useFakeTimers()
    vi.stubGlobal('navigator', { onLine: true })
    const { keys, fetch } = offlineFor(100)
    const changes: boolean[] = []
    const client = createClient({ baseUrl: 'https://app.example/api', fetch })
    const answer = client.send('Hello', { onConnectionChange: (isConnected) => changes.push(isConnected) }).whole()
    const failure = expect(answer).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
    await vi.advanceTimersByTimeAsync(100_000)
    await failure
    expect(keys).toHaveLength(7)
    // A single failed attempt is no news.
    expect(changes).toEqual([false, false, false, false, false])
  })

  it.each<[what: string, baseUrl: string, fetch: () => Promise<Response>]>([
    ['answers that it is unavailable', 'https://app.example/api', async () => new Response('', { status: 503 })],
    ['breaks off every answer', 'https://app.example/api', async () => new Response('')],
    ['is down at localhost', 'http://localhost:3000/api', unreachable],
    ['is down at 127.0.0.1', 'http://127.0.0.1:3000/api', unreachable],
    ['is down at ::1', 'http://[::1]:3000/api', unreachable],
  ])('gives up on a service that %s', async (_, baseUrl, fetch) => {
    vi.useFakeTimers()
    vi.stubGlobal('navigator', { onLine: false })
    const calls = vi.fn(fetch)
    const answer = createClient({ baseUrl, fetch: calls, resume: { attempts: 2 } })
      .send('Hello')
      .whole()
    const failure = expect(answer).rejects.toThrow()
    await vi.advanceTimersByTimeAsync(12_500)
    expect(calls).toHaveBeenCalledTimes(3)
    await failure
  })
})

describe('a connection that is back, but says nothing yet', () => {
  it('counts as back with its first heartbeat', async () => {
    vi.useFakeTimers()
    const changes: boolean[] = []
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const answers = [
      unreachable,
      unreachable,
      async () => new Response(readable as BodyInit, { headers: { 'content-type': 'text/event-stream' } }),
    ]
    const client = createClient({ baseUrl: 'https://app.example/api', fetch: () => answers.shift()!() })
    const answer = client.send('Hello', { onConnectionChange: (isConnected) => changes.push(isConnected) })
    await vi.advanceTimersByTimeAsync(1000)
    expect(changes).toEqual([false])
    const heartbeat = encodeLine({ placement, obj: { type: 'chat_heartbeat' } })
    void writer.write(new TextEncoder().encode(frameLine(heartbeat, { format: 'sse' })))
    await vi.advanceTimersByTimeAsync(1)
    expect(changes).toEqual([false, true])
    expect(answer.text).toBe('')
    void writer.write(bytesAfter(0))
    void writer.close()
    await vi.advanceTimersByTimeAsync(1)
    expect(await answer.whole()).toEqual(fold(lines))
    expect(changes).toEqual([false, true])
  })
})
