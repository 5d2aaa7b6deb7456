/** Properties of an error code: HTTP status, default message, and whether a retry may succeed. */
export interface ErrorMeaning {
  readonly status: number
  readonly message: string
  readonly retryable: boolean
}

/**
 * Every `error_code` Inlay can return. The first group is used in HTTP responses, the second is reported only by a run
 * (an `error` packet and the error line of a stream); a few are used in both.
 */
export const errorTable = {
  UNAUTHENTICATED: {
    status: 401,
    message: 'An API key is required: send it as "Authorization: Bearer <key>".',
    retryable: false,
  },
  INVALID_TOKEN: { status: 401, message: 'The API key is unknown or was revoked.', retryable: false },
  INSUFFICIENT_PERMISSIONS: { status: 403, message: 'The caller lacks the permission this needs.', retryable: false },
  DEPLOYMENT_UNSUPPORTED: { status: 403, message: 'This deployment does not offer that.', retryable: false },
  BAD_REQUEST: { status: 400, message: 'The request cannot be carried out as sent.', retryable: true },
  VALIDATION_ERROR: { status: 400, message: 'A value in the request does not fit.', retryable: false },
  INVALID_INPUT: { status: 400, message: 'A value in the request does not fit.', retryable: false },
  MISSING_REQUIRED_FIELD: { status: 400, message: 'A required field is missing.', retryable: false },
  QUERY_REJECTED: { status: 400, message: 'The message was rejected by a rule of this deployment.', retryable: false },
  NOT_FOUND: { status: 404, message: 'There is nothing at this address.', retryable: false },
  CONNECTOR_NOT_FOUND: { status: 404, message: 'No such connector/credential pair.', retryable: false },
  PERSONA_NOT_FOUND: { status: 404, message: 'No such agent.', retryable: false },
  DOCUMENT_NOT_FOUND: { status: 404, message: 'No such document.', retryable: false },
  SESSION_NOT_FOUND: { status: 404, message: 'No such chat session.', retryable: false },
  DOCUMENT_SET_NOT_FOUND: { status: 404, message: 'No such document set.', retryable: false },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This address does not answer that method.', retryable: false },
  CONFLICT: { status: 409, message: 'The request contradicts an earlier one.', retryable: false },
  DUPLICATE_RESOURCE: { status: 409, message: 'Something of that name exists already.', retryable: false },
  GONE: { status: 410, message: 'This address was retired.', retryable: false },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is larger than this address takes.', retryable: false },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The body comes in a form that is not taken here.',
    retryable: false,
  },
  /** The only code whose body is not `{error_code, detail}`: it carries `data.issues`, see {@link ValidationIssue}. */
  VALIDATION_FAILED: { status: 422, message: 'The request does not have the documented shape.', retryable: false },
  RATE_LIMITED: { status: 429, message: 'Too many requests: try again later.', retryable: true },
  INTERNAL_ERROR: {
    status: 500,
    message: 'Something failed on the server; the request id names it in the log.',
    retryable: true,
  },
  NOT_IMPLEMENTED: { status: 501, message: 'This is not available.', retryable: false },
  UNSUPPORTED: { status: 501, message: 'This part does not support that.', retryable: false },
  BAD_GATEWAY: { status: 502, message: 'A service behind this one failed.', retryable: true },
  LLM_PROVIDER_ERROR: { status: 502, message: 'The model provider failed.', retryable: true },
  HOOK_EXECUTION_FAILED: {
    status: 502,
    message: 'A check that this deployment makes of messages failed: try again later.',
    retryable: true,
  },
  SERVICE_UNAVAILABLE: { status: 503, message: 'Not available right now: try again later.', retryable: true },
  GATEWAY_TIMEOUT: { status: 504, message: 'A service behind this one did not answer in time.', retryable: true },
  /** The index on disk was built with another embedding model than the configured one. */
  INDEX_MISMATCH: { status: 500, message: 'The index was built with another embedding model.', retryable: false },
  /** A component was used after it was closed. */
  CLOSED: { status: 503, message: 'This part is closed.', retryable: false },

  RATE_LIMIT: {
    status: 502,
    message: 'The model provider limits the rate of requests: try again in a while.',
    retryable: true,
  },
  BUDGET_EXCEEDED: { status: 502, message: "The model provider's quota or budget is used up.", retryable: false },
  AUTH_ERROR: { status: 502, message: 'The model provider rejected the configured credentials.', retryable: false },
  PERMISSION_DENIED: { status: 502, message: 'The configured credentials may not use this model.', retryable: false },
  UNPROCESSABLE_ENTITY: { status: 502, message: 'The model provider could not process the request.', retryable: true },
  CONTEXT_TOO_LONG: {
    status: 502,
    message: "The conversation does not fit the model's context window.",
    retryable: false,
  },
  CONTENT_POLICY: {
    status: 502,
    message: "The model provider's content policy refused the request.",
    retryable: false,
  },
  REQUEST_TOO_LARGE: { status: 502, message: 'The request is larger than the model provider takes.', retryable: false },
  CONNECTION_ERROR: {
    status: 502,
    message: 'The model provider could not be reached or the connection broke.',
    retryable: true,
  },
  API_ERROR: { status: 502, message: 'The model provider failed.', retryable: true },
  MODEL_REFUSAL: { status: 502, message: 'The model declined to answer.', retryable: false },
  EMPTY_LLM_RESPONSE: { status: 502, message: 'The model ended without an answer.', retryable: true },
  UNKNOWN_ERROR: { status: 500, message: 'The run failed for a reason that was not expected.', retryable: true },
} as const

