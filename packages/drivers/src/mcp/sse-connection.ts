import { InlayError, type JsonObject } from '@inlay/protocol'
import { readEvents } from '../http/event-reader.ts'
import type { ConnectionOptions } from './http-connection.ts'
import {
  answerTo,
  failureOf,
  lost,
  readMessages,
  type Connection,
  type Reply,
  type RequestOptions,
} from './messages.ts'

const farewellMs = 5_000

/**
 * Connects with the older transport: a stream of events carries all messages of the server, and first the URL for ours,
 * which must be of the same origin.
 * @param limits timeout for the start of the stream
 */
export async function connectBySse(options: ConnectionOptions, limits: RequestOptions): Promise<Connection> {
  const { url, headers, fetch } = options
  const inbox = createInbox(url)
  const ending = new AbortController()
  let version: string | undefined
  const post = async (message: JsonObject, { signal, timeoutMs }: RequestOptions): Promise<void> => {
    const own = { ...headers, 'content-type': 'application/json', ...(version && { 'mcp-protocol-version': version }) }
    const body = JSON.stringify(message)
    const answer = await fetch(await inbox.target, { method: 'POST', headers: own, body, signal, timeoutMs })
    await answer.body.cancel()
    const failure = failureOf(answer.status, true)
    if (failure) throw failure
  }
  const send = (message: JsonObject): Promise<void> =>
    post(message, { signal: AbortSignal.timeout(farewellMs), timeoutMs: farewellMs })

  const late = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeoutMs)])
  const giveUp = (): void => ending.abort(late.reason)
  late.addEventListener('abort', giveUp, { once: true })
  void listen(options, { signal: ending.signal, timeoutMs: limits.timeoutMs }, inbox, send).catch(inbox.fail)
  try {
    await inbox.target
  } finally {
    late.removeEventListener('abort', giveUp)
  }
  return {
    agree: (agreed) => {
      version = agreed
    },
    request: (method, params, own) => request(inbox, post, { method, params }, own),
    notify: (method, params = {}) => send({ jsonrpc: '2.0', method, params }),
    close: async () => ending.abort(lost()),
  }
}

/** Messages of a server, and requests waiting for them. */
interface Inbox {
  /** URL for messages, once the server has sent it. */
  readonly target: Promise<string>
  setTarget(data: string): void
  /** Rejects all pending requests. */
  fail(error: unknown): void
  /** Waits for a reply with a new id. Throws if the connection is closed. */
  expect(): { readonly id: number; readonly reply: Promise<Reply>; forget(error?: unknown): void }
  take(id: number, reply: Reply): void
}

function createInbox(base: string): Inbox {
  const pending = new Map<number, PromiseWithResolvers<Reply>>()
  const beginning = Promise.withResolvers<string>()
  let count = 0
  let isOver = false
  return {
    target: beginning.promise,
    setTarget: (data) => beginning.resolve(endpointOf(data, base)),
    fail: (error) => {
      isOver = true
      beginning.reject(error)
      for (const { reject } of pending.values()) reject(error)
      pending.clear()
    },
    expect: () => {
      if (isOver) throw lost()
      const id = ++count
      const reply = Promise.withResolvers<Reply>()
      // Avoids an unhandled rejection; the sender reports a failure of either.
      reply.promise.catch(() => {})
      pending.set(id, reply)
      return {
        id,
        reply: reply.promise,
        forget: (error) => {
          pending.delete(id)
          reply.reject(error)
        },
      }
    },
    take: (id, reply) => {
      pending.get(id)?.resolve(reply)
      pending.delete(id)
    },
  }
}

/** Reads the stream to its end, which always is a failure. */
async function listen(
  { url, headers, fetch }: ConnectionOptions,
  limits: RequestOptions,
  inbox: Inbox,
  send: (message: JsonObject) => Promise<void>,
): Promise<never> {
  const own = { ...headers, accept: 'text/event-stream' }
  const answer = await fetch(url, { headers: own, ...limits, maxBytes: Number.MAX_SAFE_INTEGER })
  const failure = failureOf(answer.status, false)
  if (failure) {
    await answer.body.cancel()
    throw failure
  }
  for await (const { event, data } of readEvents(answer.body)) {
    if (event === 'endpoint') inbox.setTarget(data)
    if (event !== 'message') continue
    for (const message of readMessages(data)) {
      if (message.kind === 'request') void send(answerTo(message)).catch(() => {})
      if (message.kind === 'reply') inbox.take(message.id, message.reply)
    }
  }
  throw lost()
}

async function request(
  inbox: Inbox,
  post: (message: JsonObject, options: RequestOptions) => Promise<void>,
  { method, params }: { readonly method: string; readonly params: JsonObject },
  { signal, timeoutMs }: RequestOptions,
): Promise<Reply> {
  const { id, reply, forget } = inbox.expect()
  const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const giveUp = (): void => forget(stop.reason)
  stop.addEventListener('abort', giveUp, { once: true })
  try {
    await post({ jsonrpc: '2.0', id, method, params }, { signal: stop, timeoutMs })
    return await reply
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (stop.aborted) throw new InlayError('GATEWAY_TIMEOUT', { message: 'The MCP server did not answer in time.' })
    throw error
  } finally {
    stop.removeEventListener('abort', giveUp)
    forget()
  }
}

function endpointOf(data: string, base: string): string {
  const target = URL.canParse(data, base) ? new URL(data, base) : undefined
  if (target !== undefined && target.origin === new URL(base).origin) return target.href
  throw new InlayError('BAD_GATEWAY', { message: 'The MCP server names an address of another origin for messages.' })
}
