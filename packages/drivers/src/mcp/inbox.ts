import { InlayError, type JsonObject } from '@inlay/protocol'
import {
  cancellationOf,
  lost,
  readMessages,
  replying,
  unsent,
  type Connection,
  type Incoming,
  type Reply,
  type RequestOptions,
} from './messages.ts'

const farewellMs = 5_000

/** One stream of messages of a server, which carries the replies to all requests. */
export interface Inbox {
  /** Reads what came. What is no message is left out: servers also write logs and signs of life. */
  take(text: string): void
  /** Rejects all pending requests, and later ones. */
  fail(error: unknown): void
  readonly connection: Pick<Connection, 'request' | 'notify' | 'listen'>
}

export function createInbox(
  post: (message: JsonObject, options: RequestOptions) => Promise<void>,
  onToolsChanged: (() => void) | undefined,
): Inbox {
  const pending = new Map<
    number,
    PromiseWithResolvers<Reply> & Pick<RequestOptions, 'onProgress'> & { readonly token: unknown }
  >()
  let count = 0
  let failure: unknown
  const send = (message: JsonObject): Promise<void> =>
    post(message, { signal: AbortSignal.timeout(farewellMs), timeoutMs: farewellMs })
  const reply = replying(send)
  let turn = { count: 0 }
  const say = (message: JsonObject): void => void send(message).catch(() => {})

  const request: Connection['request'] = async (method, params, options) => {
    if (failure !== undefined) throw unsent(failure)
    const { signal, timeoutMs, onProgress } = options
    const id = ++count
    const answer = Promise.withResolvers<Reply>()
    // Avoids an unhandled rejection; the sender reports a failure of either.
    answer.promise.catch(() => {})
    const { _meta: meta } = params as { readonly _meta?: JsonObject }
    turn = { count: 0 }
    pending.set(id, { ...answer, onProgress, token: meta?.['progressToken'] })
    const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const giveUp = (): void => answer.reject(stop.reason)
    stop.addEventListener('abort', giveUp, { once: true })
    try {
      // A program that does not read lets a long message wait for ever.
      await Promise.race([post({ jsonrpc: '2.0', id, method, params }, { signal: stop, timeoutMs }), answer.promise])
      return await answer.promise
    } catch (error) {
      if (stop.aborted && method !== 'initialize') say(cancellationOf(id))
      if (signal.aborted) throw signal.reason
      if (stop.aborted) throw new InlayError('GATEWAY_TIMEOUT', { message: 'The MCP server did not answer in time.' })
      throw error
    } finally {
      stop.removeEventListener('abort', giveUp)
      pending.delete(id)
    }
  }

  const fail: Inbox['fail'] = (error) => {
    failure ??= error ?? lost()
    for (const { reject } of pending.values()) reject(failure)
  }
  const answerRequest = (message: Parameters<typeof reply>[0]): void => {
    try {
      reply(message, pending.size > 0 ? turn : { count: 0 })
    } catch (error) {
      fail(error)
    }
  }

  return {
    take: (text) => {
      for (const message of messagesIn(text)) {
        if (failure !== undefined) return
        if (message.kind === 'request') answerRequest(message)
        else if (message.kind === 'reply') pending.get(message.id)?.resolve(message.reply)
        else if (message.method === 'notifications/tools/list_changed') onToolsChanged?.()
        else if (message.method === 'notifications/progress') {
          const { progressToken } = message.params
          for (const { token, onProgress } of pending.values())
            if (token === progressToken) onProgress?.(message.params)
        }
      }
    },
    fail,
    connection: {
      request,
      notify: (method, params = {}) => send({ jsonrpc: '2.0', method, params }),
      // Notifications come on the one stream, once asked for where the revision wants that.
      listen: (request) => {
        if (request) say({ jsonrpc: '2.0', id: ++count, method: request.method, params: request.params })
      },
    },
  }
}

function messagesIn(text: string): Incoming[] {
  try {
    return readMessages(text)
  } catch {
    return []
  }
}
