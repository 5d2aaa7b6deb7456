import { InlayError, isInlayError } from '@inlay/protocol'
import { unreached } from './refusals.ts'

/** `instanceof` does not work for the AI SDK's error, since a host may have another copy of the class. */
interface CallFailure {
  readonly statusCode?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
  readonly isRetryable?: boolean
}

export interface FailureWords {
  /** Name of the called service, as the beginning of a sentence. */
  readonly subject: string
  readonly refused: (refusal: {
    readonly status: number
    readonly headers: Headers
    readonly text: string
    readonly cause: unknown
  }) => InlayError
  /** Creates the error for a successful response with unusable content. */
  readonly unusable: (cause: unknown) => InlayError
}

/** @throws CONNECTION_ERROR if a retry may succeed, otherwise API_ERROR; GATEWAY_TIMEOUT; the reason of `signal` */
export async function callSdk<Result>(
  call: (signal: AbortSignal) => PromiseLike<Result>,
  { signal, timeoutMs }: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
  words: FailureWords,
): Promise<Result> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    return await call(signal ? AbortSignal.any([signal, timeout]) : timeout)
  } catch (error) {
    signal?.throwIfAborted()
    if (timeout.aborted)
      throw new InlayError('GATEWAY_TIMEOUT', { message: `${words.subject} did not answer in time.`, cause: error })
    throw toSdkFailure(error, words)
  }
}

function toSdkFailure(error: unknown, { subject, refused, unusable }: FailureWords): InlayError {
  if (isInlayError(error)) return error
  // Every field is optional and checked before use.
  const failure: CallFailure = typeof error === 'object' && error !== null ? error : {}
  const { statusCode: status, responseHeaders, responseBody: text = '', isRetryable } = failure
  if (status !== undefined && (status < 200 || status >= 300))
    return refused({ status, headers: new Headers(responseHeaders), text, cause: error })
  if (status !== undefined) return unusable(error)
  if (isRetryable === true)
    return new InlayError('CONNECTION_ERROR', {
      message: unreached(subject, error),
      cause: error,
    })
  return new InlayError('API_ERROR', { message: `${subject} failed.`, cause: error, retryable: false })
}
