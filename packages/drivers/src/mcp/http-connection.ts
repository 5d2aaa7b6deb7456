import type { JsonObject } from '@inlay/protocol'
import { delay } from '@inlay/scheduling'
import type { EgressStream, EgressStreamAnswer } from '../http/egress-stream.ts'
import { readEvents } from '../http/event-reader.ts'
import {
  cancellationOf,
  failureOf,
  isLost,
  lossIn,
  lost,
  networkLoss,
  readMessages,
  replying,
  statelessVersion,
  type Connection,
  type Reply,
  type RequestOptions,
} from './messages.ts'

export interface ConnectionOptions {
  readonly url: string
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: EgressStream
  readonly onToolsChanged?: (() => void) | undefined
}

const maxBytes = 64 * 2 ** 20
const farewellMs = 5_000
// A server may end a long stream, which a new request then resumes.
const maxReads = 20

/** Connects by streamable HTTP: each message is a POST, answered with JSON or a stream of events. */
export function connectByHttp({ url, headers, fetch, onToolsChanged }: ConnectionOptions): Connection {
  let session: string | undefined
  let version: string | undefined
  let count = 0
  const closing = new AbortController()
  const ownHeaders = (): Record<string, string> => ({
    ...headers,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
  })
  const open = (request: Parameters<EgressStream>[1]): Promise<EgressStreamAnswer> =>
    fetch(url, { maxBytes, ...request }).catch((error: unknown) => Promise.reject(networkLoss(error)))
  const post = (message: JsonObject, { signal, timeoutMs, headers: more }: RequestOptions) =>
    open({
      method: 'POST',
      headers: {
        ...ownHeaders(),
        ...more,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify(message),
      signal,
      timeoutMs,
    })
  const send = async (message: JsonObject): Promise<void> => {
    const answer = await post(message, { signal: AbortSignal.timeout(farewellMs), timeoutMs: farewellMs })
    await answer.body.cancel()
  }
  const readOn = (lastId: string | undefined, { signal, timeoutMs }: RequestOptions): Promise<EgressStreamAnswer> => {
    const resumed = lastId !== undefined && { 'last-event-id': lastId }
    return open({ headers: { ...ownHeaders(), accept: 'text/event-stream', ...resumed }, signal, timeoutMs })
  }
  const receiver: Receiver = {
    hasSession: () => session !== undefined,
    readOn,
    say: (message) => void send(message).catch(() => {}),
    reply: replying(send),
    onToolsChanged,
  }

  return {
    agree: (agreed) => {
      version = agreed
    },
    request: async (method, params, options) => {
      const id = ++count
      // Without a handshake, a request ends with its connection.
      const isNotified = method !== 'initialize' && version !== statelessVersion
      try {
        const answer = await post({ jsonrpc: '2.0', id, method, params }, options)
        if (version !== statelessVersion) session ??= answer.headers.get('mcp-session-id') ?? undefined
        return await receive(answer, id, options, receiver)
      } catch (error) {
        if (options.signal.aborted && isNotified) receiver.say(cancellationOf(id))
        throw error
      }
    },
    notify: (method, params = {}) => send({ jsonrpc: '2.0', method, params }),
    listen: (request) => {
      const limits = { signal: closing.signal, timeoutMs: farewellMs, headers: request?.headers }
      const opened = request
        ? post({ jsonrpc: '2.0', id: ++count, method: request.method, params: request.params }, limits)
        : readOn(undefined, limits)
      // A server without such a stream refuses it; its changes are seen when the list is fetched next.
      void opened.then((answer) => readReply(answer, Number.NaN, limits, receiver)).catch(() => {})
    },
    close: async () => {
      closing.abort(lost())
      if (session === undefined) return
      const signal = AbortSignal.timeout(farewellMs)
      // Many servers do not support ending sessions; theirs expire.
      const answer = await fetch(url, { method: 'DELETE', headers: ownHeaders(), signal }).catch(() => undefined)
      await answer?.body.cancel().catch(() => {})
    },
  }
}

interface Receiver {
  readonly hasSession: () => boolean
  readonly readOn: (lastId: string, options: RequestOptions) => Promise<EgressStreamAnswer>
  readonly say: (message: JsonObject) => void
  readonly reply: ReturnType<typeof replying>
  readonly onToolsChanged: (() => void) | undefined
}

type Read =
  | { readonly reply: Reply }
  | { readonly lastId: string; readonly retryMs: number | undefined; readonly fault: unknown }

/** Waits for the reply to a request, across all streams over which the server sends it. */
async function receive(
  first: EgressStreamAnswer,
  id: number,
  options: RequestOptions,
  receiver: Receiver,
): Promise<Reply> {
  let answer = first
  for (let reads = 1; ; reads++) {
    const isGood = answer.status >= 200 && answer.status < 300
    // What a refusal says is for the model, if it is a message of the protocol.
    const read = await readReply(answer, id, options, receiver).catch((error: unknown) => {
      const failure = failureOf(answer.status, receiver.hasSession())
      throw isGood || failure === undefined || options.signal.aborted ? error : failure
    })
    const reply = 'reply' in read ? read.reply : undefined
    const failure = (reply && lossIn(reply)) ?? failureOf(answer.status, receiver.hasSession(), reply)
    if (failure) throw failure
    if ('reply' in read) return read.reply
    if (read.lastId === '' || reads >= maxReads) throw read.fault ?? lost()
    await delay(Math.min(read.retryMs ?? 1_000, 30_000), options.signal)
    answer = await receiver.readOn(read.lastId, options)
  }
}

/** Reads messages until the expected reply, and answers requests of the server in between. */
async function readReply(
  answer: EgressStreamAnswer,
  id: number,
  options: RequestOptions,
  { reply: answerRequest, onToolsChanged }: Receiver,
): Promise<Read> {
  // A stream for notifications stays open, and so does what keeps it alive.
  const turn = { count: Number.isNaN(id) ? Number.NEGATIVE_INFINITY : 0 }
  const find = (text: string, isAlone: boolean): Reply | undefined => {
    for (const message of readMessages(text)) {
      if (message.kind === 'request') answerRequest(message, turn)
      else if (message.kind === 'notification') {
        if (message.method === 'notifications/progress') options.onProgress?.(message.params)
        if (message.method === 'notifications/tools/list_changed') onToolsChanged?.()
      } else if (message.id === id || (isAlone && Number.isNaN(message.id))) return message.reply
    }
    return undefined
  }
  if (!(answer.headers.get('content-type') ?? '').includes('text/event-stream')) {
    const text = await new Response(answer.body).text().catch((error: unknown) => {
      throw networkLoss(error)
    })
    const reply = find(text, true)
    if (reply) return { reply }
    throw lost()
  }
  let lastId = ''
  let retryMs: number | undefined
  let fault: unknown
  try {
    for await (const event of readEvents(answer.body)) {
      lastId = event.id
      retryMs = event.retryMs
      // Servers and proxies keep connections open by events of their own.
      if (event.data === '' || event.event !== 'message') continue
      let reply: Reply | undefined
      try {
        reply = find(event.data, false)
      } catch (error) {
        fault = error
        if (isLost(error)) return { lastId: '', retryMs, fault }
      }
      // Leaving the loop cancels the body, and with it the connection.
      if (reply) return { reply }
    }
  } catch (error) {
    if (lastId === '' || options.signal.aborted) throw networkLoss(error)
  }
  return { lastId, retryMs, fault }
}
