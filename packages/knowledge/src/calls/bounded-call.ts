import { InlayError, isInlayError } from '@inlay/protocol'
import { untilAborted } from '@inlay/protocol/concurrency'

/** How a call of a part that is handed in is bounded. */
export interface Bounds {
  /** Name of the called component, as the beginning of a sentence. */
  readonly part: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/**
 * Calls a part that may be slow, hang or not heed its signal.
 * @throws InlayError with a safe message: CLOSED when the signal aborts, GATEWAY_TIMEOUT when the time is up, else what
 * `partFailed` makes of the failure; `retryable` when the part may work later
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
      throw new InlayError('GATEWAY_TIMEOUT', { message: `${part} did not answer in time.`, cause: error })
    throw partFailed(error, part)
  }
}

/** Consequence of a failed attempt for its documents. */
export interface Failure {
  /** Safe to show: no content, key, path or address. */
  readonly reason: string
  /** Whether something that every document needs is down, so that no document is to blame. */
  readonly isOutage: boolean
  readonly error: unknown
}

/**
 * Judges an error. Our own errors carry safe sentences; of others nothing is shown but which part failed.
 * @param part what failed, in words that begin a sentence
 */
export function toFailure(error: unknown, part: string): Failure {
  if (isInlayError(error)) return { reason: error.message, isOutage: error.retryable, error }
  return { reason: `${part} failed; the server log says why.`, isOutage: isPassing(error), error }
}

/** Marks of errors that providers, `fetch` and abort signals use for what may work a moment later. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('isRetryable' in error) return error.isRetryable === true
  return error.name === 'TimeoutError' || error.name === 'AbortError' || (error.name === 'TypeError' && !!error.cause)
}

/** A failure on its way, so that whoever catches it knows which part it came from. */
export function partFailed(error: unknown, part: string): InlayError {
  const { reason, isOutage } = toFailure(error, part)
  return new InlayError(isInlayError(error) ? error.code : 'INTERNAL_ERROR', {
    message: reason,
    cause: error,
    retryable: isOutage,
  })
}
