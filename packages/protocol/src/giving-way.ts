/** Has long work wait for calls that somebody waits for, up to a share of the time. */
export interface GivingWay {
  /** Adds calls to wait for. @returns takes them away again */
  to(isAwaited: () => boolean): () => void
  /**
   * Resolves once nobody waits, or long work has waited for its share of the time.
   * @param isAwaited asked in place of the calls that were added
   */
  done(isAwaited?: () => boolean): Promise<void>
}

/** Long work waits for at most this share of the time; while it waits less, some is saved up. */
const [waitingShare, mostSavedMs] = [0.7, 60]
const lookMs = 2

/** @param now a clock that nobody sets, in milliseconds */
export function createGivingWay(now: () => number = () => performance.now()): GivingWay {
  const calls = new Set<() => boolean>()
  /** How long it may still wait, as of a time. */
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
