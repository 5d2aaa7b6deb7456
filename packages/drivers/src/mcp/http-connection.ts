import type { JsonObject } from '@inlay/protocol'
import { delay } from '@inlay/scheduling'
import type { EgressStream, EgressStreamAnswer } from '../http/egress-stream.ts'
import { readEvents } from '../http/event-reader.ts'
import {
  answerTo,
  failureOf,
  lost,
  readMessages,
  type Connection,
  type Reply,
  type RequestOptions,
} from './messages.ts'

/** URL of a server, and headers sent with every request. */
export interface ConnectionOptions {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: EgressStream
}

const maxBytes = 64 * 2 ** 20
const farewellMs = 5_000
// A server may end a long stream, which a new request then resumes.
const maxReads = 20

/** Connects by streamable HTTP: each message is a POST, answered with JSON or a stream of events. */
export function connectByHttp({ url, headers, fetch }: ConnectionOptions): Connection {
  let session: string | undefined
  let version: string | undefined
  let count = 0
  const ownHeaders = (): Record<string, string> => ({
    ...headers,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
  })
  const post = (message: JsonObject, { signal, timeoutMs }: RequestOptions): Promise<EgressStreamAnswer> =>
    fetch(url, {
      method: 'POST',
      headers: { ...ownHeaders(), accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify(message),
      signal,
      timeoutMs,
      maxBytes,
    })
  const send = async (message: JsonObject): Promise<void> => {
    const answer = await post(message, { signal: AbortSignal.timeout(farewellMs), timeoutMs: farewellMs })
    await answer.body.cancel()
  }
  const readOn = async (lastId: string, { signal, timeoutMs }: RequestOptions): Promise<EgressStreamAnswer> =>
    fetch(url, {
      headers: { ...ownHeaders(), accept: 'text/event-stream', 'last-event-id': lastId },
      signal,
      timeoutMs,
      maxBytes,
    })

  return {
    agree: (agreed) => {
      version = agreed
    },
    request: async (method, params, options) => {
      const id = ++count
      try {
        const answer = await post({ jsonrpc: '2.0', id, method, params }, options)
        session ??= answer.headers.get('mcp-session-id') ?? undefined
        return await receive(answer, id, { options, hasSession: session !== undefined, readOn, say: send })
      } catch (error) {
        if (options.signal.aborted && method !== 'initialize') {
          const cancelled = { requestId: id, reason: 'The caller gave up.' }
          void send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled }).catch(() => {})
        }
        throw error
      }
    },
    notify: (method, params = {}) => send({ jsonrpc: '2.0', method, params }),
    close: async () => {
      if (session === undefined) return
      const signal = AbortSignal.timeout(farewellMs)
      // Many servers do not support ending sessions; theirs expire.
      const answer = await fetch(url, { method: 'DELETE', headers: ownHeaders(), signal }).catch(() => undefined)
      await answer?.body.cancel().catch(() => {})
    },
  }
}

interface Receiving {
  readonly options: RequestOptions
  readonly hasSession: boolean
  /** Resumes the stream after an event. */
  readonly readOn: (lastId: string, options: RequestOptions) => Promise<EgressStreamAnswer>
  readonly say: (message: JsonObject) => Promise<void>
}

/** Waits for the reply to a request, across all streams over which the server sends it. */
async function receive(first: EgressStreamAnswer, id: number, receiving: Receiving): Promise<Reply> {
  const { options, hasSession, readOn, say } = receiving
  let answer = first
  for (let reads = 1; ; reads++) {
    const failure = failureOf(answer.status, hasSession)
    if (failure) {
      await answer.body.cancel()
      throw failure
    }
    const read = await readReply(answer, id, (message) => void say(message).catch(() => {}))
    if ('reply' in read) return read.reply
    if (read.lastId === '' || reads >= maxReads) throw lost()
    await delay(Math.min(read.retryMs ?? 1_000, 30_000), options.signal)
    answer = await readOn(read.lastId, options)
  }
}

type Read = { readonly reply: Reply } | { readonly lastId: string; readonly retryMs: number | undefined }

/** Reads messages until the expected reply, and answers requests of the server in between. */
async function readReply(answer: EgressStreamAnswer, id: number, say: (message: JsonObject) => void): Promise<Read> {
  const find = (text: string): Reply | undefined => {
    for (const message of readMessages(text)) {
      if (message.kind === 'request') say(answerTo(message))
      if (message.kind === 'reply' && message.id === id) return message.reply
    }
    return undefined
  }
  if (!(answer.headers.get('content-type') ?? '').includes('text/event-stream')) {
    const reply = find(await new Response(answer.body).text())
    if (reply) return { reply }
    throw lost()
  }
  let lastId = ''
  let retryMs: number | undefined
  for await (const event of readEvents(answer.body)) {
    lastId = event.id
    retryMs = event.retryMs
    const reply = event.data === '' ? undefined : find(event.data)
    // Leaving the loop cancels the body, and with it the connection.
    if (reply) return { reply }
  }
  return { lastId, retryMs }
}
