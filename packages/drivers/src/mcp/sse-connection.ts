import { InlayError } from '@inlay/protocol'
import { readEvents } from './events.ts'
import type { ConnectionOptions } from './http-connection.ts'
import { answerTo, failureOf, lost, readMessages, type Connection, type JsonObject, type Reply } from './messages.ts'

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

const farewellMs = 5_000

/**
 * Connects by the older transport: one stream of events brings all that the server says, and tells the address that
 * messages are posted to, which has to be of the same origin.
 * @param options how long the stream may take to begin
 */
export async function connectBySse(
  { url, headers, fetch }: ConnectionOptions,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Connection> {
  const ending = new AbortController()
  const waiting = new Map<number, Waiting>()
  const beginning = Promise.withResolvers<string>()
  let count = 0
  let version: string | undefined
  let isOver = false

  const late = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const giveUp = (): void => ending.abort(late.reason)
  late.addEventListener('abort', giveUp, { once: true })
  const fail = (error: unknown): void => {
    isOver = true
    beginning.reject(error)
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  const post = async (target: string, message: JsonObject, options: { signal: AbortSignal; timeoutMs: number }) => {
    const own = { ...headers, 'content-type': 'application/json', ...(version && { 'mcp-protocol-version': version }) }
    const answer = await fetch(target, { method: 'POST', headers: own, body: JSON.stringify(message), ...options })
    await answer.body.cancel()
    const failure = failureOf(answer.status, true)
    if (failure) throw failure
  }
  const send = async (message: JsonObject): Promise<void> =>
    post(await beginning.promise, message, { signal: AbortSignal.timeout(farewellMs), timeoutMs: farewellMs })
  const hear = (data: string): void => {
    for (const message of readMessages(data)) {
      if (message.kind === 'request') void send(answerTo(message)).catch(() => {})
      if (message.kind !== 'reply') continue
      waiting.get(message.id)?.resolve(message.reply)
      waiting.delete(message.id)
    }
  }
  const listen = async (): Promise<void> => {
    const options = { headers: { ...headers, accept: 'text/event-stream' }, signal: ending.signal, timeoutMs }
    const answer = await fetch(url, { ...options, limitBytes: Number.MAX_SAFE_INTEGER })
    const failure = failureOf(answer.status, false)
    if (failure) {
      await answer.body.cancel()
      throw failure
    }
    for await (const { event, data } of readEvents(answer.body)) {
      if (event === 'endpoint') beginning.resolve(endpointOf(data, url))
      else if (event === 'message') hear(data)
    }
    throw lost()
  }
  void listen().catch((error: unknown) => fail(error))
  try {
    await beginning.promise
  } finally {
    late.removeEventListener('abort', giveUp)
  }
  return {
    agree: (agreed) => {
      version = agreed
    },
    request: async (method, params, options) => {
      if (isOver) throw lost()
      const id = ++count
      const reply = Promise.withResolvers<Reply>()
      waiting.set(id, reply)
      const stop = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)])
      const giveUpWaiting = (): void => reply.reject(stop.reason)
      stop.addEventListener('abort', giveUpWaiting, { once: true })
      // Whoever waits for the sending hears of a failure of both.
      reply.promise.catch(() => {})
      try {
        await post(await beginning.promise, { jsonrpc: '2.0', id, method, params }, { ...options, signal: stop })
        return await reply.promise
      } catch (error) {
        if (options.signal.aborted) throw options.signal.reason
        if (stop.aborted) throw new InlayError('GATEWAY_TIMEOUT', { message: 'The MCP server did not answer in time.' })
        throw error
      } finally {
        stop.removeEventListener('abort', giveUpWaiting)
        waiting.delete(id)
      }
    },
    notify: (method, params = {}) => send({ jsonrpc: '2.0', method, params }),
    close: async () => ending.abort(lost()),
  }
}

function endpointOf(data: string, base: string): string {
  const target = URL.canParse(data, base) ? new URL(data, base) : undefined
  if (target !== undefined && target.origin === new URL(base).origin) return target.href
  throw new InlayError('BAD_GATEWAY', { message: 'The MCP server names an address of another origin for messages.' })
}
