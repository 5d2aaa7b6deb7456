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
 * Resolves once the event loop has served what was queued: incoming requests, finished reads. Long work awaits it
 * between its parts.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    // Not a web API, but every server runtime has it; a timer costs a millisecond.
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve)
  })
}

/** Long work cut into slices, so that the event loop serves what comes in between. */
export interface Slices {
  /** Whether the slice has lasted long enough; then await {@link next} and go on. */
  isOver(): boolean
  next(): Promise<void>
}

const sliceMs = 4
/** A runtime may take one new connection in each turn of the event loop, so one turn after a slice is too few. */
const turnsBetween = 8

let lastSlice: Promise<void> = Promise.resolve()

/**
 * Resolves once the event loop has served what was queued, no other long work of the process takes this turn, and no
 * call is under way that somebody waits for: before a step that cannot be cut. Not within a transaction of SQLite, which
 * those calls wait for.
 */
export function nextSlice(): Promise<void> {
  return (lastSlice = lastSlice.then(serveOthers).then(giveWay))
}

async function serveOthers(): Promise<void> {
  for (let turn = 0; turn < turnsBetween; turn++) await yieldToEventLoop()
}

/**
 * Begins long work. Whatever goes on at a time in the process, it takes its slices one after the other.
 * @param options.isAwaited somebody waits for this work: it gives way to nobody
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

/** Has all long work of the process wait for calls that somebody waits for. @returns ends that */
export const giveWayTo: GivingWay['to'] = givingWay.to

/** Waits for those calls without waiting for other long work. */
export const giveWay = (): Promise<void> => givingWay.done()

const bytesInOneGo = 4 * 2 ** 20

/** Copies pieces into one, a few megabytes at a time. @param size of all of them together */
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

/** Keeps a timer from holding the process open; browsers and workers use plain numbers. */
export function unrefTimer(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref()
}

/** Settles as `work` does, or rejects with the signal's reason as soon as it aborts. The work itself goes on. */
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
 * Runs `work` on every item, at most `limit` at a time.
 * @returns results in the order of the items; rejects with the first failure, after which no further item is begun
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

/** Counts what each caller has under way. */
export interface CallerLimit {
  /** Most of one caller at the same time. */
  readonly most: number
  /** How many each caller has under way; callers with none are left out. */
  readonly counts: ReadonlyMap<string, number>
  /** Counts one in until the result is called, once; undefined when the caller has as many as it may. */
  enter(callerId: string): (() => void) | undefined
}

/** Creates the limit of one process. @param most at least 1 */
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

/** Lets one loop sleep until there is something to do. A notification while nobody sleeps is kept for the next sleep. */
export interface Signal {
  notify(): void
  /** Sleeps at most this long; does not keep the process alive by itself. */
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
