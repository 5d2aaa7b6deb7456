import { sql } from 'kysely'
import { setTimeout as delay } from 'node:timers/promises'
import { dialectOf, type AnyDatabase } from './dialect.ts'

const retryMs = 20

interface Emptying {
  running: Promise<boolean> | undefined
  /** Starts when `running` has ended; shared by all calls that arrive meanwhile. */
  next: Promise<boolean> | undefined
}

const emptyings = new WeakMap<object, Emptying>()

/**
 * Empties SQLite's write-ahead log, which would otherwise keep deleted data until the next checkpoint. A running read
 * of another process prevents this: retries until it ends, without blocking the thread. Concurrent calls share the
 * work. Must not be called within a transaction. Does nothing on PostgreSQL.
 * @returns whether the log is empty
 */
export async function emptyLog(db: AnyDatabase, maxWaitMs: number = 5_000): Promise<boolean> {
  if (dialectOf(db) !== 'sqlite') return true
  const key = db.getExecutor().adapter
  const emptying = emptyings.get(key) ?? { running: undefined, next: undefined }
  emptyings.set(key, emptying)
  const startRun = (): Promise<boolean> => {
    const run = untilEmpty(db, maxWaitMs).finally(() => {
      if (emptying.running === run) emptying.running = undefined
    })
    return (emptying.running = run)
  }
  if (!emptying.running) return startRun()
  // A run that has started may have missed later commits.
  const proceed = (): Promise<boolean> => {
    emptying.next = undefined
    return startRun()
  }
  return (emptying.next ??= emptying.running.then(proceed, proceed))
}

async function untilEmpty(db: AnyDatabase, maxWaitMs: number): Promise<boolean> {
  const end = performance.now() + maxWaitMs
  for (;;) {
    if (await tryToEmpty(db)) return true
    if (performance.now() >= end) return false
    await delay(retryMs)
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
