/** Makes long-running work yield to foreground calls, up to a share of the time. */
export interface GivingWay {
  /** Registers foreground calls to yield to. @returns a function that unregisters them */
  to(isAwaited: () => boolean): () => void
  /**
   * Resolves when no foreground call is in progress, or long-running work has waited for its share of the time.
   * @param isAwaited used in place of the registered calls
   */
  done(isAwaited?: () => boolean): Promise<void>
}

/** Long-running work waits for at most this share of the time; unused waiting time accumulates up to a maximum. */
const [waitingShare, mostSavedMs] = [0.7, 60]
const lookMs = 2

/** @param now a monotonic clock, in milliseconds */
export function createGivingWay(now: () => number = () => performance.now()): GivingWay {
  const calls = new Set<() => boolean>()
  /** Remaining waiting time, as of `at`. */
  let credit = { ms: mostSavedMs, at: now() }
  return {
    to: (isAwaited) => {
      calls.add(isAwaited)
      return () => void calls.delete(isAwaited)
    },
    done: async (isAwaited = () => [...calls].some((call) => call())) => {
      const began = now()
      const saved = Math.min(mostSavedMs, credit.ms + (began - credit.at) * waitingShare)
      const leftMs = (): number => saved - (now() - began) * (1 - waitingShare)
      while (leftMs() > 0 && isAwaited()) await new Promise((resolve) => setTimeout(resolve, lookMs))
      credit = { ms: leftMs(), at: now() }
    },
  }
}
