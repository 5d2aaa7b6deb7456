import type { IndexRow } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { persistently, type Engine, isPassing } from './engine.ts'
import { schemaOf, toArrow } from './rows.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import { weightOf, type Memtable } from './text/memtable.ts'
import type { WriterPresence } from './writer-presence.ts'
import { setTimeout as delay } from 'node:timers/promises'

export interface AppendParts {
  readonly engine: Engine
  readonly table: Table
  readonly space: Space | undefined
  readonly memtable: Memtable
  readonly presence: WriterPresence
  /** Until this time, by `performance.now()`, a search counts as recent. */
  readonly searched: { readonly until: number }
  readonly writes: { count: number }
  /** Adds new rows to the full-text index, never at the same time as work that excludes it. */
  fold(): Promise<void>
}

/** Rows of a commit, unless one request has more: larger commits gain nothing and delay the first rows. */
const maxRows = 10_000

/** Concurrent commits: the rows of one are prepared while another is written. The engine orders them. */
const maxCommits = 2

/** Maximum wait for a fold, which takes longer on a very large table, and number of folds that an append waits for. */
const [maxWaitMs, maxFolds] = [10_000, 3]
/** Appends with more rows leave some room for smaller ones, which then need not wait for a fold. */
const smallRows = 250
const shareOfLarge = 0.7
/** Minimum share of the memtable in use for which a fold is worthwhile: another append may have just folded. */
const worthFold = 0.3

/**
 * Appends rows; calls that arrive while commits are running share the next one. Resolves when the rows are on disk and
 * searchable. While there are searches, rows that do not fit into the memtable wait for a fold: otherwise each search
 * would scan all unindexed rows, which takes seconds.
 */
export function createAppend(parts: AppendParts): (rows: readonly IndexRow[]) => Promise<void> {
  const { engine, table, memtable, presence, searched } = parts
  const schema = schemaOf(engine, parts.space)
  const queue: (Omit<PromiseWithResolvers<void>, 'promise'> & { readonly rows: readonly IndexRow[] })[] = []
  let running = 0
  /** Running appends, each with its share of the memtable. */
  const underWay = new Map<Promise<void>, number>()

  /** Never rejects. */
  async function run(): Promise<void> {
    running++
    // Calls of the same event loop turn go into one commit.
    await Promise.resolve()
    while (queue.length > 0) {
      const requests = [queue.shift()!]
      let count = requests[0]!.rows.length
      while (queue[0] && count + queue[0].rows.length <= maxRows) {
        count += queue[0].rows.length
        requests.push(queue.shift()!)
      }
      try {
        const rows = requests.length === 1 ? requests[0]!.rows : requests.flatMap((request) => request.rows)
        const batch = toArrow(engine, schema, rows)
        // A failed attempt may have succeeded anyway: its rows are then stored twice but returned once.
        await presence.commit(() => persistently(() => table.add(batch)))
        const mark = memtable.add(rows)
        // Prepared now, so that the next search does not wait for it.
        if (performance.now() < searched.until) await memtable.post()
        memtable.shownTo = Math.max(memtable.shownTo, mark)
        parts.writes.count++
        for (const { resolve } of requests) resolve()
      } catch (error) {
        for (const { reject } of requests) reject(error)
      }
    }
    running--
  }

  return async (rows) => {
    const share = weightOf(rows) / memtable.room
    const maxShare = rows.length > smallRows ? shareOfLarge : 1
    for (let tries = 0; tries < maxFolds && performance.now() < searched.until; tries++) {
      const taken = [...underWay.values()].reduce((sum, each) => sum + each, memtable.fill)
      if (taken === 0 || taken + share <= maxShare) break
      await Promise.race([makeRoom(parts, underWay.keys()), delay(maxWaitMs, undefined, { ref: false })])
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    queue.push({ rows, resolve, reject })
    if (running < maxCommits) void run()
    underWay.set(promise, share)
    await promise.finally(() => underWay.delete(promise))
  }
}

async function makeRoom({ memtable, fold }: AppendParts, underWay: Iterable<Promise<void>>): Promise<void> {
  await Promise.allSettled(underWay)
  if (memtable.fill < worthFold) return
  await fold().catch((error: unknown) => {
    // Another writer came in between: the fold is left for later.
    if (!isPassing(error)) throw error
  })
}