/** A key of {@link errorTable}. */
export type ErrorCode = keyof typeof errorTable

/** One validation issue: `loc` begins with `body`, `query` or `path`; `type` uses pydantic's names. */
export interface ValidationIssue {
  /** Location of the issue: `body`, `query` or `path`, then field names and positions. */
  readonly loc: readonly string[]
  /** Description of the issue. */
  readonly msg: string
  /** Kind of the issue, with pydantic's name. */
  readonly type: string
}

const marker: unique symbol = Symbol.for('inlay.error') as never

/** Options of an {@link InlayError} besides its code. */
export interface InlayErrorOptions {
  /** Describes the failure and how to fix it, without user content, keys or SQL. Default: the message of the code. */
  readonly message?: string
  readonly cause?: unknown
  /** Machine-readable details: `issues` for VALIDATION_FAILED, `retryAfterSeconds` for RATE_LIMITED, … */
  readonly data?: Readonly<Record<string, unknown>>
  /** Whether a retry may succeed. Default: that of the code. */
  readonly retryable?: boolean
}

/** The only error class of Inlay. Test with {@link isInlayError}, not `instanceof`: a bundle may contain two copies. */
export class InlayError extends Error {
  readonly code: ErrorCode
  readonly data: Readonly<Record<string, unknown>>
  readonly retryable: boolean

  constructor(code: ErrorCode, options: InlayErrorOptions = {}) {
    super(
      options.message ?? errorTable[code].message,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'InlayError'
    this.code = code
    this.data = options.data ?? {}
    this.retryable = options.retryable ?? errorTable[code].retryable
    Object.defineProperty(this, marker, { value: true })
  }

  /** HTTP status of the code. */
  get status(): number {
    return errorTable[this.code].status
  }
}

/** Whether a value is an {@link InlayError}, including one from another copy of this package. */
export function isInlayError(value: unknown): value is InlayError {
  return typeof value === 'object' && value !== null && marker in value
}

/** @param limit name in the option `limits` @throws RATE_LIMITED if what is added to what is stored exceeds it */
export function checkQuota(
  limit: string,
  { used, added, max = Infinity, unit }: { used: number; added: number; max: number | undefined; unit: string },
): void {
  if (added <= 0 || used + added <= max) return
  const [stored, allowed, more] = [used, max, added].map((count) => count.toLocaleString('en'))
  const message = `${stored} of ${allowed} ${unit} are stored, and ${more} more do not fit: delete some, or ask the operator to raise limits.${limit}.`
  // Waiting does not help, but something may be deleted.
  const data = { retryAfterSeconds: 3600, limit, of: 'tenant', used, max }
  throw new InlayError('RATE_LIMITED', { message, data, retryable: false })
}

/** A name of a request as errors repeat it, which need not be as long as the request. */
const shortName = (name: string): string => (name.length > 100 ? `${name.slice(0, 99)}…` : name)

/** Creates the error for an invalid request, answered as 422 `{detail: [...]}`. */
export function validationFailed(issues: readonly ValidationIssue[]): InlayError {
  const shortened = issues.map((issue) => ({ ...issue, loc: issue.loc.map(shortName) }))
  return new InlayError('VALIDATION_FAILED', { data: { issues: shortened } })
}
