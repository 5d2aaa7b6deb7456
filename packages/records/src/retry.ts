/** When a failing job is given up. */
export interface RetryPolicy {
  /** Attempts for a job that fails alone. */
  readonly maxAttempts: number
  /** Attempts while a required service is down: an outage may last hours. */
  readonly maxOutageAttempts: number
}

const firstDelayMs = 1000
const maxDelayMs = 5 * 60_000

/**
 * Delay before the next attempt: doubles from one second to five minutes, ± 25 %, so that documents that failed
 * together are not retried together.
 * @param failed number of failed attempts, at least 1
 * @param random a number in [0, 1)
 */
export function retryDelayMs(failed: number, random: number): number {
  return Math.round(Math.min(firstDelayMs * 2 ** (failed - 1), maxDelayMs) * (0.75 + random / 2))
}

/** Interruptions without a delay: processes are restarted, usually not because of a document. */
const freeInterruptions = 4
/** A document during whose indexing the process ended this often is considered the cause, and is given up. */
export const maxInterruptions = 20

/** Upper bound, so that frequent restarts do not delay harmless documents for long. */
const maxInterruptionDelayMs = 15_000

/** Delay after an attempt during which the process ended; see {@link retryDelayMs}. */
export function interruptionDelayMs(interruptions: number): number {
  if (interruptions <= freeInterruptions) return 0
  return Math.min(1000 * 2 ** (interruptions - freeInterruptions - 1), maxInterruptionDelayMs)
}
