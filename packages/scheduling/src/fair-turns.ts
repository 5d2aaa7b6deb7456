import { createForegroundCalls } from './foreground-calls.ts'
import { waitIn } from './waiting.ts'

/** Admits callers in turn, so that many requests of one caller do not delay the others. */
export interface FairTurns {
  /**
   * @returns a function that releases the slot, effective once
   * @throws the signal's reason when it aborts while waiting
   */
  enter(caller: string, signal?: AbortSignal): Promise<() => void>
}

export interface FairTurnsOptions {
  /** Total number of slots. */
  readonly limit: number
  /** Slots per caller while there are other callers; a single caller can use all slots. */
  readonly limitPerCaller: number
  /**
   * Whether a queued caller keeps waiting while a caller without a queue holds a slot. This applies most of the time
   * but not always, to avoid starvation. Default false.
   */
  readonly yieldsToUnqueued?: boolean
  /** A monotonic clock, in milliseconds. Default: the runtime's. */
  readonly clock?: { now(): number }
}

/** Callers that arrive within this time of each other count as concurrent. */
const togetherMs = 10_000

/** Each entry receives the slot that is handed to it. */
type Queue = Set<(leave: () => void) => void>

export function createFairTurns(options: FairTurnsOptions): FairTurns {
  const { limit, limitPerCaller, yieldsToUnqueued = false, clock = performance } = options
  /** Queues by caller, in the order of their turns. */
  const waiting = new Map<string, Queue>()
  const held = new Map<string, number>()
  let total = 0
  let last: { readonly caller: string; readonly changedAt: number } | undefined

  const foreground = createForegroundCalls(() => clock.now())
  const hasOthers = (caller: string): boolean =>
    yieldsToUnqueued && [...held.keys()].some((other) => other !== caller && !waiting.has(other))

  const hasPlace = (caller: string): boolean =>
    total < limit && (!last || clock.now() - last.changedAt > togetherMs || (held.get(caller) ?? 0) < limitPerCaller)

  function take(caller: string): () => void {
    total++
    held.set(caller, (held.get(caller) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      total--
      held.set(caller, held.get(caller)! - 1)
      if (held.get(caller) === 0) held.delete(caller)
      if (waiting.size > 0) admit()
    }
  }

  /** Gives free slots to the callers whose turn it is; each then moves to the end. */
  function admit(): void {
    for (const [caller, queue] of waiting) {
      if (!hasPlace(caller)) continue
      const [enter] = queue
      queue.delete(enter!)
      waiting.delete(caller)
      if (queue.size > 0) waiting.set(caller, queue)
      enter!(take(caller))
    }
  }

  return {
    enter: async (caller, signal) => {
      signal?.throwIfAborted()
      if (last?.caller !== caller) last = { caller, changedAt: last ? clock.now() : -Infinity }
      if (waiting.size > 0) admit()
      if (hasPlace(caller)) return take(caller)
      const queue = waiting.get(caller) ?? new Set()
      waiting.set(caller, queue)
      const leave = await waitIn(queue, signal, () => {
        if (queue.size === 0 && waiting.get(caller) === queue) waiting.delete(caller)
      })
      await foreground.yieldTo(() => !signal?.aborted && hasOthers(caller))
      if (!signal?.aborted) return leave
      leave()
      throw signal.reason
    },
  }
}
