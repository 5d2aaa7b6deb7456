import type { Services } from '../contracts/services.ts'

/** Rounds of one kind of work, never two at once. */
export interface Rounds {
  /** Begins a round at once, or as soon as the present one is over. */
  now(): Promise<void>
  /** Has them follow each other for as long as they are needed. */
  schedule(): void
  end(): void
}

export function createRounds(
  works: readonly (() => Promise<unknown>)[],
  { paceMs, isNeeded }: { readonly paceMs: number; readonly isNeeded: () => boolean },
): Rounds {
  let timer: ReturnType<typeof setTimeout> | undefined
  let underway: Promise<void> | undefined
  let isWanted = false
  const all = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false
      for (const work of works) await work()
    }
    underway = undefined
  }
  const schedule = (): void => {
    if (timer !== undefined || !isNeeded()) return
    timer = setTimeout(() => {
      timer = undefined
      void rounds.now().then(schedule)
    }, paceMs)
    timer.unref?.()
  }
  const rounds: Rounds = {
    now: () => {
      isWanted = true
      return (underway ??= all())
    },
    schedule,
    end: () => clearTimeout(timer),
  }
  return rounds
}

/** Runs work that is tried again; false when it failed. */
export type Report = (work: () => Promise<void>) => Promise<boolean>

/** Tells the first failure of work that is tried again, and the next one after it went well. */
export function reportOnce(onError: Services['onError']): Report {
  let isReported = false
  return async (work) => {
    try {
      await work()
      isReported = false
      return true
    } catch (error) {
      if (!isReported) onError(error)
      isReported = true
      return false
    }
  }
}
