export interface ErrorMeaning {
  readonly status: number
  readonly message: string
  readonly retryable: boolean
}

/**
 * Every `error_code` Inlay can return. The first group is used in HTTP responses, the second is reported only by a run
 * (an `error` packet and the error line of a stream); a few are used in both. A retry may succeed where it says so.
 */
const meanings = {
  UNAUTHENTICATED: [401, 'An API key is required: send it as "Authorization: Bearer <key>".'],
  INVALID_TOKEN: [401, 'The API key is unknown or was revoked.'],
  INSUFFICIENT_PERMISSIONS: [403, 'The caller lacks the permission this needs.'],
  DEPLOYMENT_UNSUPPORTED: [403, 'This deployment does not offer that.'],
  BAD_REQUEST: [400, 'The request cannot be carried out as sent.', 'retry'],
  VALIDATION_ERROR: [400, 'A value in the request does not fit.'],
  INVALID_INPUT: [400, 'A value in the request does not fit.'],
  MISSING_REQUIRED_FIELD: [400, 'A required field is missing.'],
  QUERY_REJECTED: [400, 'The message was rejected by a rule of this deployment.'],
  NOT_FOUND: [404, 'There is nothing at this address.'],
  CONNECTOR_NOT_FOUND: [404, 'No such connector/credential pair.'],
  PERSONA_NOT_FOUND: [404, 'No such agent.'],
  DOCUMENT_NOT_FOUND: [404, 'No such document.'],
  SESSION_NOT_FOUND: [404, 'No such chat session.'],
  DOCUMENT_SET_NOT_FOUND: [404, 'No such document set.'],
  METHOD_NOT_ALLOWED: [405, 'This address does not answer that method.'],
  CONFLICT: [409, 'The request contradicts an earlier one.'],
  DUPLICATE_RESOURCE: [409, 'Something of that name exists already.'],
  GONE: [410, 'This address was retired.'],
  PAYLOAD_TOO_LARGE: [413, 'The body is larger than this address takes.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The body comes in a form that is not taken here.'],
  /** The only code whose body is not `{error_code, detail}`: it carries `data.issues`, see {@link ValidationIssue}. */
  VALIDATION_FAILED: [422, 'The request does not have the documented shape.'],
  RATE_LIMITED: [429, 'Too many requests: try again later.', 'retry'],
  INTERNAL_ERROR: [500, 'Something failed on the server; the request id names it in the log.', 'retry'],
  NOT_IMPLEMENTED: [501, 'This is not available.'],
  UNSUPPORTED: [501, 'This part does not support that.'],
  BAD_GATEWAY: [502, 'A service behind this one failed.', 'retry'],
  LLM_PROVIDER_ERROR: [502, 'The model provider failed.', 'retry'],
  HOOK_EXECUTION_FAILED: [502, 'A check that this deployment makes of messages failed: try again later.', 'retry'],
  SERVICE_UNAVAILABLE: [503, 'Not available right now: try again later.', 'retry'],
  GATEWAY_TIMEOUT: [504, 'A service behind this one did not answer in time.', 'retry'],
  /** The index on disk was built with another embedding model than the configured one. */
  INDEX_MISMATCH: [500, 'The index was built with another embedding model.'],
  /** A component was used after it was closed. */
  CLOSED: [503, 'This part is closed.'],

  RATE_LIMIT: [502, 'The model provider limits the rate of requests: try again in a while.', 'retry'],
  BUDGET_EXCEEDED: [502, "The model provider's quota or budget is used up."],
  AUTH_ERROR: [502, 'The model provider rejected the configured credentials.'],
  PERMISSION_DENIED: [502, 'The configured credentials may not use this model.'],
  UNPROCESSABLE_ENTITY: [502, 'The model provider could not process the request.', 'retry'],
  CONTEXT_TOO_LONG: [502, "The conversation does not fit the model's context window."],
  CONTENT_POLICY: [502, "The model provider's content policy refused the request."],
  REQUEST_TOO_LARGE: [502, 'The request is larger than the model provider takes.'],
  CONNECTION_ERROR: [502, 'The model provider could not be reached or the connection broke.', 'retry'],
  API_ERROR: [502, 'The model provider failed.', 'retry'],
  MODEL_REFUSAL: [502, 'The model declined to answer.'],
  EMPTY_LLM_RESPONSE: [502, 'The model ended without an answer.', 'retry'],
  UNKNOWN_ERROR: [500, 'The run failed for a reason that was not expected.', 'retry'],
} as const

export type ErrorCode = keyof typeof meanings

type Row = readonly [status: number, message: string, retry?: 'retry']

const toMeaning = ([status, message, retry]: Row): ErrorMeaning => ({ status, message, retryable: retry === 'retry' })

export const errorTable: Readonly<Record<ErrorCode, ErrorMeaning>> = Object.fromEntries(
  Object.entries<Row>(meanings).map(([code, row]) => [code, toMeaning(row)]),
) as Record<ErrorCode, ErrorMeaning>

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
