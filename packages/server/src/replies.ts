import { InlayError, isInlayError } from '@inlay/protocol'

/** A JSON response; undefined is sent as `null`. */
export function jsonResponse(body: unknown, init: ResponseInit = {}): Response {
  const headers = new Headers(init.headers)
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(body ?? null), { ...init, headers })
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

/** Response for an error, with the headers its status asks for. */
export function errorResponse(error: InlayError, requestId: string): Response {
  const headers = new Headers()
  if (error.status === 401) {
    headers.set(
      'www-authenticate',
      `Bearer realm="inlay"${error.code === 'INVALID_TOKEN' ? ', error="invalid_token"' : ''}`,
    )
  }
  const allow = error.data['allow']
  if (error.code === 'METHOD_NOT_ALLOWED' && typeof allow === 'string') headers.set('allow', allow)
  const retryAfterSeconds = error.data['retryAfterSeconds']
  if (typeof retryAfterSeconds === 'number')
    headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterSeconds))))
  return jsonResponse(errorBody(error, requestId), { status: error.status, headers })
}
