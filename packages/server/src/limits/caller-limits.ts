import { InlayError, type CallerLimits, type Principal } from '@inlay/protocol'
import type { Kysely } from 'kysely'

/** What is counted; each has a limit of the same name. */
export type LimitName = keyof CallerLimits

/** Table of what callers have used, as Kysely sees it. */
export interface UsageTable {
  inlay_usage: {
    owner: string
    kind: string
    /** When the minute or day began, in milliseconds since 1970 UTC. */
    period: number
    amount: number
  }
}

/** Counts what callers use and refuses what is over their limits. */
export interface UsageLimits {
  /**
   * Counts an amount before it is used. With 0 it asks whether anything is left.
   * @throws RATE_LIMITED with the figures and the time until the next minute or day
   */
  take(caller: Principal, name: LimitName, amount?: number): Promise<void>
  /** Counts what has been used; never refuses. */
  add(caller: Principal, name: LimitName, amount: number): void
  /** Forgets what a caller has used. */
  erase(ownerId: string): Promise<void>
  /** Writes what is still to be written. */
  close(): Promise<void>
}

/** What limits are made with. */
export interface UsageLimitsOptions {
  /** Holds the tables of `migrateServer`. */
  readonly db: Kysely<UsageTable>
  readonly now: () => number
  /** Limits of callers who have none of their own. Default: none. */
  readonly limits?: CallerLimits | undefined
  /** Told when counts could not be written; they are written later. */
  readonly onError: (error: unknown) => void
  /** How often counts are written and those of other processes read, in milliseconds. Default 1000. */
  readonly syncMs?: number
}

interface Counter {
  readonly owner: string
  readonly name: LimitName
  readonly period: number
  /** What all processes had used at the last look. */
  known: number
  /** What this process has used since. */
  pending: number
  readonly loaded: Promise<void>
}

const minuteMs = 60_000
const dayMs = 86_400_000
const units: Readonly<Record<LimitName, string>> = {
  requestsPerMinute: 'requests a minute',
  tokensPerDay: 'tokens a day',
  uploadsPerDay: 'uploaded files a day',
  sessionsPerDay: 'new chat sessions a day',
  documentsPerDay: 'ingested documents a day',
}
const lengthOf = (name: LimitName): number => (name === 'requestsPerMinute' ? minuteMs : dayMs)

/**
 * Limits over a database that all processes share. Minutes and days are those of the clock, in UTC. Each process counts
 * by itself and joins its counts once a second, so together they may pass a limit by what they use in that time.
 */
export function createUsageLimits(options: UsageLimitsOptions): UsageLimits {
  const { db, now, limits = {}, onError, syncMs = 1_000 } = options
  const counters = new Map<string, Counter>()
  let timer: ReturnType<typeof setTimeout> | undefined

  const counterOf = ({ id }: Principal, name: LimitName): Counter => {
    const period = now() - (now() % lengthOf(name))
    const key = `${name} ${id}`
    const counter = counters.get(key)
    if (counter?.period === period) return counter
    const fresh = { owner: id, name, period, known: 0, pending: 0, loaded: Promise.resolve() }
    const load = async (): Promise<void> =>
      void (fresh.known += await readAmount(db, { owner: id, kind: name, period }))
    // Without the database nobody is refused; what is used is counted all the same.
    fresh.loaded = load()
    fresh.loaded.catch(onError)
    counters.set(key, fresh)
    return fresh
  }
  const count = (counter: Counter, amount: number): void => {
    counter.pending += amount
    timer ??= setTimeout(() => void sync().catch(onError), syncMs)
    timer.unref?.()
  }
  const sync = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (counters.size === 0) return
    for (const counter of [...counters.values()].filter(({ pending }) => pending > 0)) await write(db, counter)
    const time = now()
    for (const [key, { name, period }] of counters) if (period + lengthOf(name) <= time) counters.delete(key)
    await removeOld(db, time)
  }
  return {
    take: async (caller, name, amount = 1) => {
      const limit = caller.limits?.[name] ?? limits[name]
      if (limit === undefined) return
      const counter = counterOf(caller, name)
      await counter.loaded.catch(() => {})
      const used = counter.known + counter.pending
      if (used + Math.max(amount, 1) > limit) throw overLimit({ name, limit, used, period: counter.period }, now())
      if (amount > 0) count(counter, amount)
    },
    add: (caller, name, amount) => {
      const limit = caller.limits?.[name] ?? limits[name]
      if (limit !== undefined && amount > 0) count(counterOf(caller, name), amount)
    },
    erase: async (ownerId) => {
      for (const [key, { owner }] of counters) if (owner === ownerId) counters.delete(key)
      await db.deleteFrom('inlay_usage').where('owner', '=', ownerId).execute()
    },
    close: sync,
  }
}

async function readAmount(
  db: Kysely<UsageTable>,
  { owner, kind, period }: Omit<UsageTable['inlay_usage'], 'amount'>,
): Promise<number> {
  const row = await db
    .selectFrom('inlay_usage')
    .select('amount')
    .where('owner', '=', owner)
    .where('kind', '=', kind)
    .where('period', '=', period)
    .executeTakeFirst()
  return Number(row?.amount ?? 0)
}

async function removeOld(db: Kysely<UsageTable>, time: number): Promise<void> {
  await db
    .deleteFrom('inlay_usage')
    .where((row) =>
      row.or([
        row('period', '<', time - 2 * dayMs),
        row.and([row('kind', '=', 'requestsPerMinute'), row('period', '<', time - 2 * minuteMs)]),
      ]),
    )
    .execute()
}

/** Adds what this process used, and learns what the others did. */
async function write(db: Kysely<UsageTable>, counter: Counter): Promise<void> {
  const { owner, name: kind, period, pending } = counter
  const { amount } = await db
    .insertInto('inlay_usage')
    .values({ owner, kind, period, amount: pending })
    .onConflict((conflict) =>
      conflict
        .columns(['owner', 'kind', 'period'])
        .doUpdateSet((row) => ({ amount: row('inlay_usage.amount', '+', pending) })),
    )
    .returning('amount')
    .executeTakeFirstOrThrow()
  counter.known = Number(amount)
  counter.pending -= pending
}

function overLimit(
  { name, limit, used, period }: { name: LimitName; limit: number; used: number; period: number },
  time: number,
): InlayError {
  const retryAfterSeconds = (period + lengthOf(name) - time) / 1000
  const figures = `${used.toLocaleString('en')} of ${limit.toLocaleString('en')} ${units[name]}`
  return new InlayError('RATE_LIMITED', {
    message: `You have used ${figures}: try again in ${Math.ceil(retryAfterSeconds)} seconds.`,
    data: { retryAfterSeconds, limit: name, used, most: limit },
  })
}
