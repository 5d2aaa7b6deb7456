import { errorTable, InlayError, isInlayError, type ErrorCode } from '@inlay/protocol'
import { reasonOf, signsOf, type FailureSigns } from './failure-signs.ts'

/** Why a run failed, in words that anyone may read: the content of the `error` packet and the error line. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>> | null
}

/** The model that was called, for `details`. */
export interface FailureContext {
  /** Name of the model, as a client gives it. */
  readonly model?: string
  /** Configured name of its provider. */
  readonly provider?: string
  readonly modelIndex?: number
  /** Names the request in the log. */
  readonly requestId?: string
}

export interface StepEnd {
  /** The finish part's reason; undefined when the stream ended without one. */
  readonly finishReason?: { readonly unified: string; readonly raw?: string | undefined } | undefined
  /** Whether the step produced text or a tool call. */
  readonly saidAnything: boolean
  /** The tool choice the model was given, for `details`. */
  readonly toolChoice?: string
}

const contextTooLong =
  /context.?length|context.?window|context.?size|context.?limit|context overflow|prompt (?:is )?too (?:long|large)|input is too long|too many (?:input )?tokens|maximum (?:number of tokens|model length|sequence length|prompt length|allowed (?:input )?length)|max_model_len|(?:input|prompt) token count|tokens? exceeds? the configured limit|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?token limit|string_above_max_length|reduce the length|model token limit|exceeds max length|range of input length|less than \d+ tokens|truncate prompt with n_keep|max size: \d+ tokens|tokens? \+ `?max_new_tokens/i
/** A token limit per time: the prompt becomes acceptable by waiting, unless it alone exceeds the limit. */
const limitsRate = /rate.?limit|throttl|please wait|(?:tokens|requests) per (?:min|hour|day)/i
const overRate = /request too large for .{0,200}tokens per min.{0,20}limit (\d{1,12}).{0,60}requested (\d{1,12})/i
const quotaUsedUp =
  /insufficient.?(?:quota|balance|funds|credit)|exceeded your current quota|billing|credit balance|out of credits?|budget.{0,20}exceeded|exceeded.{0,20}budget|payment required|spend(?:ing)? (?:cap|limit)|usage limit/i
const policyRefused =
  /content.?(?:policy|filter|management)|responsible.?ai|safety (?:system|filter|setting|reason)|violat\w+ .{0,40}polic|usage polic|moderation|flagged|prohibited.?content|invalid_prompt|guardrail/i
const unknownModel =
  /\b(?:invalid|unknown|no such) model\b|\bmodel [`'"\\]{0,4}[\w./:@-]{0,200}[`'"\\]{0,4} ?(?:is )?(?:does not exist|not found|not exist)|is not a valid model id|model_not_(?:found|exist)/i
const wrongRegion =
  /unsupported_country|(?:country|region|territory|location) (?:is )?not supported|not available in your (?:country|region)/i
/** LiteLLM's error for an unknown key when it has no database to look it up. */
const unknownKey = /no_db_connection/
const connectionBroken =
  /ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR|CERT_|SELF_SIGNED|ERR_TLS|socket|fetch failed|\bterminated\b|network|timed? ?out|cannot connect|premature|without a finish reason/i
const nameOfAbort = /AbortError|ResponseAborted/

/** Types and codes in error bodies and streams, for errors without an HTTP status. */
const namedCauses: readonly (readonly [RegExp, ErrorCode])[] = [
  [/rate.?limit|too.?many.?requests|resource_exhausted|throttl/i, 'RATE_LIMIT'],
  [
    /authentication_error|invalid_api_key|invalid.?authentication|unauthenticated|incorrect api key|LoadAPIKey/i,
    'AUTH_ERROR',
  ],
  [/permission_error|permission_denied|access_denied/i, 'PERMISSION_DENIED'],
  [/not_found_error|model_not_found|NoSuchModel/i, 'NOT_FOUND'],
  [/request_too_large|payload too large/i, 'REQUEST_TOO_LARGE'],
  [/overloaded|service.?unavailable|temporarily unavailable/i, 'SERVICE_UNAVAILABLE'],
  [/timeout_error/i, 'CONNECTION_ERROR'],
  [/invalid_request_error|UnsupportedFunctionality|InvalidPrompt|InvalidArgument/i, 'BAD_REQUEST'],
  [/api_error|server_error|internal error/i, 'API_ERROR'],
]

