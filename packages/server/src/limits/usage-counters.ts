import type { CallerLimits } from '@inlay/protocol'
import type { Kysely } from 'kysely'

/** A counted quantity; each has a limit with the same name. */
export type LimitName = keyof CallerLimits

/** Scope of a count: one caller, one key, or all callers together. */
export type CountedScope = 'caller' | 'key' | 'tenant'

export interface UsageTable {
  inlay_usage: {
    /** Id of the caller, number of the key, or "" for all callers together. */
    owner: string
    /** Name of the limit, with the prefix `key` or `tenant` unless it is a caller's. */
    kind: string
    /** Start of the minute or day, in milliseconds since 1970 UTC. */
    period: number
    amount: number
  }
}

export interface Counted {
  readonly scope: CountedScope
  readonly owner: string
  readonly name: LimitName
}

/** A count of the current minute or day. */
export interface Count extends Counted {
  /** Start of the minute or day, in milliseconds since 1970 UTC. */
  readonly period: number
  /** Usage by all processes, as far as known. */
  readonly used: number
}

/** `used` is the usage by all processes before the amount, or the current one if it was refused. */
export interface Taken {
  readonly isGranted: boolean
  readonly used: number
  readonly period: number
}

/**
 * Counters in database rows shared by all processes. One statement adds an amount only if the count stays within the
 * limit, so the processes never exceed it together. Calls for the same counter that arrive while a statement is running
 * share the next one.
 */
export interface UsageCounters {
  /**
   * Counts an amount that fits; 0 checks whether 1 would. Without the database everything is granted and counted later.
   */
  take(of: Counted, amount: number, limit: number): Promise<Taken>
  /** A negative amount is given back. Without the database it is counted later. */
  add(of: Counted, amount: number): Promise<void>
  /** All counts of the current minute and day. */
  list(): Promise<readonly Count[]>
  erase(ownerId: string): Promise<void>
  /** Writes pending counts. */
  close(): Promise<void>
}

interface Taking {
  readonly amount: number
  readonly limit: number
  readonly resolve: (taken: Taken) => void
}

interface Counter extends Counted {
  readonly period: number
  /** Amount used without a check and not written yet. */
  pending: number
  takings: Taking[]
  working: Promise<void> | undefined
  /** The count at which an amount was refused, and until when to refuse more without a query. */
  full: { readonly used: number; readonly until: number } | undefined
}

const minuteMs = 60_000
const dayMs = 86_400_000
/** Maximum delay to notice amounts given back by another process. */
const fullMs = 1_000

/** Period of a limit, in milliseconds. */
export const periodOf = (name: LimitName): number => (name === 'requestsPerMinute' ? minuteMs : dayMs)

/** Start of the minute or day of a limit that contains a time, both in milliseconds since 1970 UTC. */
export const startOf = (name: LimitName, time: number): number => time - (time % periodOf(name))

/** The stored name of a count. */
export const kindOf = ({ scope, name }: Counted): string => (scope === 'caller' ? name : `${scope} ${name}`)

export interface UsageCounterOptions {
  /** A database with the tables of `migrateServer`. */
  readonly db: Kysely<UsageTable>
  readonly now: () => number
  readonly onError: (error: unknown) => void
  /** Delay before failed writes are retried, in milliseconds. */
  readonly retryMs: number
}

