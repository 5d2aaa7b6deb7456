import { createGivingWay, type GivingWay } from './giving-way.ts'

export { createFairTurns, type FairTurns } from './fair-turns.ts'
export { createGivingWay, type GivingWay } from './giving-way.ts'
export {
  createLimiter,
  createBudget,
  type Limiter,
  type Budget,
  type BudgetShare,
  type BudgetOptions,
} from './limiters.ts'

/**
 * Resolves after the event loop has processed its queue: incoming requests and completed reads. Long-running work
 * awaits it between parts.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    // Not a web API, but every server runtime has it. A timer would add a millisecond.
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve)
  })
}

/** Long-running work split into time slices, so that the event loop can process other events in between. */
export interface Slices {
  /** Whether the time slice is used up. If so, await {@link next} before continuing. */
  isOver(): boolean
  next(): Promise<void>
}

const sliceMs = 4
/** Some runtimes accept only one new connection per event loop turn, so one turn after a slice is not enough. */
const turnsBetween = 8

let lastSlice: Promise<void> = Promise.resolve()

/**
 * Resolves after the event loop has processed its queue, no other long-running work uses this turn, and no foreground
 * call is in progress. Call it before a step that cannot be split, but never inside an SQLite transaction: the
 * foreground calls wait for that transaction.
 */
export function nextSlice(): Promise<void> {
  return (lastSlice = lastSlice.then(serveOthers).then(giveWay))
}

async function serveOthers(): Promise<void> {
  for (let turn = 0; turn < turnsBetween; turn++) await yieldToEventLoop()
}

/**
 * Starts long-running work. All such work in the process takes turns, one slice at a time.
 * @param options.isAwaited a caller waits for this work, so it does not yield to foreground calls
 */
export function createSlices({ isAwaited = false }: { readonly isAwaited?: boolean } = {}): Slices {
  let began = performance.now()
  return {
    isOver: () => performance.now() - began > sliceMs,
    next: async () => {
      await (isAwaited ? serveOthers() : nextSlice())
      began = performance.now()
    },
  }
}

const givingWay = createGivingWay()

/** Makes long-running work of this process yield to foreground calls. @returns a function that undoes it */
export const giveWayTo: GivingWay['to'] = givingWay.to

/** Waits for foreground calls without waiting for other long-running work. */
export const giveWay = (): Promise<void> => givingWay.done()

const bytesInOneGo = 4 * 2 ** 20

/** Concatenates pieces a few megabytes at a time. @param size total size in bytes */
export async function joinInSlices(pieces: Iterable<Uint8Array>, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(size)
  let at = 0
  let sinceTurn = 0
  for (const piece of pieces)
    for (let from = 0; from < piece.byteLength; from += bytesInOneGo) {
      const slice = piece.subarray(from, from + bytesInOneGo)
      whole.set(slice, at)
      at += slice.byteLength
      sinceTurn += slice.byteLength
      if (sinceTurn < bytesInOneGo) continue
      sinceTurn = 0
      await yieldToEventLoop()
    }
  return whole
}

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

/**
 * Runs `work` for every item, at most `limit` at a time.
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
  /** Maximum number of concurrent operations per caller. */
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

/** Lets one loop sleep until there is work. A notification sent while nobody sleeps wakes the next sleep at once. */
export interface Signal {
  notify(): void
  /** Sleeps at most this long. Does not keep the process alive. */
  sleep(limitMs: number): Promise<void>
}

export function createSignal(): Signal {
  let notified = Promise.withResolvers<void>()
  return {
    notify: () => notified.resolve(),
    sleep: async (limitMs) => {
      const timer = setTimeout(notified.resolve, limitMs)
      unrefTimer(timer)
      await notified.promise
      clearTimeout(timer)
      notified = Promise.withResolvers()
    },
  }
}
