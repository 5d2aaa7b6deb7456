import { unrefTimer } from '@inlay/protocol/concurrency'

/** Lets one loop sleep until there is something to do. A call while nobody sleeps is kept for the next sleep. */
export interface Signal {
  call(): void
  /** Sleeps at most this long; does not keep the process alive by itself. */
  sleep(limitMs: number): Promise<void>
}

export function createSignal(): Signal {
  let isCalled = false
  let rouse: (() => void) | undefined
  return {
    call: () => {
      isCalled = true
      rouse?.()
    },
    sleep: (limitMs) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          rouse = undefined
          isCalled = false
          resolve()
        }
        const timer = setTimeout(done, limitMs)
        unrefTimer(timer)
        rouse = done
        if (isCalled) done()
      }),
  }
}
