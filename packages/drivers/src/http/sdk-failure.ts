import { InlayError, isInlayError } from '@inlay/protocol'

/**
 * Fields of the AI SDK's error for a failed request. `instanceof` does not work, since a host may have another copy of
 * the class.
 */
interface CallFailure {
  readonly statusCode?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
  readonly isRetryable?: boolean
}

/** How a failed request is described. */
export interface FailureWords {
  /** Name of the called service, as the beginning of a sentence. */
  readonly subject: string
  /** Creates the error for a response with an error status. */
  readonly refused: (refusal: {
    readonly status: number
    readonly headers: Headers
    readonly text: string
    readonly cause: unknown
  }) => InlayError
  /** Creates the error for a successful response with unusable content. */
  readonly unusable: (cause: unknown) => InlayError
}

/** Converts an error of an AI SDK model. CONNECTION_ERROR if a retry may succeed, otherwise API_ERROR. */
export function toSdkFailure(error: unknown, { subject, refused, unusable }: FailureWords): InlayError {
  if (isInlayError(error)) return error
  // Every field is optional and checked before use.
  const failure: CallFailure = typeof error === 'object' && error !== null ? error : {}
  const { statusCode: status, responseHeaders, responseBody: text = '', isRetryable } = failure
  if (status !== undefined && (status < 200 || status >= 300))
    return refused({ status, headers: new Headers(responseHeaders), text, cause: error })
  if (status !== undefined) return unusable(error)
  if (isRetryable === true)
    return new InlayError('CONNECTION_ERROR', {
      message: `${subject} could not be reached, or the connection broke.`,
      cause: error,
    })
  return new InlayError('API_ERROR', { message: `${subject} failed.`, cause: error, retryable: false })
}
