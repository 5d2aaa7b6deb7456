import { sql } from 'kysely'
import { dialectOf, type AnyDatabase } from './dialect.ts'

/** The time, in milliseconds since 1970, as all processes that share a database have it. */
export interface DatabaseClock {
  readonly now: () => number
  close(): Promise<void>
}

/** Reference for a clock. */
export interface ClockSource {
  /** The time of the database. */
  readonly read: () => Promise<number>
  /** Milliseconds that only go forward. */
  readonly elapsed: () => number
  /** The clock of the machine. */
  readonly wall: () => number
}

const againMs = 60_000
/** A machine that slept, or whose clock was set, shows in its two clocks. */
const mostDriftMs = 500

/**
 * A clock set by the database at once, every minute, and when the machine slept or its clock was set. Clocks of machines may
 * differ by any amount then. SQLite has the clock of its machine.
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

/** A clock by its source; resolves once it is set. */
export async function createDatabaseClock({ read, elapsed, wall }: ClockSource): Promise<DatabaseClock> {
  let ahead: number | undefined
  let drift = 0
  let setting: Promise<void> | undefined
  const set = async (): Promise<void> => {
    const sentAt = elapsed()
    drift = wall() - sentAt
    const time = await read()
    // It was read after the request and before the answer: a clock that agrees with both stays as it is.
    const [least, most] = [time - elapsed(), time - sentAt]
    ahead = Math.min(Math.max(ahead ?? (least + most) / 2, least), most)
  }
  const again = (): void => {
    // The next time it is tried again.
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
      if (Math.abs(wall() - at - drift) > mostDriftMs) again()
      return Math.round(at + (ahead ?? 0))
    },
    close: async () => {
      clearInterval(timer)
      await setting
    },
  }
}
