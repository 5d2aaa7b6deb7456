import type { IndexRow } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { persistently, type Engine, isPassing } from './engine.ts'
import { schemaOf, toArrow, type Space } from './rows.ts'
import type { Memtable } from './text/memtable.ts'
import type { WriterPresence } from './writer-presence.ts'
import { setTimeout as delay } from 'node:timers/promises'

/** Table that is appended to. */
export interface AppendParts {
  readonly engine: Engine
  readonly table: Table
  readonly space: Space | undefined
  readonly memtable: Memtable
  readonly presence: WriterPresence
  /** When somebody searched last, by `performance.now()`. */
  readonly searched: { readonly at: number }
  /** Called after each commit. */
  wrote(): void
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

/** Queues appends to a table. */
export function createAppending(parts: AppendParts): Appending {
  const schema = schemaOf(parts.engine, parts.space)
  const room = createMemtableRoom(parts)
  const queue: Request[] = []
  let running = 0
  async function commit(rows: readonly IndexRow[]): Promise<void> {
    const { engine, table, memtable, presence } = parts
    const batch = toArrow(engine, schema, rows)
    // A try that failed may have been carried out all the same: its rows are there twice and found once.
    await presence.commit(() => persistently(() => table.add(batch)))
    memtable.add(rows)
    const mark = memtable.mark()
    // So that a search does not wait for it.
    if (room.isSearched()) await memtable.post()
    memtable.show(mark)
    parts.wrote()
  }

  /** Never rejects. */
  async function run(): Promise<void> {
    running++
    // Calls made in the same turn of the event loop go into one commit.
    await Promise.resolve()
    while (queue.length > 0) {
      const requests = [queue.shift()!]
      let rows = requests[0]!.rows.length
      while (queue[0] && rows + queue[0].rows.length <= mostRows) {
        rows += queue[0].rows.length
        requests.push(queue.shift()!)
      }
      try {
        await commit(requests.length === 1 ? requests[0]!.rows : requests.flatMap(({ rows }) => rows))
        for (const { resolve } of requests) resolve()
      } catch (error) {
        for (const { reject } of requests) reject(error)
      }
    }
    running--
  }

  return {
    add: (rows) =>
      room.enter(
        rows,
        () =>
          new Promise((resolve, reject) => {
            queue.push({ rows, resolve, reject })
            if (running < mostCommits) void run()
          }),
      ),
  }
}

/** Has appends wait for room in the memtable while somebody searches. */
interface MemtableRoom {
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

function createMemtableRoom({ memtable, searched, fold }: AppendParts): MemtableRoom {
  /** Appends that were let in, each with its share of the memtable. */
  const underWay = new Map<Promise<void>, number>()
  const isSearched = (): boolean => performance.now() - searched.at < searchedMs

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
