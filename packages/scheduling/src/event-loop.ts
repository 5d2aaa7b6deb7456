import { createForegroundCalls, type ForegroundCalls } from './foreground-calls.ts'

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
  return (lastSlice = lastSlice.then(serveOthers).then(yieldToForeground))
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

/** Like `map`, in time slices, for work that a caller waits for. */
export async function mapInSlices<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Promise<Result[]> {
  const slices = createSlices({ isAwaited: true })
  const results: Result[] = []
  for (const item of items) {
    if (slices.isOver()) await slices.next()
    results.push(map(item))
  }
  return results
}

const foreground = createForegroundCalls()

/** Makes long-running work of this process yield to these calls. @returns a function that undoes it */
export const addForegroundCalls: ForegroundCalls['add'] = foreground.add

/** Waits for foreground calls without waiting for other long-running work. */
export const yieldToForeground = (): Promise<void> => foreground.yieldTo()

/**
 * Admits a few callers in each pass of the event loop, in their order. Of many that come at once, the first then get
 * on with their reads and writes, instead of all reaching each of their steps together and the last one late.
 * @param limit callers in a pass, at least 1
 * @returns waits for the caller's pass
 */
export function createPace(limit: number): () => Promise<void> {
  const waiting: (() => void)[] = []
  let admitted = 0
  const nextPass = (): void => {
    const entering = waiting.splice(0, limit)
    admitted = entering.length
    for (const enter of entering) enter()
    if (admitted > 0) void yieldToEventLoop().then(nextPass)
  }
  return async () => {
    if (admitted === 0) void yieldToEventLoop().then(nextPass)
    if (admitted < limit) admitted++
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
}

const bytesInOneGo = 4 * 2 ** 20

/** Bytes of a buffer of their own. Before TypeScript 5.7, `Uint8Array` takes no type argument in a declaration. */
export type OwnBytes = ReturnType<typeof Uint8Array.from>

/** Concatenates pieces a few megabytes at a time. @param size total size in bytes */
export async function joinInSlices(pieces: Iterable<Uint8Array>, size: number): Promise<OwnBytes> {
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
