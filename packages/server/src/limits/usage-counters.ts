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

/** Whether an amount was counted, and what all processes had used before, or have used where it was not. */
export interface Taken {
  readonly isGranted: boolean
  readonly used: number
  readonly period: number
}

/**
 * Counts in rows of a database that all processes share. An amount is taken by one statement that counts it only while
 * it stays within the limit, so together the processes never pass one. Calls of one counter that come while such a
 * statement is under way share the next.
 */
export interface UsageCounters {
  /**
   * Counts an amount if it stays within the limit; with 0 it asks whether 1 would. While the database does not answer,
   * everything is granted and counted later.
   */
  take(of: Counted, amount: number, limit: number): Promise<Taken>
  /** Counts what has been used, or gives back what was taken: a negative amount. While the database is away, later. */
  add(of: Counted, amount: number): Promise<void>
  /** All counts of the present minute and day. */
  list(): Promise<readonly Count[]>
  /** Forgets what a caller has used. */
  erase(ownerId: string): Promise<void>
  /** Writes what is still to be written. */
  close(): Promise<void>
}

interface Taking {
  readonly amount: number
  readonly limit: number
  readonly resolve: (taken: Taken) => void
}

interface Counter extends Counted {
  readonly period: number
  /** Used without asking, and not written yet. */
  pending: number
  takings: Taking[]
  working: Promise<void> | undefined
  /** A count at which something was refused, and until when it refuses more without asking. */
  full: { readonly used: number; readonly until: number } | undefined
}

const minuteMs = 60_000
const dayMs = 86_400_000
/** What was given back elsewhere is noticed so late. */
const fullMs = 1_000

/** How long a limit counts before it begins anew, in milliseconds. */
export const periodOf = (name: LimitName): number => (name === 'requestsPerMinute' ? minuteMs : dayMs)

const kindOf = ({ scope, name }: Counted): string => (scope === 'caller' ? name : `${scope} ${name}`)

export interface UsageCounterOptions {
  /** Holds the tables of `migrateServer`. */
  readonly db: Kysely<UsageTable>
  readonly now: () => number
  readonly onError: (error: unknown) => void
  /** When what could not be written is tried again, in milliseconds. */
  readonly retryMs: number
}

export function createUsageCounters({ db, now, onError, retryMs }: UsageCounterOptions): UsageCounters {
  const counters = new Map<string, Counter>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let removedAt = -Infinity

  const counterOf = (of: Counted): Counter => {
    const period = now() - (now() % periodOf(of.name))
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
    // Calls of one turn of the event loop go together.
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
      // Without the database nobody is refused; what is used is counted all the same.
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

  /** All at once if they fit, else one by one in their order. */
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

  /** Forgets minutes and days that are over. */
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

/**
 * Counts an amount in one statement.
 * @param limit where given, only while the count stays within it
 * @returns what all have used then; undefined where that would pass the limit
 */
async function increase(
  db: Kysely<UsageTable>,
  counter: Counted & { readonly period: number },
  amount: number,
  limit = Infinity,
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
