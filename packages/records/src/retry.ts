/** When a failed job is given up. */
export interface RetryPolicy {
  /** Tries of a job that fails by itself. */
  readonly attemptLimit: number
  /** Tries while something it needs is down: an outage may last hours. */
  readonly outageAttemptLimit: number
}

const firstDelayMs = 1000
const longestDelayMs = 5 * 60_000

/**
 * Waiting time before the next try: doubles from one second to five minutes, ± a quarter, so that documents that
 * failed together do not come back together.
 * @param failed tries so far that failed, at least 1
 * @param random a number in [0, 1)
 */
export function retryDelayMs(failed: number, random: number): number {
  return Math.round(Math.min(firstDelayMs * 2 ** (failed - 1), longestDelayMs) * (0.75 + random / 2))
}

/** Interruptions that cost no waiting: processes are restarted, mostly without a document being the cause. */
const freeInterruptions = 4
/** A document that was being indexed each time the process ended this often is the cause, and is given up. */
export const interruptionLimit = 20

/** A process that is restarted often must not make harmless documents wait long. */
const longestInterruptionDelayMs = 15_000

/** Waiting time after a try that ended with the process; see {@link retryDelayMs}. */
export function interruptionDelayMs(interruptions: number): number {
  if (interruptions <= freeInterruptions) return 0
  return Math.min(1000 * 2 ** (interruptions - freeInterruptions - 1), longestInterruptionDelayMs)
}