const statusCodes: Readonly<Record<number, ErrorCode>> = {
  400: 'BAD_REQUEST',
  401: 'AUTH_ERROR',
  402: 'BUDGET_EXCEEDED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'CONNECTION_ERROR',
  413: 'REQUEST_TOO_LARGE',
  422: 'UNPROCESSABLE_ENTITY',
  429: 'RATE_LIMIT',
  503: 'SERVICE_UNAVAILABLE',
  504: 'CONNECTION_ERROR',
  524: 'CONNECTION_ERROR',
  529: 'SERVICE_UNAVAILABLE',
}

const refusals = new Set(
  `content_filter content-filter content_filtered refusal sensitive guardrail_intervened safety recitation blocklist
  prohibited_content spii language other model_armor content_blocked error_toxic image_safety image_prohibited_content
  image_recitation image_other`.split(/\s+/),
)

function codeOf({ status, text, names }: FailureSigns): ErrorCode {
  const isAnswer = status === undefined || status >= 400
  const mayBeRefused = status === undefined || (status >= 400 && status < 500 && status !== 401 && status !== 404)
  if (mayBeRefused && isTooLong(status, text)) return 'CONTEXT_TOO_LONG'
  if (mayBeRefused && quotaUsedUp.test(text)) return 'BUDGET_EXCEEDED'
  if (mayBeRefused && status !== 429 && policyRefused.test(text)) return 'CONTENT_POLICY'
  if (status === 400 && unknownModel.test(text)) return 'NOT_FOUND'
  if (status === 400 && (unknownKey.test(text) || /api[ _]key not valid/i.test(text))) return 'AUTH_ERROR'
  if (status === 400 && wrongRegion.test(text)) return 'PERMISSION_DENIED'
  if (status !== undefined && status >= 400) return statusCodes[status] ?? (status >= 500 ? 'API_ERROR' : 'BAD_REQUEST')
  if (nameOfAbort.test(names) || connectionBroken.test(text)) return 'CONNECTION_ERROR'
  const named = isAnswer ? namedCauses.find(([pattern]) => pattern.test(`${names} ${text}`)) : undefined
  return named?.[1] ?? 'API_ERROR'
}

function isTooLong(status: number | undefined, text: string): boolean {
  const [, limit, requested] = overRate.exec(text) ?? []
  if (limit !== undefined) return Number(requested) > Number(limit)
  return status !== 429 && contextTooLong.test(text) && !limitsRate.test(text)
}

/** The person who reads it may be this one. */
const whoever = 'Whoever runs this assistant'

/** Advice for users by error code. Only the operator sees the provider's own message. */
const advice: Partial<Record<ErrorCode, string>> = {
  API_ERROR: 'Try again in a while.',
  AUTH_ERROR: `${whoever} sets them in INLAY_MODEL_API_KEY or the variable of the provider.`,
  BUDGET_EXCEEDED: `${whoever} can raise it at the provider, or set another model.`,
  CONNECTION_ERROR: 'Try again in a while.',
  CONTENT_POLICY: 'Put it in other words.',
  CONTEXT_TOO_LONG: `Send a shorter message, or begin a new chat. ${whoever} can set how much the model takes (INLAY_MODEL_CONTEXT_TOKENS).`,
  PERMISSION_DENIED: `${whoever} can allow it at the provider, or set another key.`,
  REQUEST_TOO_LARGE: 'Send a shorter message or smaller files, or begin a new chat.',
  UNPROCESSABLE_ENTITY: `Begin a new chat or choose another model. ${whoever} finds the reason in the log.`,
}

function messageOf(code: ErrorCode, model: string, { text, retryAfterSeconds }: FailureSigns): string {
  if (code === 'RATE_LIMIT' && retryAfterSeconds)
    return errorTable[code].message.replace('in a while', `in ${inWords(retryAfterSeconds)}`)
  if (code === 'PERMISSION_DENIED' && wrongRegion.test(text))
    return `The model provider does not serve the region of this server. ${whoever} can choose another provider or region.`
  if (code === 'NOT_FOUND') return `The model provider does not know ${model}. Choose another model.`
  if (code === 'BAD_REQUEST') return `The model provider rejected the request. ${advice.UNPROCESSABLE_ENTITY}`
  if (code === 'SERVICE_UNAVAILABLE') return 'The model provider is not available right now: try again in a while.'
  const next = advice[code]
  return next === undefined ? errorTable[code].message : `${errorTable[code].message} ${next}`
}

