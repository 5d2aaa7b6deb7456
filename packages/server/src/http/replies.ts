import { InlayError, isInlayError, wellFormedJson, type RateLimitedBody } from '@inlay/protocol'
import { createSlices, type Slices } from '@inlay/scheduling'

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

/** Default: 200 without headers. */
export type ReplyOptions = Partial<Pick<Reply, 'status' | 'headers' | 'endsWithKey'>>

export function reply(body: Reply['body'], options: ReplyOptions = {}): Reply {
  const { status = 200, headers = {}, endsWithKey = false } = options
  return { [mark]: true, status, headers, body, endsWithKey }
}

/** Creates a JSON reply; undefined is sent as `null`. */
export function jsonReply(value: unknown, options: ReplyOptions = {}): Reply {
  return jsonBody(wellFormedJson(value ?? null), options)
}

/** Longer JSON is sent as a stream, in characters. */
const longJson = 2 ** 20

const partsAtOnce = 64

/** Creates the JSON reply of an object that may be long. Others get their turn between the entries of its lists. */
export async function longJsonReply(value: object): Promise<Reply> {
  const slices = createSlices({ isAwaited: true })
  const parts = await jsonParts(value, slices)
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length < longJson) return jsonBody(parts.join(''))
  const encoder = new TextEncoder()
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (slices.isOver()) await slices.next()
      const batch = parts.slice(sent, (sent += partsAtOnce))
      if (batch.length === 0) return controller.close()
      controller.enqueue(encoder.encode(batch.join('')))
    },
  })
  return jsonBody(body)
}

/** JSON of an object, cut between the entries of the lists in its fields and of lists in these. */
async function jsonParts(whole: object, slices: Slices): Promise<string[]> {
  const parts: string[] = []
  const add = async (prefix: string, value: unknown): Promise<void> => {
    if (slices.isOver()) await slices.next()
    if (!Array.isArray(value)) return void parts.push(prefix + wellFormedJson(value ?? null))
    parts.push(`${prefix}[`)
    for (const [index, entry] of value.entries()) await add(index === 0 ? '' : ',', entry)
    parts.push(']')
  }
  for (const [name, value] of Object.entries(whole))
    if (value !== undefined) await add(`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`, value)
  parts.push(parts.length === 0 ? '{}' : '}')
  return parts
}

function jsonBody(body: Reply['body'], { status = 200, headers }: ReplyOptions = {}): Reply {
  return { [mark]: true, status, headers: { ...headers, 'content-type': 'application/json' }, body, endsWithKey: false }
}

/** Converts a handler's result to a reply: JSON, or no body where the route's status is 204. */
export function toReply(answer: unknown, status?: number): Reply {
  if (typeof answer === 'object' && answer !== null && mark in answer) return answer as Reply
  return status === 204 ? reply(null, { status }) : jsonReply(answer)
}

/**
 * Converts a thrown value to an InlayError; any other value becomes an INTERNAL_ERROR without details. Advice that only
 * the operator can follow goes to the log alone.
 */
export function toErrorReport(thrown: unknown): { readonly error: InlayError; readonly unexpected: boolean } {
  if (isInlayError(thrown) && thrown.data['isForOperator'] === true)
    return { error: new InlayError('SERVICE_UNAVAILABLE', { data: thrown.data, cause: thrown }), unexpected: true }
  if (isInlayError(thrown)) return { error: thrown, unexpected: thrown.status === 500 }
  return { error: new InlayError('INTERNAL_ERROR', { cause: thrown }), unexpected: true }
}

/** `{detail: [issues]}` for an invalid request, otherwise `{error_code, detail}`, with more fields for a 429. */
export function errorBody(error: InlayError, requestId: string): Record<string, unknown> {
  if (error.code === 'VALIDATION_FAILED') return { detail: error.data['issues'] ?? [] }
  return {
    error_code: error.code,
    detail: error.message,
    ...(error.status >= 500 ? { request_id: requestId } : {}),
    ...(error.status === 429 ? whenToRetry(error) : {}),
  }
}

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

export function errorReply(error: InlayError, requestId: string): Reply {
  return jsonReply(errorBody(error, requestId), { status: error.status, headers: errorHeaders(error) })
}

/** Default `Retry-After` of a 503. */
const outageSeconds = '2'

export function errorHeaders(error: InlayError): Record<string, string> {
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
