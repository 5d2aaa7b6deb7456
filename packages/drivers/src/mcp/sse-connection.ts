import { InlayError, type JsonObject } from '@inlay/protocol'
import { readEvents } from '../http/event-reader.ts'
import type { ConnectionOptions } from './http-connection.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { failureOf, lost, networkLoss, type Connection, type RequestOptions } from './messages.ts'

/** A stream carries all messages of the server, first the URL for ours. @param limits timeout for its start */
export async function connectBySse(options: ConnectionOptions, limits: RequestOptions): Promise<Connection> {
  const { url, headers, fetch, onToolsChanged } = options
  const target = Promise.withResolvers<string>()
  const ending = new AbortController()
  let version: string | undefined
  const post = async (message: JsonObject, { signal, timeoutMs }: RequestOptions): Promise<void> => {
    const own = { ...headers, 'content-type': 'application/json', ...(version && { 'mcp-protocol-version': version }) }
    const request = { method: 'POST', headers: own, body: JSON.stringify(message), signal, timeoutMs }
    const answer = await fetch(await target.promise, request).catch((error: unknown) => {
      throw networkLoss(error)
    })
    await answer.body.cancel()
    const failure = failureOf(answer.status, true)
    if (failure) throw failure
  }
  const inbox = createInbox(post, onToolsChanged)

  const late = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeoutMs)])
  const giveUp = (): void => ending.abort(late.reason)
  late.addEventListener('abort', giveUp, { once: true })
  const onEndpoint = (data: string): void => target.resolve(endpointOf(data, url))
  void listen(options, { signal: ending.signal, timeoutMs: limits.timeoutMs }, inbox, onEndpoint).catch((error) => {
    target.reject(error)
    inbox.fail(error)
  })
  try {
    await target.promise
  } finally {
    late.removeEventListener('abort', giveUp)
  }
  return {
    ...inbox.connection,
    agree: (agreed) => {
      version = agreed
    },
    close: async () => ending.abort(lost()),
  }
}

/** Reads the stream to its end, which always is a failure. */
async function listen(
  { url, headers, fetch }: ConnectionOptions,
  limits: RequestOptions,
  inbox: Inbox,
  onEndpoint: (data: string) => void,
): Promise<never> {
  const own = { ...headers, accept: 'text/event-stream' }
  const { signal, timeoutMs } = limits
  const answer = await fetch(url, { headers: own, signal, timeoutMs, maxBytes: Number.MAX_SAFE_INTEGER })
  const failure = failureOf(answer.status, false)
  if (failure) {
    await answer.body.cancel()
    throw failure
  }
  try {
    for await (const { event, data } of readEvents(answer.body)) {
      if (event === 'endpoint') onEndpoint(data)
      if (event === 'message') inbox.take(data)
    }
  } catch (error) {
    throw networkLoss(error)
  }
  throw lost()
}

function endpointOf(data: string, base: string): string {
  const target = URL.parse(data, base)
  if (target && target.origin === new URL(base).origin) return target.href
  throw new InlayError('BAD_GATEWAY', { message: 'The MCP server names an address of another origin for messages.' })
}
