import { yieldToEventLoop } from './event-loop.ts'

/** Keeps a timer from holding the process open. Browsers and workers return plain numbers, which have no `unref`. */
export function unrefTimer(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref()
}

/** Settles like `work`, or rejects with the signal's reason as soon as it aborts. The work itself continues. */
export function untilAborted<Result>(work: PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    work.then(resolve, reject).then(() => signal.removeEventListener('abort', abort))
  })
}

/** Resolves with what its entry in the queue is called with; leaves the queue and rejects when the signal aborts. */
export function waitIn<Value>(
  queue: Set<(value: Value) => void>,
  signal: AbortSignal | undefined,
  onLeft?: () => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const enter = (value: Value): void => {
      signal?.removeEventListener('abort', abort)
      resolve(value)
    }
    const abort = (): void => {
      queue.delete(enter)
      onLeft?.()
      reject(signal!.reason)
    }
    queue.add(enter)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Resolves after a delay; rejects with the signal's reason as soon as it aborts. */
export async function delay(delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const timer = setTimeout(resolve, delayMs)
  signal.addEventListener('abort', resolve, { once: true })
  if (!signal.aborted) await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', resolve)
  signal.throwIfAborted()
}

/** The work itself continues. @returns whether it ended in time; rejects if it failed */
export async function endsWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const { promise: timeUp, resolve } = Promise.withResolvers<boolean>()
  // The result may have arrived while the process was busy: it is read before the timeout counts.
  const timer = setTimeout(() => void yieldToEventLoop().then(() => resolve(false)), timeoutMs)
  try {
    return await Promise.race([work.then(() => true), timeUp])
  } finally {
    clearTimeout(timer)
  }
}

/** Lets one loop sleep until there is work. A notification sent while nobody sleeps wakes the next sleep at once. */
export interface Signal {
  notify(): void
  /** Sleeps at most this long. Does not keep the process alive. */
  sleep(timeoutMs: number): Promise<void>
}

export function createSignal(): Signal {
  let notified = Promise.withResolvers<void>()
  return {
    notify: () => notified.resolve(),
    sleep: async (timeoutMs) => {
      const timer = setTimeout(notified.resolve, timeoutMs)
      unrefTimer(timer)
      await notified.promise
      clearTimeout(timer)
      notified = Promise.withResolvers()
    },
  }
}
