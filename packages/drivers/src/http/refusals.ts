import { InlayError, type ErrorCode } from '@inlay/protocol'
import { tlsFault } from './tls-fault.ts'

/** A refused request: status, headers and body, and the service as the start of a sentence: `The embedding service`. */
export interface Refusal {
  readonly subject: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly cause?: unknown
}

type Meaning = readonly [code: ErrorCode, sentence: string]

export type Meanings = Readonly<Record<number, Meaning>>

const tooSlow: Meaning = ['GATEWAY_TIMEOUT', 'did not answer in time.']
const badTexts: Meaning = ['UNPROCESSABLE_ENTITY', 'refused the texts: check the model, and that they fit its limit.']
const noQuota: Meaning = ['BUDGET_EXCEEDED', 'has used up its quota or budget.']

const meanings: Meanings = {
  400: badTexts,
  401: ['AUTH_ERROR', 'rejected the configured API key.'],
  402: noQuota,
  403: ['PERMISSION_DENIED', 'does not open this model to the configured API key.'],
  404: ['NOT_FOUND', 'knows no such model or address: check the model and the base URL.'],
  408: tooSlow,
  413: ['REQUEST_TOO_LARGE', 'takes no request as large as this: lower the batch size.'],
  422: badTexts,
  429: ['RATE_LIMIT', 'limits the rate of requests.'],
  503: ['SERVICE_UNAVAILABLE', 'is not available right now.'],
  504: tooSlow,
}

/**
 * Omits the response text, which may quote texts or the key. `data` has the `status`, and `retryAfterSeconds` if sent.
 * @param meant the status that says what the refusal means
 */
export function refusalOf(
  { subject, status, headers, text, cause }: Refusal,
  own: Meanings = {},
  meant: number = status,
): InlayError {
  const isQuota = status === 429 && /insufficient_quota|billing|credit/i.test(text)
  const other: Meaning =
    status < 400 ? ['API_ERROR', 'points to another address: set the base URL to that.'] : ['API_ERROR', 'failed.']
  const [code, sentence] = (isQuota ? noQuota : (own[meant] ?? meanings[meant])) ?? other
  const retryAfterSeconds = retryAfter(headers)
  return new InlayError(code, {
    message: `${subject} ${sentence}`,
    cause,
    data: { status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
    retryable: !isQuota && (status === 408 || status === 429 || status >= 500),
  })
}

/** Seconds of `retry-after`, which holds seconds or a date. */
export function retryAfter(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (milliseconds >= 0) return milliseconds / 1000
  const text = headers.get('retry-after')
  if (!text) return undefined
  const seconds = Number(text)
  if (seconds >= 0) return seconds
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000)
}

export function unreached(subject: string, cause: unknown): string {
  const fault = tlsFault(cause, 'its base URL')
  return fault
    ? `${subject} could not be reached. ${fault}`
    : `${subject} could not be reached, or the connection broke.`
}
