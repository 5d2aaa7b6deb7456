import type { IndexRow } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { persistently, type Engine } from './engine.ts'
import { createMemtableRoom } from './memtable-room.ts'
import { schemaOf, toArrow, type Space } from './rows.ts'
import type { Memtable } from './text/memtable.ts'
import type { WriterPresence } from './writer-presence.ts'

/** Table that is appended to. */
export interface AppendParts {
  readonly engine: Engine
  readonly table: Table
  readonly space: Space | undefined
  readonly memtable: Memtable
  readonly presence: WriterPresence
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
  /** Says that somebody searches. */
  noteSearch(): void
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
  function enqueue(rows: readonly IndexRow[]): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      queue.push({ rows, resolve, reject })
      if (running < mostCommits) void run()
    })
  }

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

  function next(): Request[] {
    const taken = [queue.shift()!]
    let rows = taken[0]!.rows.length
    while (queue[0] && rows + queue[0].rows.length <= mostRows) {
      rows += queue[0].rows.length
      taken.push(queue.shift()!)
    }
    return taken
  }

  /** Never rejects. */
  async function run(): Promise<void> {
    running++
    // Calls made in the same turn of the event loop go into one commit.
    await Promise.resolve()
    while (queue.length > 0) {
      const requests = next()
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
    noteSearch: room.noteSearch,
    add: (rows) => room.enter(rows, () => enqueue(rows)),
  }
}
