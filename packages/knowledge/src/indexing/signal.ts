/** Lets one loop sleep until there is something to do. A call while nobody sleeps is kept for the next sleep. */
export interface Wake {
  call(): void
  /** Sleeps at most this long; does not keep the process alive by itself. */
  sleep(limitMs: number): Promise<void>
}

/** Makes a wake. */
export function createWake(): Wake {
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
        unreference(timer)
        rouse = done
        if (isCalled) done()
      }),
  }
}

/** A timer that waits for work must not hold up the end of a process; browsers and workers have plain numbers. */
export function unreference(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref()
}
