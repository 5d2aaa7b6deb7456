import { sql } from 'kysely'
import { dialectOf, type AnyDatabase } from './dialect.ts'

/** The time, in milliseconds since 1970, shared by all processes of a database. */
export interface DatabaseClock {
  readonly now: () => number
  close(): Promise<void>
}

export interface ClockSource {
  readonly read: () => Promise<number>
  /** Monotonic clock in milliseconds. */
  readonly elapsed: () => number
  /** System clock of the machine. */
  readonly wall: () => number
}

const againMs = 60_000
/** A larger difference between the two local clocks means that the machine slept or its clock was set. */
const maxDriftMs = 500

/**
 * Creates a clock that is synchronized with the database at once, every minute, and after the machine slept or its
 * clock was set. The clocks of the machines may then differ by any amount. With SQLite, all processes use the clock of
 * the same machine.
 */
export async function openDatabaseClock(db: AnyDatabase): Promise<DatabaseClock> {
  if (dialectOf(db) === 'sqlite') return { now: Date.now, close: async () => {} }
  const read = async (): Promise<number> => {
    const { rows } = await sql<{ time: unknown }>`
      select extract(epoch from clock_timestamp()) * 1000 as time`.execute(db)
    return Number(rows[0]?.time)
  }
  return createDatabaseClock({ read, elapsed: () => performance.now(), wall: () => Date.now() })
}

/** Creates a clock from time sources; resolves when it is synchronized. */
export async function createDatabaseClock({ read, elapsed, wall }: ClockSource): Promise<DatabaseClock> {
  let ahead: number | undefined
  let drift = 0
  let setting: Promise<void> | undefined
  const set = async (): Promise<void> => {
    const sentAt = elapsed()
    drift = wall() - sentAt
    const time = await read()
    // The time was read between request and response: a clock within that interval is not changed.
    const [least, most] = [time - elapsed(), time - sentAt]
    ahead = Math.min(Math.max(ahead ?? (least + most) / 2, least), most)
  }
  const again = (): void => {
    // Errors are ignored: the next synchronization tries again.
    setting ??= set()
      .catch(() => {})
      .finally(() => (setting = undefined))
  }
  await set()
  const timer = setInterval(again, againMs)
  timer.unref?.()
  return {
    now: () => {
      const at = elapsed()
      if (Math.abs(wall() - at - drift) > maxDriftMs) again()
      return Math.round(at + (ahead ?? 0))
    },
    close: async () => {
      clearInterval(timer)
      await setting
    },
  }
}
