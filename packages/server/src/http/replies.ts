import { InlayError, isInlayError, type RateLimitedBody } from '@inlay/protocol'

const mark: unique symbol = Symbol('reply')

/**
 * A response before it becomes a `Response`: headers are still added, and a `Response`, which costs as much as a small
 * request, is created once at the end or not at all.
 */
export interface Reply {
  readonly [mark]: true
  readonly status: number
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | ReadableStream<Uint8Array> | null
  /** Whether a streamed body ends itself when the caller's key becomes invalid. Default: false, the server ends it. */
  readonly endsWithKey: boolean
}

/** Status and headers of a reply. Default: 200 without headers. */
export interface ReplyOptions {
  readonly status?: number
  /** Header names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** See {@link Reply}. */
  readonly endsWithKey?: boolean
}

/** Creates a reply with any body. */
export function reply(body: Reply['body'], options: ReplyOptions = {}): Reply {
  const { status = 200, headers = {}, endsWithKey = false } = options
  return { [mark]: true, status, headers, body, endsWithKey }
}

/** Creates a JSON reply; undefined is sent as `null`. */
export function jsonReply(value: unknown, options: ReplyOptions = {}): Reply {
  const { status = 200, headers } = options
  const body = wellFormedJson(value ?? null)
  return { [mark]: true, status, headers: { ...headers, 'content-type': 'application/json' }, body, endsWithKey: false }
}

/** Converts a handler's result to a reply. */
export function toReply(answer: unknown): Reply {
  return typeof answer === 'object' && answer !== null && mark in answer ? (answer as Reply) : jsonReply(answer)
}

/** The error response for a caught value, and whether to log it as an internal failure. */
export interface ErrorReport {
  readonly error: InlayError
  readonly unexpected: boolean
}

/**
 * Converts a thrown value to an InlayError; any other value becomes an INTERNAL_ERROR without details. Advice that only
 * the operator can follow goes to the log alone.
 */
export function toErrorReport(thrown: unknown): ErrorReport {
  if (isInlayError(thrown) && thrown.data['isForOperator'] === true)
    return { error: new InlayError('SERVICE_UNAVAILABLE', { data: thrown.data, cause: thrown }), unexpected: true }
  if (isInlayError(thrown)) return { error: thrown, unexpected: thrown.status === 500 }
  return { error: new InlayError('INTERNAL_ERROR', { cause: thrown }), unexpected: true }
}

/**
 * Body of an error: `{detail: [issues]}` for an invalid request, otherwise `{error_code, detail}`, with more fields for
 * a 429.
 */
export function errorBody(error: InlayError, requestId: string): Record<string, unknown> {
  if (error.code === 'VALIDATION_FAILED') return { detail: error.data['issues'] ?? [] }
  return {
    error_code: error.code,
    detail: error.message,
    ...(error.status >= 500 ? { request_id: requestId } : {}),
    ...(error.status === 429 ? whenToRetry(error) : {}),
  }
}

/** Scope of the exceeded limit, and when to retry. */
function whenToRetry(error: InlayError): Pick<RateLimitedBody, 'scope' | 'reset_at' | 'retry_after_seconds'> {
  const seconds = retrySeconds(error) ?? Number(outageSeconds)
  const { of } = error.data
  return {
    scope: of === 'caller' || of === 'key' ? 'user' : 'global',
    reset_at: new Date(Date.now() + seconds * 1000).toISOString(),
    retry_after_seconds: seconds,
  }
}

/** Whole seconds, at least one; undefined if the error has none. */
function retrySeconds({ data: { retryAfterSeconds } }: InlayError): number | undefined {
  return typeof retryAfterSeconds === 'number' ? Math.max(1, Math.ceil(retryAfterSeconds)) : undefined
}

/** Creates the reply for an error, with the headers for its status. */
export function errorReply(error: InlayError, requestId: string): Reply {
  return jsonReply(errorBody(error, requestId), { status: error.status, headers: errorHeaders(error) })
}

/** Default `Retry-After` of a 503. */
const outageSeconds = '2'

function errorHeaders(error: InlayError): Record<string, string> {
  const { allow, acceptEncoding } = error.data
  if (error.status === 401) {
    const reason = error.code === 'INVALID_TOKEN' ? ', error="invalid_token"' : ''
    return { 'www-authenticate': `Bearer realm="inlay"${reason}` }
  }
  if (error.code === 'METHOD_NOT_ALLOWED' && typeof allow === 'string') return { allow }
  if (error.code === 'UNSUPPORTED_MEDIA_TYPE' && typeof acceptEncoding === 'string')
    return { 'accept-encoding': acceptEncoding }
  const seconds = retrySeconds(error)
  if (seconds !== undefined) return { 'retry-after': String(seconds) }
  const isOutage = error.status === 429 || error.code === 'SERVICE_UNAVAILABLE'
  return isOutage ? { 'retry-after': outageSeconds } : {}
}

/** Header with the request id, in requests and in every response. */
export const requestIdHeader = 'x-request-id'

/** Form of a request id accepted from clients; otherwise a new id is generated. */
export const requestIdForm: RegExp = /^[\w.:/+=-]{1,128}$/

/** JSON without halves of surrogate pairs, which some readers refuse or fail to print: they become U+FFFD. */
function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value)
  // Only such halves are escaped like this; a text that says so itself is just encoded twice.
  if (!json.includes('\\ud')) return json
  return JSON.stringify(value, (_, held: unknown) => (typeof held === 'string' ? held.toWellFormed() : held))
}
