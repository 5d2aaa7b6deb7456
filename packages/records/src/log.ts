import { sql } from 'kysely'
import { dialectOf, type AnyDatabase } from './dialect.ts'

const retryMs = 20

/** By database: the last run, and the one after it, which all calls share that arrive meanwhile. */
const emptyings = new WeakMap<object, { running: Promise<boolean>; next?: Promise<boolean> | undefined }>()

/**
 * Empties SQLite's write-ahead log, which would otherwise keep deleted data until the next checkpoint. A running read
 * of another process prevents this: retries until it ends, without blocking the thread. Concurrent calls share the
 * work. Must not be called within a transaction. Does nothing on PostgreSQL.
 * @returns whether the log is empty
 */
export async function emptyLog(db: AnyDatabase, maxWaitMs: number = 5_000): Promise<boolean> {
  if (dialectOf(db) !== 'sqlite') return true
  const key = db.getExecutor().adapter
  const emptying = emptyings.get(key) ?? { running: Promise.resolve(true) }
  emptyings.set(key, emptying)
  // A run that has started may have missed later commits.
  return (emptying.next ??= emptying.running.then(() => {
    emptying.next = undefined
    return (emptying.running = untilEmpty(db, maxWaitMs))
  }))
}

async function untilEmpty(db: AnyDatabase, maxWaitMs: number): Promise<boolean> {
  const end = performance.now() + maxWaitMs
  for (;;) {
    if (await tryToEmpty(db)) return true
    if (performance.now() >= end) return false
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

/** The dialect of `nodeSqlite` returns at once; another one may wait for its busy timeout. */
async function tryToEmpty(db: AnyDatabase): Promise<boolean> {
  try {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db)
    return rows[0]?.busy !== 1
  } catch {
    // Locked by another checkpoint.
    return false
  }
}
