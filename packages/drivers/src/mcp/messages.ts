import { InlayError, isJsonObject, type JsonObject } from '@inlay/protocol'

/** Response to a request: its result, or the server's error. */
export type Reply =
  | { readonly result: JsonObject }
  | { readonly error: { readonly code: number; readonly text: string } }

/** A message of a server: the response to a request of ours, a request, or a notification. */
export type Incoming =
  | { readonly kind: 'reply'; readonly id: number; readonly reply: Reply }
  | { readonly kind: 'request'; readonly id: unknown; readonly method: string }
  | { readonly kind: 'notification' }

/** Parses a message or a list of messages. @throws BAD_GATEWAY for anything else */
export function readMessages(text: string): Incoming[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw unreadable()
  }
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map(toIncoming)
}

function toIncoming(value: unknown): Incoming {
  if (!isJsonObject(value)) throw unreadable()
  const { id, method, result, error } = value
  if (typeof method === 'string') return id === undefined ? { kind: 'notification' } : { kind: 'request', id, method }
  if (typeof id !== 'number') throw unreadable()
  if (isJsonObject(result)) return { kind: 'reply', id, reply: { result } }
  if (!isJsonObject(error)) throw unreadable()
  const code = typeof error['code'] === 'number' ? error['code'] : 0
  return { kind: 'reply', id, reply: { error: { code, text: String(error['message'] ?? '') } } }
}

function unreadable(): InlayError {
  return new InlayError('BAD_GATEWAY', { message: 'The MCP server sent something that is no message.' })
}

/** Answers a request of the server: only `ping` is supported. */
export function answerTo({ id, method }: { readonly id: unknown; readonly method: string }): JsonObject {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} }
  return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'This client does not offer that.' } }
}

/** A connection to a server, with either transport. */
export interface Connection {
  /**
   * Sends a request and waits for its result.
   * @throws BAD_GATEWAY, GATEWAY_TIMEOUT, {@link isExpired}, {@link isRefused}
   */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<Reply>
  notify(method: string, params?: JsonObject): Promise<void>
  /** The negotiated protocol version, which every later request carries. */
  agree(version: string): void
  /** Ends it; never rejects. */
  close(): Promise<void>
}

export interface RequestOptions {
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

const mark = 'inlay.mcp'

/** Error for an HTTP status; undefined for success. */
export function failureOf(status: number, hasSession: boolean): InlayError | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status === 401 || status === 403) {
    const message = 'The MCP server refused the credentials.'
    return new InlayError('BAD_GATEWAY', { message, retryable: false, data: { [mark]: 'refused' } })
  }
  // Servers that forgot a session answer 404; some say 400.
  const isGone = hasSession && (status === 404 || status === 400)
  const message = `The MCP server answered with status ${status}.`
  return new InlayError('BAD_GATEWAY', { message, data: isGone ? { [mark]: 'expired' } : {} })
}

/** Error for a lost connection. */
export function lost(cause?: unknown): InlayError {
  const message = 'The connection to the MCP server was lost.'
  return new InlayError('BAD_GATEWAY', { message, cause, data: { [mark]: 'lost' } })
}

function markOf(error: unknown): unknown {
  return isJsonObject(error) && isJsonObject(error['data']) ? error['data'][mark] : undefined
}

/** Whether the server no longer knows the session, so a new one should be opened. */
export function isExpired(error: unknown): boolean {
  return markOf(error) === 'expired'
}

/** Whether the connection is unusable. */
export function isLost(error: unknown): boolean {
  return markOf(error) === 'lost' || isExpired(error)
}

/** Whether the server does not accept the credentials. */
export function isRefused(error: unknown): boolean {
  return markOf(error) === 'refused'
}
