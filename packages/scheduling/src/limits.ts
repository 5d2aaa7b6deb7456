import { waitIn } from './waiting.ts'

/** Limits the number of concurrent calls; the others wait in order. */
export interface Limiter {
  /** Waits for a free slot, then runs. An abort while waiting rejects with its reason and never calls `work`. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Number of running and waiting calls. */
  readonly size: number
}

/** Creates a limiter. @param limit at least 1; 1 makes a mutex */
export function createLimiter(limit: number): Limiter {
  const waiting = new Set<() => void>()
  let running = 0

  function admit(signal: AbortSignal | undefined): Promise<void> | undefined {
    signal?.throwIfAborted()
    if (running < limit) {
      running++
      return undefined
    }
    return waitIn(waiting, signal)
  }

  /** Passes the slot on, so that later callers cannot overtake. */
  function leave(): void {
    const [next] = waiting
    if (!next) {
      running--
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    run: async (work, signal) => {
      await admit(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
    get size() {
      return running + waiting.size
    },
  }
}

/**
 * @returns results in the order of the items; rejects with the first failure, after which no further item is started
 */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const remaining = items.entries()
  let hasFailed = false
  const worker = async (): Promise<void> => {
    for (const [index, item] of remaining) {
      if (hasFailed) return
      try {
        results[index] = await work(item, index)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  return results
}

/** Counts concurrent operations per caller. */
export interface CallerLimit {
  readonly most: number
  /** Number of concurrent operations by caller; callers without any are omitted. */
  readonly counts: ReadonlyMap<string, number>
  /** Counts one operation until the returned function is called. Undefined when the caller has reached the maximum. */
  enter(callerId: string): (() => void) | undefined
}

/** Creates a limit for this process. @param most at least 1 */
export function createCallerLimit(most: number): CallerLimit {
  const counts = new Map<string, number>()
  return {
    most,
    counts,
    enter: (callerId) => {
      const count = counts.get(callerId) ?? 0
      if (count >= most) return undefined
      counts.set(callerId, count + 1)
      return () => {
        const left = counts.get(callerId)! - 1
        if (left > 0) counts.set(callerId, left)
        else counts.delete(callerId)
      }
    },
  }
}

/** Runs tasks one at a time, in the order of the calls. A failed task does not stop the next. */
export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work, work)
    last = result.catch(() => undefined)
    return result
  }
}
