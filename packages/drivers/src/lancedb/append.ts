import type { IndexRow } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { persistently, type Engine, isPassing } from './engine.ts'
import { schemaOf, toArrow } from './rows.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import { weightOf, type Memtable } from './text/memtable.ts'
import type { WriterPresence } from './writer-presence.ts'
import { setTimeout as delay } from 'node:timers/promises'

/** Table that is appended to. */
export interface AppendParts {
  readonly engine: Engine
  readonly table: Table
  readonly space: Space | undefined
  readonly memtable: Memtable
  readonly presence: WriterPresence
  /** Until when somebody counts as searching, by `performance.now()`. */
  readonly searched: { readonly until: number }
  /** Counts the writes of this process. */
  readonly writes: { count: number }
  /** Folds new rows into the text index, with nothing else beside it that must not be. */
  fold(): Promise<void>
}

/** Appends rows; calls that come while commits are under way share the next one. */
export interface Appending {
  /**
   * Resolves once the rows are on disk and found. While somebody searches, rows for which the memtable has no room wait
   * for a fold: without it each search would have the engine read all unindexed rows, which takes seconds.
   */
  add(rows: readonly IndexRow[]): Promise<void>
}

interface Request {
  readonly rows: readonly IndexRow[]
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** Most rows of one commit, unless a single request has more: larger commits gain nothing and delay the first. */
const mostRows = 10_000

/** Commits at once: the rows of one are made ready while another is written. The engine puts them in order. */
const mostCommits = 2

/** Longest wait for a fold, since that of a very large table takes longer, and how many an append waits for. */
const [longestWaitMs, mostFolds] = [10_000, 3]
/** Appends of more rows leave some room to smaller ones, which then need not wait for a fold. */
const smallRows = 250
const shareOfLarge = 0.7
/** Another that waited may have folded just before: less than this share is not worth a fold. */
const worthFold = 0.3

/** Queues appends to a table. */
export function createAppending(parts: AppendParts): Appending {
  const { engine, table, memtable, presence, searched } = parts
  const schema = schemaOf(engine, parts.space)
  const queue: Request[] = []
  let running = 0
  /** Appends that were let in, each with its share of the memtable. */
  const underWay = new Map<Promise<void>, number>()

  /** Never rejects. */
  async function run(): Promise<void> {
    running++
    // Calls made in the same turn of the event loop go into one commit.
    await Promise.resolve()
    while (queue.length > 0) {
      const requests = [queue.shift()!]
      let count = requests[0]!.rows.length
      while (queue[0] && count + queue[0].rows.length <= mostRows) {
        count += queue[0].rows.length
        requests.push(queue.shift()!)
      }
      try {
        const rows = requests.length === 1 ? requests[0]!.rows : requests.flatMap((request) => request.rows)
        const batch = toArrow(engine, schema, rows)
        // A try that failed may have been carried out all the same: its rows are there twice and found once.
        await presence.commit(() => persistently(() => table.add(batch)))
        const mark = memtable.add(rows)
        // So that a search does not wait for it.
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

  return {
    add: async (rows) => {
      const share = weightOf(rows) / memtable.room
      const mostTaken = rows.length > smallRows ? shareOfLarge : 1
      for (let tries = 0; tries < mostFolds && performance.now() < searched.until; tries++) {
        const taken = [...underWay.values()].reduce((sum, each) => sum + each, memtable.fill)
        if (taken === 0 || taken + share <= mostTaken) break
        await Promise.race([makeRoom(parts, underWay.keys()), delay(longestWaitMs, undefined, { ref: false })])
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      queue.push({ rows, resolve, reject })
      if (running < mostCommits) void run()
      underWay.set(promise, share)
      await promise.finally(() => underWay.delete(promise))
    },
  }
}

async function makeRoom({ memtable, fold }: AppendParts, underWay: Iterable<Promise<void>>): Promise<void> {
  await Promise.allSettled(underWay)
  if (memtable.fill < worthFold) return
  await fold().catch((error: unknown) => {
    // Another writer came in between: later, then.
    if (!isPassing(error)) throw error
  })
}
