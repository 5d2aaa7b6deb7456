import { InlayError, isInlayError, type RateLimitedBody } from '@inlay/protocol'

const mark: unique symbol = Symbol('reply')

/**
 * What is answered, before it becomes a `Response`: headers are added to it on its way out, and the runtime's own
 * `Response`, which costs as much as a small request, is made once at the end or not at all.
 */
export interface Reply {
  readonly [mark]: true
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | ReadableStream<Uint8Array> | null
  /** Whether a streamed body ends by itself when the key of its reader is refused. Default: it is cut. */
  readonly endsWithKey: boolean
}

/** Status and headers of a reply; 200 and none when absent. */
export interface ReplyOptions {
  readonly status?: number
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** See {@link Reply}. */
  readonly endsWithKey?: boolean
}

/** A reply with a body of its own kind. */
export function reply(body: Reply['body'], options: ReplyOptions = {}): Reply {
  const { status = 200, headers = {}, endsWithKey = false } = options
  return { [mark]: true, status, headers, body, endsWithKey }
}

/** A reply in JSON; undefined is sent as `null`. */
export function jsonReply(value: unknown, options: ReplyOptions = {}): Reply {
  const { status = 200, headers } = options
  const body = JSON.stringify(value ?? null)
  return { [mark]: true, status, headers: { ...headers, 'content-type': 'application/json' }, body, endsWithKey: false }
}

/** What a handler answered, as a reply. */
export function toReply(answer: unknown): Reply {
  return typeof answer === 'object' && answer !== null && mark in answer ? (answer as Reply) : jsonReply(answer)
}

/** What a caught value is answered with, and whether it is a fault of ours that belongs in the log. */
export interface Failure {
  readonly error: InlayError
  readonly unexpected: boolean
}

/** What was thrown, as an InlayError: whatever was not thrown as one says nothing about itself. */
export function toFailure(thrown: unknown): Failure {
  if (isInlayError(thrown)) return { error: thrown, unexpected: thrown.status === 500 }
  return { error: new InlayError('INTERNAL_ERROR', { cause: thrown }), unexpected: true }
}

/** Body of an error: `{detail: [issues]}` for a request of the wrong shape, else `{error_code, detail}` and what a 429 adds. */
export function errorBody(error: InlayError, requestId: string): Record<string, unknown> {
  if (error.code === 'VALIDATION_FAILED') return { detail: error.data['issues'] ?? [] }
  return {
    error_code: error.code,
    detail: error.message,
    ...(error.status >= 500 ? { request_id: requestId } : {}),
    ...(error.status === 429 ? whenToRetry(error) : {}),
  }
}

/** Whose limit is used up, and when there is room again. */
function whenToRetry(error: InlayError): Pick<RateLimitedBody, 'scope' | 'reset_at' | 'retry_after_seconds'> {
  const seconds = retrySeconds(error) ?? Number(outageSeconds)
  const { of } = error.data
  return {
    scope: of === 'caller' || of === 'key' ? 'user' : 'global',
    reset_at: new Date(Date.now() + seconds * 1000).toISOString(),
    retry_after_seconds: seconds,
  }
}

/** Whole seconds, at least one; undefined when the error tells none. */
function retrySeconds({ data: { retryAfterSeconds } }: InlayError): number | undefined {
  return typeof retryAfterSeconds === 'number' ? Math.max(1, Math.ceil(retryAfterSeconds)) : undefined
}

/** Reply for an error, with the headers its status asks for. */
export function errorReply(error: InlayError, requestId: string): Reply {
  return jsonReply(errorBody(error, requestId), { status: error.status, headers: errorHeaders(error) })
}

/** When callers may ask again for what is not available, where nothing tells better. */
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

/** Header that carries the id, in requests and in every response. */
export const requestIdHeader = 'x-request-id'

/** An id that a request comes with is kept when it has this form; else the request gets a new one. */
export const requestIdForm: RegExp = /^[\w.:/+=-]{1,128}$/
