import { setTimeout as delay } from 'node:timers/promises'
import { isInlayError, type InlayError } from '@inlay/protocol'
import { tlsFault } from './tls-fault.ts'

export interface RetryOptions {
  /** Maximum number of attempts, at least 1. Default 4. */
  readonly attempts?: number
  /** Maximum wait between two attempts, in milliseconds; if a service asks for more, the call fails. Default 30 000. */
  readonly maxWaitMs?: number
  /** Sleeps between two attempts; rejects when the signal aborts. */
  readonly sleep?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Names of the options that all parts with a service behind them take. */
export const serviceOptions = 'headers timeoutMs attempts maxWaitMs sleep'

/** Repeats a call while it fails with a retryable `InlayError`, waiting as the service asks; then throws the error. */
export async function retrying<Result>(
  call: () => Promise<Result>,
  signal: AbortSignal | undefined,
  {
    attempts = 4,
    maxWaitMs = 30_000,
    maxTotalMs = Infinity,
    sleep = (delayMs, aborted) => delay(delayMs, undefined, { signal: aborted }),
  }: RetryOptions & { readonly maxTotalMs?: number },
): Promise<Result> {
  const began = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      signal?.throwIfAborted()
      if (!isInlayError(error) || !error.retryable || attempt >= attempts) throw error
      // A certificate that is refused stays so, and whatever else the operator has to change.
      const isLasting = error.data['isForOperator'] === true || tlsFault(error, '') !== undefined
      if (isLasting || performance.now() - began > maxTotalMs) throw error
      const delayMs = delayAfter(error, attempt)
      if (delayMs > maxWaitMs) throw error
      await sleep(delayMs, signal)
    }
  }
}

/** As the server asks, or half a second, doubled for each attempt; with 20 % jitter to spread clients. */
function delayAfter(error: InlayError, attempt: number): number {
  const requestedSeconds = error.data['retryAfterSeconds']
  if (typeof requestedSeconds === 'number') return requestedSeconds * 1000
  return 500 * 2 ** (attempt - 1) * (0.8 + 0.4 * Math.random())
}
