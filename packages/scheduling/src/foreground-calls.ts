/** Calls that somebody waits for. Long-running work yields to them, up to a share of the time. */
export interface ForegroundCalls {
  /** @returns a function that removes the calls again */
  add(areInProgress: () => boolean): () => void
  /**
   * Resolves when no foreground call is in progress, or long-running work has waited for its share of the time.
   * @param areInProgress used in place of the added calls
   */
  yieldTo(areInProgress?: () => boolean): Promise<void>
}

/** Long-running work waits for at most this share of the time; unused waiting time accumulates up to a maximum. */
const [waitingShare, maxSavedMs] = [0.7, 60]
const pollMs = 2

/** @param now a monotonic clock, in milliseconds */
export function createForegroundCalls(now: () => number = () => performance.now()): ForegroundCalls {
  const calls = new Set<() => boolean>()
  /** Remaining waiting time, as of `at`. */
  let credit = { ms: maxSavedMs, at: now() }
  return {
    add: (areInProgress) => {
      calls.add(areInProgress)
      return () => void calls.delete(areInProgress)
    },
    yieldTo: async (areInProgress = () => [...calls].some((call) => call())) => {
      const began = now()
      const saved = Math.min(maxSavedMs, credit.ms + (began - credit.at) * waitingShare)
      const leftMs = (): number => saved - (now() - began) * (1 - waitingShare)
      while (leftMs() > 0 && areInProgress()) await new Promise((resolve) => setTimeout(resolve, pollMs))
      credit = { ms: leftMs(), at: now() }
    },
  }
}
