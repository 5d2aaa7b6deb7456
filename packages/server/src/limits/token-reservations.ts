import type { Kysely } from 'kysely'
import { increase, kindOf, type Counted, type UsageCounterOptions, type UsageTable } from './usage-counters.ts'

/** Table of tokens reserved for running answers, for Kysely. The usage counts include them. */
export interface ReservedTokensTable {
  inlay_reserved_tokens: {
    /** Same value as in `inlay_usage`. */
    owner: string
    kind: string
    /** Shared by the rows of one turn. */
    id: string
    period: number
    amount: number
    /** Id of the process that generates the answer. */
    holder: string
    /** Milliseconds since 1970 UTC. */
    lease_until: number
  }
}

/** A usage count that a reservation is added to, and its limit. */
export interface ReservedBound extends Counted {
  readonly period: number
  readonly limit: number
}

/** The result: a reservation, or the first limit that refused it, with its used and reserved tokens. */
export type Reserved =
  | { readonly isGranted: true; readonly settle: (usedTokens: number) => Promise<void> }
  | { readonly isGranted: false; readonly bound: ReservedBound; readonly used: number; readonly reserved: number }

/**
 * Tokens of running answers. They are added to the usage counts, in one transaction with a row here, so that all
 * processes together start no answer once usage and reservations reach a limit. Rows of a process that crashed expire.
 */
export interface TokenReservations {
  /** Reserves an amount in all bounds or in none. A bound that is not used up grants any amount. */
  reserve(bounds: readonly ReservedBound[], amount: number): Promise<Reserved>
  /** Reserved amounts by owner and kind. */
  reserved(): Promise<readonly { readonly owner: string; readonly kind: string; readonly amount: number }[]>
  erase(ownerId: string): Promise<void>
  /** Retries settlements that failed. */
  close(): Promise<void>
}

type Database = Kysely<UsageTable & ReservedTokensTable>
const usageIn = (db: Database): Kysely<UsageTable> => db.$pickTables<'inlay_usage'>()

interface Held {
  readonly bounds: readonly ReservedBound[]
  /** Undefined while the answer is running. */
  used: number | undefined
}

const leaseMs = 60_000
const renewalMs = leaseMs / 3
/** A lease with a later end was written before the clock was set back. */
const maxLeaseMs = 2 * leaseMs

class Refused extends Error {
  readonly bound: ReservedBound
  constructor(bound: ReservedBound) {
    super()
    this.bound = bound
  }
}

export function createTokenReservations(
  db: Database,
  { now, onError }: Pick<UsageCounterOptions, 'now' | 'onError'>,
): TokenReservations {
  const holder = crypto.randomUUID()
  const held = new Map<string, Held>()
  let timer: ReturnType<typeof setInterval> | undefined

  async function tryReserve(bounds: readonly ReservedBound[], amount: number, id: string): Promise<void> {
    await db.transaction().execute(async (transaction) => {
      for (const bound of bounds) {
        // Granted as long as the limit is not used up.
        const used = await increase(usageIn(transaction), bound, amount, bound.limit - 1 + amount)
        if (used === undefined) throw new Refused(bound)
      }
      const lease = { id, amount, holder, lease_until: now() + leaseMs }
      await transaction
        .insertInto('inlay_reserved_tokens')
        .values(bounds.map((bound) => ({ ...lease, owner: bound.owner, kind: kindOf(bound), period: bound.period })))
        .execute()
    })
  }

  async function settle(id: string): Promise<void> {
    const { bounds, used } = held.get(id) ?? {}
    if (!bounds || used === undefined) return
    await db.transaction().execute(async (transaction) => {
      for (const bound of bounds) {
        const row = await transaction
          .deleteFrom('inlay_reserved_tokens')
          .where('owner', '=', bound.owner)
          .where('kind', '=', kindOf(bound))
          .where('id', '=', id)
          .returning('amount')
          .executeTakeFirst()
        // If the lease expired, another process has already given the amount back.
        const change = used - Number(row?.amount ?? 0)
        if (change !== 0) await increase(usageIn(transaction), bound, change)
      }
    })
    held.delete(id)
    if (held.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const settleAll = async (): Promise<void> => {
    for (const id of held.keys()) await settle(id)
  }
  const renew = async (): Promise<void> => {
    await settleAll()
    await db
      .updateTable('inlay_reserved_tokens')
      .set({ lease_until: now() + leaseMs })
      .where('holder', '=', holder)
      .execute()
  }
  const hold = (id: string, bounds: readonly ReservedBound[]): void => {
    held.set(id, { bounds, used: undefined })
    timer ??= setInterval(() => void renew().catch(onError), renewalMs)
    timer.unref?.()
  }

  return {
    reserve: async (bounds, amount) => {
      const id = crypto.randomUUID()
      for (let hasLapsed = false; ;) {
        try {
          await tryReserve(bounds, amount, id)
          break
        } catch (error) {
          if (!(error instanceof Refused)) throw error
          const { bound } = error
          if (!hasLapsed && (hasLapsed = await releaseLapsed(db, bound, now()))) continue
          return { isGranted: false, bound, ...(await usageOf(db, bound)) }
        }
      }
      hold(id, bounds)
      return {
        isGranted: true,
        settle: async (usedTokens) => {
          const own = held.get(id)
          if (!own || own.used !== undefined) return
          own.used = usedTokens
          // The next renewal tries again.
          await settle(id).catch(onError)
        },
      }
    },
    reserved: async () => {
      const rows = await db
        .selectFrom('inlay_reserved_tokens')
        .select(['owner', 'kind', (of) => of.fn.sum<number | string>('amount').as('amount')])
        .groupBy(['owner', 'kind'])
        .execute()
      return rows.map(({ amount, ...row }) => ({ ...row, amount: Number(amount) }))
    },
    erase: async (ownerId) => {
      const rows = db.deleteFrom('inlay_reserved_tokens').where('owner', '=', ownerId)
      await rows.where('kind', 'not like', '% %').execute()
    },
    close: async () => {
      clearInterval(timer)
      await settleAll().catch(onError)
    },
  }
}

/** Gives back the reservations of crashed processes. @returns false if there were none */
async function releaseLapsed(db: Database, bound: ReservedBound, time: number): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const rows = await transaction
      .deleteFrom('inlay_reserved_tokens')
      .where('owner', '=', bound.owner)
      .where('kind', '=', kindOf(bound))
      .where((row) => row.or([row('lease_until', '<', time), row('lease_until', '>', time + maxLeaseMs)]))
      .returning(['period', 'amount'])
      .execute()
    for (const { period, amount } of rows)
      await increase(usageIn(transaction), { ...bound, period: Number(period) }, -Number(amount))
    return rows.length > 0
  })
}

async function usageOf(
  db: Database,
  bound: ReservedBound,
): Promise<{ readonly used: number; readonly reserved: number }> {
  const { owner, period } = bound
  const kind = kindOf(bound)
  const row = await db
    .selectNoFrom((of) => [
      of
        .selectFrom('inlay_usage')
        .select('amount')
        .where('owner', '=', owner)
        .where('kind', '=', kind)
        .where('period', '=', period)
        .as('amount'),
      of
        .selectFrom('inlay_reserved_tokens')
        .select((each) => each.fn.sum<number | string>('amount').as('sum'))
        .where('owner', '=', owner)
        .where('kind', '=', kind)
        .where('period', '=', period)
        .as('reserved'),
    ])
    .executeTakeFirstOrThrow()
  const reserved = Number(row.reserved ?? 0)
  return { used: Number(row.amount ?? 0) - reserved, reserved }
}
