import { InlayError, type ErrorCode } from '@inlay/protocol'
import { errorHeaders, jsonReply, type Reply } from '@inlay/server'

/** Codes that clients and gateways act on. */
const knownCodes: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: 'invalid_api_key',
  INVALID_TOKEN: 'invalid_api_key',
  PERSONA_NOT_FOUND: 'model_not_found',
  RATE_LIMITED: 'rate_limit_exceeded',
  RATE_LIMIT: 'rate_limit_exceeded',
  BUDGET_EXCEEDED: 'insufficient_quota',
  CONTEXT_TOO_LONG: 'context_length_exceeded',
  CONTENT_POLICY: 'content_filter',
}

/** Statuses other than those of the code: clients read 409 as "try again", and 422 as no fault of a field. */
const ownStatuses: Partial<Record<ErrorCode, number>> = {
  VALIDATION_FAILED: 400,
  CONFLICT: 400,
  DUPLICATE_RESOURCE: 400,
  CONTEXT_TOO_LONG: 400,
  CONTENT_POLICY: 400,
  REQUEST_TOO_LARGE: 413,
  RATE_LIMIT: 429,
  BUDGET_EXCEEDED: 429,
}

function statusOf({ code, status }: InlayError): number {
  return ownStatuses[code] ?? status
}

/** The error as an object, for bodies and streams. `data` of the error may give another `openaiCode` and `param`. */
export function toApiError(error: InlayError): {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
} {
  const { code, message, data } = error
  const issues = (code === 'VALIDATION_FAILED' && Array.isArray(data['issues']) ? data['issues'] : []) as readonly {
    readonly loc: readonly string[]
    readonly msg: string
    readonly type: string
  }[]
  const [first] = issues
  const path = first?.loc.slice(1).join('.') || null
  const own = { code: data['openaiCode'], param: data['param'] }
  const missing = first?.type === 'missing' ? 'missing_required_parameter' : 'invalid_value'
  return {
    message: first ? `${path ?? 'The body'} ${first.msg}.` : message,
    type: typeOf(error),
    param: typeof own.param === 'string' ? own.param : path,
    code: typeof own.code === 'string' ? own.code : (knownCodes[code] ?? (first ? missing : null)),
  }
}

function typeOf(error: InlayError): string {
  if (error.code === 'BUDGET_EXCEEDED') return 'insufficient_quota'
  const status = statusOf(error)
  if (status === 429) return 'rate_limit_error'
  if (status === 403) return 'permission_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

/** The reply for an error. Clients send a request up to seven times, unless they are told that it is of no use. */
export function toErrorReply(error: InlayError): Reply {
  const status = statusOf(error)
  const isHopeless = (status >= 500 || status === 429) && !error.retryable
  return jsonReply(
    { error: toApiError(error) },
    { status, headers: { ...errorHeaders(error), ...(isHopeless && { 'x-should-retry': 'false' }) } },
  )
}

/** An error of one field, named as OpenAI names it. */
export function invalid(param: string, message: string, code = 'invalid_value'): InlayError {
  return new InlayError('INVALID_INPUT', { message, data: { param, openaiCode: code } })
}
