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
  return (lastSlice = lastSlice.then(serveOthers).then(givingWay.done))
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

/** Has long work wait for calls that somebody waits for, up to a share of the time. */
export interface GivingWay {
  /** Adds calls to wait for. @returns takes them away again */
  to(isAwaited: () => boolean): () => void
  /** Resolves once nobody waits, or long work has waited for its share of the time. */
  done(): Promise<void>
}

/** Long work waits for at most this share of the time; while it waits less, some is saved up. */
const [waitingShare, mostSavedMs] = [0.7, 60]
const lookMs = 2

/** @param now a clock that nobody sets, in milliseconds */
export function createGivingWay(now: () => number = () => performance.now()): GivingWay {
  const calls = new Set<() => boolean>()
  /** How long it may still wait, as of a time. */
  let credit = { ms: mostSavedMs, at: now() }
  return {
    to: (isAwaited) => {
      calls.add(isAwaited)
      return () => void calls.delete(isAwaited)
    },
    done: async () => {
      const began = now()
      const saved = Math.min(mostSavedMs, credit.ms + (began - credit.at) * waitingShare)
      const leftMs = (): number => saved - (now() - began) * (1 - waitingShare)
      while (leftMs() > 0 && [...calls].some((isAwaited) => isAwaited()))
        await new Promise((resolve) => setTimeout(resolve, lookMs))
      credit = { ms: leftMs(), at: now() }
    },
  }
}

const givingWay = createGivingWay()

/** Has all long work of the process wait for calls that somebody waits for. @returns ends that */
export const giveWayTo: GivingWay['to'] = givingWay.to

/** Waits for those calls without waiting for other long work. */
export const giveWay: GivingWay['done'] = givingWay.done
