import { InlayError, isInlayError } from '@inlay/protocol'
import { untilAborted } from '@inlay/scheduling'

export interface Bounds {
  /** Name of the component, as the beginning of a sentence. */
  readonly part: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/**
 * Calls a component that may be slow, hang or ignore its signal.
 * @throws InlayError with a message that is safe to show: CLOSED when the signal aborts, GATEWAY_TIMEOUT after the
 * timeout, otherwise the result of `partFailed`; `retryable` if a later call may succeed
 */
export async function boundedCall<Result>(
  call: (signal: AbortSignal) => Promise<Result>,
  { part, timeoutMs, signal }: Bounds,
): Promise<Result> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout
  try {
    return await untilAborted(call(either), either)
  } catch (error) {
    if (signal?.aborted) throw new InlayError('CLOSED', { cause: error, retryable: true })
    if (timeout.aborted)
      throw new InlayError('GATEWAY_TIMEOUT', { message: `${part} did not respond in time.`, cause: error })
    throw partFailed(error, part)
  }
}

/**
 * Whether an error only says that the work was aborted to be done later: by closing, because its lease was lost, or
 * because its index was replaced.
 */
export function isLetGo(error: unknown): boolean {
  return isInlayError(error) && error.code === 'CLOSED' && error.retryable
}

export interface ClassifiedError {
  /** Safe to show: contains no content, key, path or address. */
  readonly reason: string
  /** Whether a component that every document needs is down, so that the document is not the cause. */
  readonly isOutage: boolean
  readonly error: unknown
}

/**
 * Classifies an error. Messages of InlayErrors are safe to show; for other errors only the failed component is named.
 * @param part the component, as the beginning of a sentence
 */
export function classifyError(error: unknown, part: string): ClassifiedError {
  if (isInlayError(error)) return { reason: error.message, isOutage: error.retryable, error }
  return { reason: `${part} failed; see the server log for the reason.`, isOutage: isPassing(error), error }
}

/** Whether an error is marked as temporary by a provider, `fetch` or an abort signal. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('isRetryable' in error) return error.isRetryable === true
  return error.name === 'TimeoutError' || error.name === 'AbortError' || (error.name === 'TypeError' && !!error.cause)
}

export function partFailed(error: unknown, part: string): InlayError {
  const { reason, isOutage } = classifyError(error, part)
  return new InlayError(isInlayError(error) ? error.code : 'INTERNAL_ERROR', {
    message: reason,
    cause: error,
    retryable: isOutage,
  })
}
