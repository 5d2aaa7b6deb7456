import { InlayError, isInlayError } from '@inlay/protocol'

/** What a failed try means for the documents it was for. */
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
