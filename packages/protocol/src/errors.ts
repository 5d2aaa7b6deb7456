/** What a code means: its HTTP status, the sentence used when no better one is at hand, and whether trying again may help. */
export interface ErrorMeaning {
  readonly status: number
  readonly message: string
  readonly retryable: boolean
}

const meaning = (status: number, message: string, retryable = false): ErrorMeaning => ({ status, message, retryable })

/**
 * Every `error_code` Inlay can answer with. The first part are codes of HTTP responses, the second part codes that
 * only a run reports (an `error` packet and the error line of a stream); a few stand for both.
 */
export const errorTable = {
  UNAUTHENTICATED: meaning(401, 'An API key is required: send it as "Authorization: Bearer <key>".'),
  INVALID_TOKEN: meaning(401, 'The API key is not known here or was revoked.'),
  INSUFFICIENT_PERMISSIONS: meaning(403, 'The caller lacks the permission this needs.'),
  DEPLOYMENT_UNSUPPORTED: meaning(403, 'This deployment does not offer that.'),
  BAD_REQUEST: meaning(400, 'The request cannot be carried out as sent.', true),
  VALIDATION_ERROR: meaning(400, 'A value in the request does not fit.'),
  INVALID_INPUT: meaning(400, 'A value in the request does not fit.'),
  MISSING_REQUIRED_FIELD: meaning(400, 'A required field is missing.'),
  QUERY_REJECTED: meaning(400, 'The message was rejected by a rule of this deployment.'),
  NOT_FOUND: meaning(404, 'There is nothing at this address.'),
  CONNECTOR_NOT_FOUND: meaning(404, 'No such connector/credential pair.'),
  PERSONA_NOT_FOUND: meaning(404, 'No such agent.'),
  DOCUMENT_NOT_FOUND: meaning(404, 'No such document.'),
  SESSION_NOT_FOUND: meaning(404, 'No such chat session.'),
  DOCUMENT_SET_NOT_FOUND: meaning(404, 'No such document set.'),
  METHOD_NOT_ALLOWED: meaning(405, 'This address does not answer that method.'),
  CONFLICT: meaning(409, 'The request contradicts an earlier one.'),
  DUPLICATE_RESOURCE: meaning(409, 'Something of that name exists already.'),
  GONE: meaning(410, 'This address was retired.'),
  PAYLOAD_TOO_LARGE: meaning(413, 'The body is larger than this address takes.'),
  /** The only code whose body is not `{error_code, detail}`: it carries `data.issues`, see {@link ValidationIssue}. */
  VALIDATION_FAILED: meaning(422, 'The request does not have the documented shape.'),
  RATE_LIMITED: meaning(429, 'Too many requests: try again later.', true),
  INTERNAL_ERROR: meaning(500, 'Something failed on the server; the request id names it in the log.', true),
  NOT_IMPLEMENTED: meaning(501, 'This is not available.'),
  UNSUPPORTED: meaning(501, 'This part does not support that.'),
  BAD_GATEWAY: meaning(502, 'A service behind this one failed.', true),
  LLM_PROVIDER_ERROR: meaning(502, 'The model provider failed.', true),
  SERVICE_UNAVAILABLE: meaning(503, 'Not available right now: try again later.', true),
  GATEWAY_TIMEOUT: meaning(504, 'A service behind this one did not answer in time.', true),
  /** The index on disk was filled from another embedding space than the one configured. */
  INDEX_MISMATCH: meaning(500, 'The index was built with another embedding model.'),
  /** A part was used after it was closed. */
  CLOSED: meaning(503, 'This part is closed.'),

  RATE_LIMIT: meaning(502, 'The model provider limits the rate of requests: try again in a while.', true),
  BUDGET_EXCEEDED: meaning(502, "The model provider's quota or budget is used up."),
  AUTH_ERROR: meaning(502, 'The model provider rejected the configured credentials.'),
  PERMISSION_DENIED: meaning(502, 'The configured credentials may not use this model.'),
  UNPROCESSABLE_ENTITY: meaning(502, 'The model provider could not process the request.', true),
  CONTEXT_TOO_LONG: meaning(502, "The conversation does not fit the model's context window."),
  CONTENT_POLICY: meaning(502, "The model provider's content policy refused the request."),
  REQUEST_TOO_LARGE: meaning(502, 'The request is larger than the model provider takes.'),
  CONNECTION_ERROR: meaning(502, 'The model provider could not be reached or the connection broke.', true),
  API_ERROR: meaning(502, 'The model provider failed.', true),
  MODEL_REFUSAL: meaning(502, 'The model declined to answer.'),
  EMPTY_LLM_RESPONSE: meaning(502, 'The model ended without an answer.', true),
  UNKNOWN_ERROR: meaning(500, 'The run failed for a reason that was not expected.', true),
} as const satisfies Record<string, ErrorMeaning>

/** A key of {@link errorTable}. */
export type ErrorCode = keyof typeof errorTable

/** One faulty place of a request: `loc` begins with `body`, `query` or `path`; `type` uses pydantic's names. */
export interface ValidationIssue {
  readonly loc: readonly string[]
  readonly msg: string
  readonly type: string
}

const marker: unique symbol = Symbol.for('inlay.error') as never

/** What an {@link InlayError} is made of besides its code. */
export interface InlayErrorOptions {
  /** What failed and what to do about it; no user content, keys or SQL. Default: the sentence of the code. */
  readonly message?: string
  readonly cause?: unknown
  /** Facts for programs: `issues` for VALIDATION_FAILED, `retryAfterSeconds` for RATE_LIMITED, … */
  readonly data?: Readonly<Record<string, unknown>>
  /** Whether trying again may help. Default: as the code says. */
  readonly retryable?: boolean
}

/** The one error class of Inlay. Tell it by {@link isInlayError}, never by `instanceof`: a bundle may hold two copies. */
export class InlayError extends Error {
  readonly code: ErrorCode
  readonly data: Readonly<Record<string, unknown>>
  readonly retryable: boolean

  constructor(code: ErrorCode, options: InlayErrorOptions = {}) {
    super(options.message ?? errorTable[code].message, options.cause === undefined ? undefined : { cause: options.cause })
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

/** Whether a caught value is an {@link InlayError}, also one of another copy of this package. */
export function isInlayError(value: unknown): value is InlayError {
  return typeof value === 'object' && value !== null && marker in value
}

/** An error for a request of the wrong shape: answered as 422 `{detail: [...]}`. */
export function validationFailed(issues: readonly ValidationIssue[]): InlayError {
  return new InlayError('VALIDATION_FAILED', { data: { issues } })
}
