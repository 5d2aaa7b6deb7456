import { InlayError, isInlayError, isJsonObject, readJson, type JsonObject } from '@inlay/protocol'
import { tlsFault } from '../http/tls-fault.ts'

export type Reply =
  | { readonly result: JsonObject }
  | { readonly error: { readonly code: number; readonly text: string } }

export type Incoming =
  /** The id of an error is NaN when the server does not say which request it means. */
  | { readonly kind: 'reply'; readonly id: number; readonly reply: Reply }
  | { readonly kind: 'request'; readonly id: unknown; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }

/** Parses a message or a list of messages. @throws BAD_GATEWAY for anything else */
export function readMessages(text: string): Incoming[] {
  const value = readJson(text)
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map(toIncoming)
}

function toIncoming(value: unknown): Incoming {
  if (!isJsonObject(value)) throw unreadable()
  const { id: given, method, result, error, params } = value
  if (typeof method === 'string') {
    if (given !== undefined && given !== null) return { kind: 'request', id: given, method }
    return { kind: 'notification', method, params: isJsonObject(params) ? params : {} }
  }
  // Some servers send ids back as text.
  const id = typeof given === 'number' || typeof given === 'string' ? Number(given) : Number.NaN
  if (isJsonObject(result) && !Number.isNaN(id)) return { kind: 'reply', id, reply: { result } }
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
  const message = `This client does not offer ${method}: nobody can be asked here. Go on without it, or fail the call.`
  return { jsonrpc: '2.0', id, error: { code: -32_601, message } }
}

export const cancellationOf = (requestId: number): JsonObject => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason: 'The caller gave up.' },
})

const maxRepliesUnderWay = 20
const maxRepliesInTurn = 1_000

/**
 * `turn` counts those of one request of ours; more than a server has reason to send, each a message, throws {@link
 * isLost}.
 */
export function replying(send: (message: JsonObject) => Promise<void>) {
  let underWay = 0
  return (request: Parameters<typeof answerTo>[0], turn: { count: number }): void => {
    if (underWay >= maxRepliesUnderWay || ++turn.count > maxRepliesInTurn) {
      const message = 'The MCP server asks more than a client has to answer.'
      throw new InlayError('BAD_GATEWAY', { message, data: { [mark]: 'lost' } })
    }
    underWay++
    void send(answerTo(request))
      .catch(() => {})
      .finally(() => underWay--)
  }
}

/** The revision without a handshake: every request says who asks. */
export const statelessVersion = '2026-07-28'

export interface Connection {
  /** @throws BAD_GATEWAY, GATEWAY_TIMEOUT, {@link isExpired}, {@link isRefused} */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<Reply>
  notify(method: string, params?: JsonObject): Promise<void>
  /** The negotiated protocol version, which every later request carries. */
  agree(version: string): void
  /** Opens a stream for notifications, by a request where the revision has one for it; where they come anyway, nothing. */
  listen(request?: {
    readonly method: string
    readonly params: JsonObject
    /** Of this request alone. */
    readonly headers?: Readonly<Record<string, string>> | undefined
  }): void
  /** Ends it; never rejects. */
  close(): Promise<void>
}

export interface RequestOptions {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Called with the `params` of each `notifications/progress` of this request. */
  readonly onProgress?: ((params: JsonObject) => void) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

const mark = 'inlay.mcp'

// Ways in which servers say that they do not know a session: it ended, or they started anew.
const sessionLoss =
  /session[^.]{0,80}(not found|unknown|invalid|expired|terminated|closed|missing|not exist)|(no|no valid|invalid|unknown|expired|missing) session|(not|before)( yet)?( been)? initiali[sz]/i

/** Undefined for success, and for a JSON-RPC error in the body (`reply`), which the caller reads. */
export function failureOf(status: number, hasSession: boolean, reply?: Reply): InlayError | undefined {
  if (status === 401 || status === 403) {
    const message = 'The MCP server refused the credentials.'
    return new InlayError('BAD_GATEWAY', { message, retryable: false, data: { [mark]: 'refused' } })
  }
  if (reply !== undefined || (status >= 200 && status < 300)) return undefined
  // Servers that forgot a session answer 404; some say 400.
  const isGone = hasSession && (status === 404 || status === 400)
  const message = `The MCP server answered with status ${status}.`
  return new InlayError('BAD_GATEWAY', { message, data: isGone ? { [mark]: 'expired' } : {} })
}

/** Error for a reply that says that the session is gone. A wrong argument may be named so, and a tool may fail so. */
export function lossIn(reply: Reply): InlayError | undefined {
  if (!('error' in reply) || reply.error.code === -32_602 || !sessionLoss.test(reply.error.text)) return undefined
  if (reply.error.code === -32_603) return lost()
  const message = 'The MCP server does not know the session any more.'
  return new InlayError('BAD_GATEWAY', { message, data: { [mark]: 'expired' } })
}

export function lost(cause?: unknown): InlayError {
  const message = `The connection to the MCP server was lost. ${tlsFault(cause, 'its address') ?? ''}`.trimEnd()
  return new InlayError('BAD_GATEWAY', { message, cause, data: { [mark]: 'lost' } })
}

/** Error for a request that was not sent, since the connection was lost before. */
export function unsent(cause: unknown): InlayError {
  const { message } = lost(cause)
  return new InlayError('BAD_GATEWAY', { message, cause, data: { [mark]: 'expired' } })
}

/** An error of the network as one of {@link isExpired}, if nothing can have been sent, or of {@link isLost}. */
export function networkLoss(error: unknown): unknown {
  if (!isInlayError(error) || error.code !== 'BAD_GATEWAY' || !(error.cause instanceof Error)) return error
  const { code } = error.cause as NodeJS.ErrnoException
  return code === 'ECONNREFUSED' ? unsent(error) : lost(error)
}

function markOf(error: unknown): unknown {
  return isInlayError(error) ? error.data[mark] : undefined
}

/** Whether the request did not run, since the server does not know the session: it can be repeated in a new one. */
export function isExpired(error: unknown): boolean {
  return markOf(error) === 'expired'
}

export function isLost(error: unknown): boolean {
  return markOf(error) === 'lost' || isExpired(error)
}

/** Whether the server does not accept the credentials. */
export function isRefused(error: unknown): boolean {
  return markOf(error) === 'refused'
}
