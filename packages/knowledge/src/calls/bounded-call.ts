import { InlayError } from '@inlay/protocol'
import { untilAborted } from '@inlay/protocol/concurrency'
import { partFailed } from './failures.ts'

/** How a call of a part that is handed in is bounded. */
export interface Bounds {
  /** What is called, in words that begin a sentence. */
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
