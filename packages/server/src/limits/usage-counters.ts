import type { CallerLimits } from '@inlay/protocol'
import type { Kysely } from 'kysely'

/** What is counted; each has a limit of the same name. */
export type LimitName = keyof CallerLimits

/** Whom something is counted for: a caller, one key, or everybody together. */
export type CountedScope = 'caller' | 'key' | 'tenant'

/** Table of what was used, as Kysely sees it. */
export interface UsageTable {
  inlay_usage: {
    /** Id of the caller, number of the key, or "" for everybody. */
    owner: string
    /** The limit, with `key` or `tenant` before it where it is not a caller's. */
    kind: string
    /** When the minute or day began, in milliseconds since 1970 UTC. */
    period: number
    amount: number
  }
}

/** What is counted for whom. */
export interface Counted {
  readonly scope: CountedScope
  readonly owner: string
  readonly name: LimitName
}

/** A count of the present minute or day. */
export interface Count extends Counted {
  /** When the minute or day began, in milliseconds since 1970 UTC. */
  readonly period: number
  /** What all processes have used, as far as is known. */
  readonly used: number
}

/** Counts over a database that all processes share; each joins its counts once a second. */
export interface UsageCounters {
  /** Without the database nothing is known of before. */
  count(of: Counted): Promise<Count>
  add(of: Counted, amount: number): void
  /** All counts of the present minute and day, this process's up to now. */
  list(): Promise<readonly Count[]>
  /** Forgets what a caller has used. */
  erase(ownerId: string): Promise<void>
  /** Writes what is still to be written. */
  close(): Promise<void>
}

interface Counter extends Counted {
  readonly period: number
  /** What all processes had used at the last look. */
  known: number
  /** What this process has used since. */
  pending: number
  /** When what all have used was last asked for, in milliseconds since 1970 UTC. */
  readAt: number
  /** Writes that have begun or ended: what is read beside one may lack it. */
  writes: number
  loaded: Promise<void>
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** How long a limit counts before it begins anew, in milliseconds. */
export const periodOf = (name: LimitName): number => (name === 'requestsPerMinute' ? minuteMs : dayMs)

const kindOf = ({ scope, name }: Counted): string => (scope === 'caller' ? name : `${scope} ${name}`)

export interface UsageCounterOptions {
  /** Holds the tables of `migrateServer`. */
  readonly db: Kysely<UsageTable>
  readonly now: () => number
  readonly onError: (error: unknown) => void
  /** How often counts are written and those of other processes read, in milliseconds. */
  readonly syncMs: number
}

export function createUsageCounters({ db, now, onError, syncMs }: UsageCounterOptions): UsageCounters {
  const counters = new Map<string, Counter>()
  let timer: ReturnType<typeof setTimeout> | undefined

  const counterOf = (of: Counted): Counter => {
    const period = now() - (now() % periodOf(of.name))
    const key = `${kindOf(of)} ${of.owner}`
    const known = counters.get(key)
    const counter: Counter =
      known?.period === period
        ? known
        : { ...of, period, known: 0, pending: 0, readAt: -Infinity, writes: 0, loaded: Promise.resolve() }
    counters.set(key, counter)
    const ageMs = now() - counter.readAt
    // Less than nothing: the time of day was set back.
    if (ageMs < syncMs && ageMs >= 0) return counter
    counter.readAt = now()
    // Without the database nobody is refused; what is used is counted all the same.
    counter.loaded = learn(db, counter)
    counter.loaded.catch(onError)
    return counter
  }
  const sync = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (counters.size === 0) return
    for (const counter of [...counters.values()].filter(({ pending }) => pending > 0)) await write(db, counter)
    const time = now()
    for (const [key, { name, period }] of counters) if (period + periodOf(name) <= time) counters.delete(key)
    await removeOld(db, time)
  }
  return {
    count: async (of) => {
      const counter = counterOf(of)
      await counter.loaded.catch(() => {})
      return { ...of, period: counter.period, used: counter.known + counter.pending }
    },
    add: (of, amount) => {
      counterOf(of).pending += amount
      timer ??= setTimeout(() => void sync().catch(onError), syncMs)
      timer.unref?.()
    },
    list: async () => {
      await sync()
      const time = now()
      const rows = await db.selectFrom('inlay_usage').selectAll().execute()
      return rows.map(toCount).filter(({ name, period }) => period + periodOf(name) > time)
    },
    erase: async (ownerId) => {
      for (const [key, { scope, owner }] of counters) if (scope === 'caller' && owner === ownerId) counters.delete(key)
      await db.deleteFrom('inlay_usage').where('owner', '=', ownerId).where('kind', 'not like', '% %').execute()
    },
    close: sync,
  }
}

function toCount({ owner, kind, period, amount }: UsageTable['inlay_usage']): Count {
  const [name, scope = 'caller'] = kind.split(' ').reverse()
  // Written by this file alone.
  return { scope: scope as CountedScope, owner, name: name as LimitName, period: Number(period), used: Number(amount) }
}

async function readAmount(db: Kysely<UsageTable>, counter: Counted & { readonly period: number }): Promise<number> {
  const row = await db
    .selectFrom('inlay_usage')
    .select('amount')
    .where('owner', '=', counter.owner)
    .where('kind', '=', kindOf(counter))
    .where('period', '=', counter.period)
    .executeTakeFirst()
  return Number(row?.amount ?? 0)
}

/** Learns what all processes have used; other processes write, too. */
async function learn(db: Kysely<UsageTable>, counter: Counter): Promise<void> {
  const { writes } = counter
  const amount = await readAmount(db, counter)
  if (counter.writes === writes) counter.known = amount
}

async function removeOld(db: Kysely<UsageTable>, time: number): Promise<void> {
  await db
    .deleteFrom('inlay_usage')
    .where((row) =>
      row.or([
        row('period', '<', time - 2 * dayMs),
        row.and([row('kind', 'like', '%requestsPerMinute'), row('period', '<', time - 2 * minuteMs)]),
      ]),
    )
    .execute()
}

/** Adds what this process used, and learns what the others did. */
async function write(db: Kysely<UsageTable>, counter: Counter): Promise<void> {
  const { owner, period, pending } = counter
  counter.writes++
  const { amount } = await db
    .insertInto('inlay_usage')
    .values({ owner, kind: kindOf(counter), period, amount: pending })
    .onConflict((conflict) =>
      conflict
        .columns(['owner', 'kind', 'period'])
        .doUpdateSet((row) => ({ amount: row('inlay_usage.amount', '+', pending) })),
    )
    .returning('amount')
    .executeTakeFirstOrThrow()
  counter.writes++
  counter.known = Number(amount)
  counter.pending -= pending
}
