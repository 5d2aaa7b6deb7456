import { unrefTimer } from '@inlay/protocol/concurrency'

/** Lets one loop sleep until there is something to do. A notification while nobody sleeps is kept for the next sleep. */
export interface Signal {
  notify(): void
  /** Sleeps at most this long; does not keep the process alive by itself. */
  sleep(limitMs: number): Promise<void>
}

export function createSignal(): Signal {
  let isNotified = false
  let endSleep: (() => void) | undefined
  return {
    notify: () => {
      isNotified = true
      endSleep?.()
    },
    sleep: (limitMs) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          endSleep = undefined
          isNotified = false
          resolve()
        }
        const timer = setTimeout(done, limitMs)
        unrefTimer(timer)
        endSleep = done
        if (isNotified) done()
      }),
  }
}
