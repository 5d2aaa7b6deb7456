import { InlayError, isInlayError } from '@inlay/protocol'

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
}

/** Status and headers of a reply; 200 and none when absent. */
export interface ReplyOptions {
  readonly status?: number
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A reply with a body of its own kind. */
export function reply(body: Reply['body'], options: ReplyOptions = {}): Reply {
  return { [mark]: true, status: options.status ?? 200, headers: options.headers ?? {}, body }
}

/** A reply in JSON; undefined is sent as `null`. */
export function jsonReply(value: unknown, options: ReplyOptions = {}): Reply {
  const { status = 200, headers } = options
  const body = JSON.stringify(value ?? null)
  return { [mark]: true, status, headers: { ...headers, 'content-type': 'application/json' }, body }
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

/** Body of an error: `{detail: [issues]}` for a request of the wrong shape, else `{error_code, detail}`. */
export function errorBody(error: InlayError, requestId: string): Record<string, unknown> {
  if (error.code === 'VALIDATION_FAILED') return { detail: error.data['issues'] ?? [] }
  return {
    error_code: error.code,
    detail: error.message,
    ...(error.status >= 500 ? { request_id: requestId } : {}),
  }
}

/** Reply for an error, with the headers its status asks for. */
export function errorReply(error: InlayError, requestId: string): Reply {
  return jsonReply(errorBody(error, requestId), { status: error.status, headers: errorHeaders(error) })
}

/** When callers may ask again for what is not available, where nothing tells better. */
const outageSeconds = '2'

function errorHeaders(error: InlayError): Record<string, string> {
  const { allow, acceptEncoding, retryAfterSeconds } = error.data
  if (error.status === 401) {
    const reason = error.code === 'INVALID_TOKEN' ? ', error="invalid_token"' : ''
    return { 'www-authenticate': `Bearer realm="inlay"${reason}` }
  }
  if (error.code === 'METHOD_NOT_ALLOWED' && typeof allow === 'string') return { allow }
  if (error.code === 'UNSUPPORTED_MEDIA_TYPE' && typeof acceptEncoding === 'string')
    return { 'accept-encoding': acceptEncoding }
  if (typeof retryAfterSeconds === 'number') return { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) }
  return error.status === 503 && error.retryable ? { 'retry-after': outageSeconds } : {}
}

/** Header that carries the id, in requests and in every response. */
export const requestIdHeader = 'x-request-id'

/** An id that a request comes with is kept when it has this form; else the request gets a new one. */
export const requestIdForm: RegExp = /^[\w.:/+=-]{1,128}$/

const exposed = 'content-disposition, etag, link, mcp-session-id, preference-applied, retry-after, x-request-id'
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const headers =
  'authorization, content-encoding, content-type, idempotency-key, if-none-match, last-event-id, mcp-protocol-version, mcp-session-id, prefer, x-request-id'
/** How long a browser may remember a preflight: two hours, the most Chromium takes. */
const preflightSeconds = 7200

/** Origins whose pages may read answers: listed ones, or all. */
export type CorsOrigins = readonly string[] | '*'

/** The answer to a preflight of an allowed origin; undefined for every other request. */
export function preflightReply(request: Request, origins: CorsOrigins): Reply | undefined {
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return undefined
  if (!isAllowed(request, origins)) return undefined
  return reply(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': headers,
      'access-control-max-age': String(preflightSeconds),
    },
  })
}

/**
 * Headers that let the page that asked read the answer, if its origin is allowed. Credentials are never: keys travel as
 * headers.
 */
export function corsHeaders(request: Request, origins: CorsOrigins): Record<string, string> {
  const vary: Record<string, string> = origins === '*' ? {} : { vary: 'origin' }
  if (!isAllowed(request, origins)) return vary
  const origin = origins === '*' ? '*' : (request.headers.get('origin') ?? '')
  return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed }
}

function isAllowed(request: Request, origins: CorsOrigins): boolean {
  const origin = request.headers.get('origin')
  return origin !== null && (origins === '*' || origins.includes(origin))
}
