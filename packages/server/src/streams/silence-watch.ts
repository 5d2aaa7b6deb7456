import type { Timer } from '../http/settings.ts'

/** Watches how long nothing is sent. */
export interface SilenceWatch {
  /** Somebody waits from now on. */
  start(): void
  /** Something is sent. */
  end(): void
  /** Watches no more, until the next `start`. */
  stop(): void
}

/**
 * Makes a watch that tells once when, while somebody waits, nothing was sent for `limitMs`. It keeps one timer at a
 * time and moves it when it fires: setting one for each line costs more than sending it.
 */
export function watchSilence(limitMs: number, timer: Timer, onSilence: () => void): SilenceWatch {
  let cancel: (() => void) | undefined
  // Since the timer was set.
  let endedAt: number | undefined
  const arm = (delayMs: number): void => {
    endedAt = undefined
    cancel = timer(delayMs, () => {
      cancel = undefined
      if (endedAt === undefined) onSilence()
      else arm(Math.max(1, endedAt + limitMs - performance.now()))
    })
  }
  return {
    start: () => (cancel === undefined ? arm(limitMs) : undefined),
    end: () => void (endedAt = performance.now()),
    stop: () => {
      cancel?.()
      cancel = undefined
    },
  }
}
