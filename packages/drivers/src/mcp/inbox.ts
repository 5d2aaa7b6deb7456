import { InlayError, type JsonObject } from '@inlay/protocol'
import {
  answerTo,
  lost,
  readMessages,
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
  /** Sends by `post`. */
  readonly connection: Pick<Connection, 'request' | 'notify' | 'listen'>
}

interface Pending extends PromiseWithResolvers<Reply> {
  readonly onProgress: RequestOptions['onProgress']
  readonly token: unknown
}

export function createInbox(
  post: (message: JsonObject, options: RequestOptions) => Promise<void>,
  onToolsChanged: (() => void) | undefined,
): Inbox {
  const pending = new Map<number, Pending>()
  let count = 0
  let failure: unknown
  const send = (message: JsonObject): Promise<void> =>
    post(message, { signal: AbortSignal.timeout(farewellMs), timeoutMs: farewellMs })
  const say = (message: JsonObject): void => void send(message).catch(() => {})

  const request: Connection['request'] = async (method, params, options) => {
    if (failure !== undefined) throw unsent(failure)
    const { signal, timeoutMs, onProgress } = options
    const id = ++count
    const reply = Promise.withResolvers<Reply>()
    // Avoids an unhandled rejection; the sender reports a failure of either.
    reply.promise.catch(() => {})
    const { _meta: meta } = params as { readonly _meta?: JsonObject }
    pending.set(id, { ...reply, onProgress, token: meta?.['progressToken'] })
    const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const giveUp = (): void => reply.reject(stop.reason)
    stop.addEventListener('abort', giveUp, { once: true })
    try {
      await post({ jsonrpc: '2.0', id, method, params }, { signal: stop, timeoutMs })
      return await reply.promise
    } catch (error) {
      if (stop.aborted && method !== 'initialize') {
        const cancelled = { requestId: id, reason: 'The caller gave up.' }
        say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled })
      }
      if (signal.aborted) throw signal.reason
      if (stop.aborted) throw new InlayError('GATEWAY_TIMEOUT', { message: 'The MCP server did not answer in time.' })
      throw error
    } finally {
      stop.removeEventListener('abort', giveUp)
      pending.delete(id)
    }
  }

  return {
    take: (text) => {
      for (const message of messagesIn(text)) {
        if (message.kind === 'request') say(answerTo(message))
        else if (message.kind === 'reply') pending.get(message.id)?.resolve(message.reply)
        else if (message.method === 'notifications/tools/list_changed') onToolsChanged?.()
        else if (message.method === 'notifications/progress') {
          const { progressToken } = message.params
          for (const { token, onProgress } of pending.values())
            if (token === progressToken) onProgress?.(message.params)
        }
      }
    },
    fail: (error) => {
      failure = error ?? lost()
      for (const { reject } of pending.values()) reject(failure)
    },
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
