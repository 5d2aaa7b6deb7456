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
}

/** Callers who came within this time of each other are there together. */
const togetherMs = 10_000

export function createFairTurns({ limit, limitPerCaller }: FairTurnsOptions): FairTurns {
  /** Who waits, by caller; callers in the order of their turns. */
  const waiting = new Map<string, Set<() => void>>()
  const held = new Map<string, number>()
  let total = 0
  let last: { readonly caller: string; readonly changedAt: number } | undefined

  const hasPlace = (caller: string): boolean =>
    total < limit &&
    (!last || performance.now() - last.changedAt > togetherMs || (held.get(caller) ?? 0) < limitPerCaller)

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
      enter!()
    }
  }

  return {
    enter: async (caller, signal) => {
      signal?.throwIfAborted()
      if (last?.caller !== caller) last = { caller, changedAt: last ? performance.now() : -Infinity }
      if (waiting.size > 0) admit()
      if (hasPlace(caller)) return take(caller)
      return new Promise((resolve, reject) => {
        const queue = waiting.get(caller) ?? new Set()
        const enter = (): void => {
          signal?.removeEventListener('abort', abort)
          resolve(take(caller))
        }
        const abort = (): void => {
          queue.delete(enter)
          if (queue.size === 0 && waiting.get(caller) === queue) waiting.delete(caller)
          reject(signal!.reason)
        }
        waiting.set(caller, queue.add(enter))
        signal?.addEventListener('abort', abort, { once: true })
      })
    },
  }
}
