import { setTimeout as delay } from 'node:timers/promises'
import type { IndexRow } from '@inlay/knowledge'
import { isPassing } from './engine.ts'
import type { Memtable } from './text/memtable.ts'

/** Has appends wait for room in the memtable while somebody searches. */
export interface MemtableRoom {
  noteSearch(): void
  /** Whether somebody searched lately. */
  isSearched(): boolean
  /** Runs an append, once there is room or it has waited long enough. */
  enter(rows: readonly IndexRow[], append: () => Promise<void>): Promise<void>
}

/** A search counts for so long. */
const searchedMs = 10_000
/** Longest wait for a fold, since that of a very large table takes longer, and how many an append waits for. */
const [longestWaitMs, mostFolds] = [10_000, 3]
/** Appends of more rows leave some room to smaller ones, which then need not wait for a fold. */
const smallRows = 250
const shareOfLarge = 0.7
/** Another that waited may have folded just before: less than this share is not worth a fold. */
const worthFold = 0.3

export function createMemtableRoom({ memtable, fold }: { memtable: Memtable; fold(): Promise<void> }): MemtableRoom {
  /** Appends that were let in, each with its share of the memtable. */
  const underWay = new Map<Promise<void>, number>()
  let searchedAt = -Infinity
  const isSearched = (): boolean => performance.now() - searchedAt < searchedMs

  function hasRoom(rows: readonly IndexRow[]): boolean {
    const share = rows.length > smallRows ? shareOfLarge : 1
    const taken = memtable.fill + [...underWay.values()].reduce((sum, each) => sum + each, 0)
    return taken === 0 || taken + memtable.shareOf(rows) <= share
  }

  async function makeRoom(): Promise<void> {
    await Promise.allSettled(underWay.keys())
    if (memtable.fill < worthFold) return
    await fold().catch((error: unknown) => {
      // Another writer came in between: later, then.
      if (!isPassing(error)) throw error
    })
  }

  return {
    noteSearch: () => void (searchedAt = performance.now()),
    isSearched,
    enter: async (rows, append) => {
      for (let tries = 0; tries < mostFolds && isSearched() && !hasRoom(rows); tries++)
        await Promise.race([makeRoom(), delay(longestWaitMs, undefined, { ref: false })])
      const appended = append()
      underWay.set(appended, memtable.shareOf(rows))
      try {
        await appended
      } finally {
        underWay.delete(appended)
      }
    },
  }
}