export function createUsageCounters({ db, now, onError, retryMs }: UsageCounterOptions): UsageCounters {
  const counters = new Map<string, Counter>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let removedAt = -Infinity

  const counterOf = (of: Counted): Counter => {
    const period = startOf(of.name, now())
    const key = `${kindOf(of)} ${of.owner} ${period}`
    const counter = counters.get(key) ?? {
      ...of,
      period,
      pending: 0,
      takings: [],
      working: undefined,
      full: undefined,
    }
    counters.set(key, counter)
    return counter
  }
  const work = (counter: Counter): Promise<void> => (counter.working ??= settle(counter))

  async function settle(counter: Counter): Promise<void> {
    // Batches the calls of one event loop turn.
    await Promise.resolve()
    let begun: Taking[] = []
    try {
      while (counter.pending !== 0 || counter.takings.length > 0) {
        await writePending(counter)
        begun = counter.takings.splice(0)
        await takeAll(counter, begun)
        await tidy()
      }
    } catch (error) {
      onError(error)
      // Without the database nothing is refused, but usage is still counted.
      for (const { amount, resolve } of [...begun, ...counter.takings.splice(0)]) {
        counter.pending += amount
        resolve({ isGranted: true, used: 0, period: counter.period })
      }
      retryLater()
    } finally {
      counter.working = undefined
    }
  }

  async function writePending(counter: Counter): Promise<void> {
    const { pending } = counter
    if (pending === 0) return
    await increase(db, counter, pending)
    counter.pending -= pending
    if (pending < 0) counter.full = undefined
  }

  /** Takes all amounts at once if they fit, otherwise one by one in order. */
  async function takeAll(counter: Counter, takings: Taking[]): Promise<void> {
    const sum = takings.reduce((total, { amount }) => total + amount, 0)
    const least = Math.min(...takings.map(({ limit }) => limit))
    const { period } = counter
    const isFull = (): boolean => counter.full !== undefined && counter.full.until > performance.now()
    if (takings.length > 1 && sum > 0 && !isFull()) {
      const used = await increase(db, counter, sum, least)
      if (used !== undefined) {
        for (const { resolve } of takings.splice(0)) resolve({ isGranted: true, used: used - sum, period })
        return
      }
    }
    while (takings.length > 0) {
      const { amount, limit, resolve } = takings[0]!
      const used = await takeOne(counter, amount, limit, isFull())
      takings.shift()
      resolve(used)
    }
  }

  async function takeOne(counter: Counter, amount: number, limit: number, isFull: boolean): Promise<Taken> {
    const { period, full } = counter
    const wanted = Math.max(amount, 1)
    if (isFull && full!.used + wanted > limit) return { isGranted: false, used: full!.used, period }
    if (amount > 0) {
      const used = await increase(db, counter, amount, limit)
      if (used !== undefined) return { isGranted: true, used: used - amount, period }
    }
    const used = await readAmount(db, counter)
    if (amount === 0 && used + 1 <= limit) return { isGranted: true, used, period }
    counter.full = { used, until: performance.now() + fullMs }
    return { isGranted: false, used, period }
  }

  async function tidy(): Promise<void> {
    const time = now()
    if (Math.abs(time - removedAt) < minuteMs) return
    removedAt = time
    for (const [key, { name, period, working }] of counters)
      if (period + periodOf(name) <= time && !working) counters.delete(key)
    await removeOld(db, time)
  }

  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    for (const counter of counters.values()) if (counter.working || counter.pending !== 0) await work(counter)
  }
  const retryLater = (): void => {
    timer ??= setTimeout(() => void flush(), retryMs)
    timer.unref?.()
  }
  return {
    take: (of, amount, limit) =>
      new Promise((resolve) => {
        const counter = counterOf(of)
        counter.takings.push({ amount, limit, resolve })
        void work(counter)
      }),
    add: (of, amount) => {
      const counter = counterOf(of)
      counter.pending += amount
      return work(counter)
    },
    list: async () => {
      await flush()
      const time = now()
      const rows = await db.selectFrom('inlay_usage').selectAll().execute()
      return rows.map(toCount).filter(({ name, period }) => period + periodOf(name) > time)
    },
    erase: async (ownerId) => {
      for (const [key, { scope, owner }] of counters) if (scope === 'caller' && owner === ownerId) counters.delete(key)
      await db.deleteFrom('inlay_usage').where('owner', '=', ownerId).where('kind', 'not like', '% %').execute()
    },
    close: flush,
  }
}

function toCount({ owner, kind, period, amount }: UsageTable['inlay_usage']): Count {
  const [name, scope = 'caller'] = kind.split(' ').reverse()
  // Written only by this file.
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

/** Adds in one statement, only within the limit if given. @returns the new count; undefined if it would exceed it */
export async function increase(
  db: Kysely<UsageTable>,
  counter: Counted & { readonly period: number },
  amount: number,
  limit: number = Infinity,
): Promise<number | undefined> {
  if (amount > limit) return undefined
  const { owner, period } = counter
  const row = await db
    .insertInto('inlay_usage')
    .values({ owner, kind: kindOf(counter), period, amount })
    .onConflict((conflict) => {
      const update = conflict
        .columns(['owner', 'kind', 'period'])
        .doUpdateSet((of) => ({ amount: of('inlay_usage.amount', '+', amount) }))
      return limit === Infinity ? update : update.where('inlay_usage.amount', '<=', limit - amount)
    })
    .returning('amount')
    .executeTakeFirst()
  return row && Number(row.amount)
}
