import { createGivingWay } from './giving-way.ts'

/** Lets callers in by turns, so that the flood of one of them holds up nobody else. */
export interface FairTurns {
  /**
   * Waits for a place.
   * @returns gives it back, once
   * @throws the reason of the signal when it aborts while waiting
   */
  enter(caller: string, signal?: AbortSignal): Promise<() => void>
}

export interface FairTurnsOptions {
  /** Places of all together. */
  readonly limit: number
  /** Places of one caller while others come too; somebody alone may have all of them. */
  readonly limitPerCaller: number
  /**
   * Whether who comes out of a queue waits on while somebody without a queue holds a place, for most of the time but not
   * for all of it. Default false.
   */
  readonly givesWay?: boolean
  /** A clock that nobody sets, in milliseconds. Default: that of the runtime. */
  readonly clock?: { now(): number }
}

/** Callers who came within this time of each other are there together. */
const togetherMs = 10_000

/** Each takes the place that is handed to it. */
type Queue = Set<(leave: () => void) => void>

export function createFairTurns(options: FairTurnsOptions): FairTurns {
  const { limit, limitPerCaller, givesWay = false, clock = performance } = options
  /** Who waits, by caller; callers in the order of their turns. */
  const waiting = new Map<string, Queue>()
  const held = new Map<string, number>()
  let total = 0
  let last: { readonly caller: string; readonly changedAt: number } | undefined

  const givingWay = createGivingWay(() => clock.now())
  const hasOthers = (caller: string): boolean =>
    givesWay && [...held.keys()].some((other) => other !== caller && !waiting.has(other))

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

  /** Hands free places to the callers whose turn it is; each then comes last. */
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
      const leave = await placeIn(queue, signal, () => {
        if (queue.size === 0 && waiting.get(caller) === queue) waiting.delete(caller)
      })
      await givingWay.done(() => !signal?.aborted && hasOthers(caller))
      if (!signal?.aborted) return leave
      leave()
      throw signal.reason
    },
  }
}

function placeIn(queue: Queue, signal: AbortSignal | undefined, onLeft: () => void): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const enter = (leave: () => void): void => {
      signal?.removeEventListener('abort', abort)
      resolve(leave)
    }
    const abort = (): void => {
      queue.delete(enter)
      onLeft()
      reject(signal!.reason)
    }
    queue.add(enter)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