function inWords(seconds: number): string {
  if (seconds < 100) return `${seconds} second${seconds === 1 ? '' : 's'}`
  return seconds < 6_000 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3_600)} hours`
}

const detailsOf = (context: FailureContext, more: Record<string, unknown> = {}): Failure['details'] => {
  const known = {
    model: context.model,
    provider: context.provider,
    model_index: context.modelIndex,
    request_id: context.requestId,
    ...more,
  }
  const entries = Object.entries(known).filter(([, value]) => value !== undefined)
  return entries.length > 0 ? Object.fromEntries(entries) : null
}

/**
 * Describes the failure of a model, or of anything else in a run. Understands errors of AI SDK providers (status, body,
 * causes), errors inside a stream, broken connections and timeouts; an InlayError keeps its message. The message says
 * what people can do and never quotes the provider. `details.retry_after_seconds` is set when the provider stated a
 * wait. Anything unknown is UNKNOWN_ERROR without the error's text: see {@link reportFailure}.
 */
export function toFailure(error: unknown, context: FailureContext = {}): Failure {
  if (isInlayError(error)) {
    const { code, message, retryable } =
      error.data['isForOperator'] === true ? new InlayError('SERVICE_UNAVAILABLE') : error
    return { code, message, retryable, details: detailsOf(context) }
  }
  const signs = signsOf(error)
  if (!signs.isOfProvider) {
    const { message, retryable } = errorTable.UNKNOWN_ERROR
    return { code: 'UNKNOWN_ERROR', message, retryable, details: detailsOf(context) }
  }
  const code = codeOf(signs)
  const message = messageOf(code, context.model === undefined ? 'this model' : `the model ${context.model}`, signs)
  const retryable = code === 'NOT_FOUND' ? false : errorTable[code].retryable
  return { code, message, retryable, details: detailsOf(context, { retry_after_seconds: signs.retryAfterSeconds }) }
}

/**
 * Reports a failure to the operator. A provider's failure becomes an InlayError with `data.isExpected`, whose message
 * names provider and model and quotes the provider, shortened and without credentials. Other errors are passed on
 * unchanged. An InlayError is only reported if it advises the operator: any other message went to the caller.
 */
export function reportFailure(error: unknown, context: FailureContext, onError: (error: unknown) => void): void {
  if (isInlayError(error)) return error.data['isForOperator'] === true ? onError(error) : undefined
  const signs = signsOf(error)
  if (!signs.isOfProvider) return onError(error)
  const { code } = toFailure(error, context)
  const name = [context.provider, context.model].filter((part) => part !== undefined).join('/')
  const status = signs.status === undefined ? '' : ` (HTTP ${signs.status})`
  const reason = reasonOf(signs) ?? reasonOf({ said: error instanceof Error ? error.message : undefined })
  const quoted = reason === undefined ? '' : ` It says: ${reason}`
  const message = `${name === '' ? 'The model' : name}: ${code}${status}.${quoted}`
  onError(new InlayError(code, { message, cause: error, data: { isExpected: true } }))
}

/** A step that threw nothing may have broken off, been empty or refused; undefined when it is fine. */
export function stepFailure(end: StepEnd, context: FailureContext = {}): Failure | undefined {
  const { finishReason, saidAnything } = end
  const more = { tool_choice: end.toolChoice, finish_reason: finishReason?.raw ?? finishReason?.unified }
  const failure = (code: ErrorCode, message: string = errorTable[code].message): Failure => ({
    code,
    message,
    retryable: errorTable[code].retryable,
    details: detailsOf(context, more),
  })
  if (!finishReason || finishReason.unified === 'interrupted')
    return failure('CONNECTION_ERROR', 'The answer of the model broke off before its end.')
  if (finishReason.unified === 'error') return failure('API_ERROR')
  if (saidAnything) return undefined
  const isRefusal =
    finishReason.unified === 'content-filter' ||
    (finishReason.raw !== 'other' && refusals.has(finishReason.raw?.toLowerCase() ?? ''))
  if (isRefusal) return failure('MODEL_REFUSAL')
  if (finishReason.unified === 'length')
    return failure('EMPTY_LLM_RESPONSE', 'The model used up its output limit before it said anything.')
  return failure('EMPTY_LLM_RESPONSE')
}
