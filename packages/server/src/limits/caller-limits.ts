import { InlayError, isInlayError, type CallerLimits, type Principal } from '@inlay/protocol'
import { endsWithin } from '@inlay/scheduling'
import type { Kysely } from 'kysely'
import type { WorkspaceRecords, WorkspaceValues } from '../administration/workspace-records.ts'
import {
  createUsageCounters,
  kindOf,
  periodOf,
  startOf,
  type Count,
  type Counted,
  type CountedScope,
  type LimitName,
  type UsageTable,
} from './usage-counters.ts'
import { createTokenReservations, type ReservedTokensTable } from './token-reservations.ts'
import { createWaitingDocuments, type WaitingDocuments, type WaitingDocumentsTable } from './waiting-documents.ts'

export type { LimitName, UsageTable }

/** Limits for each caller, and for all callers together. */
export interface LimitSettings {
  readonly callers: CallerLimits
  readonly tenant: CallerLimits
  /** Whether all requests of callers are refused, and documents wait. */
  readonly isSuspended: boolean
}

export interface Bound extends Counted {
  readonly limit: number
}

/** Counts usage and refuses what exceeds a limit of the key, the caller or all callers together. */
export interface UsageLimits {
  /**
   * Counts an amount before it is used. 0 checks whether anything is left.
   * @throws RATE_LIMITED with the usage and the time until the next minute or day
   */
  take(caller: Principal, name: LimitName, amount?: number): Promise<void>
  /**
   * Reserves tokens of the day for an answer. A limit that is not used up grants any amount, so a first answer always
   * starts.
   * @returns a function that replaces the reservation by the tokens used; they count for the day of the reservation
   * @throws RATE_LIMITED with the usage
   */
  reserveTokens(caller: Principal, amount: number): Promise<(usedTokens: number) => Promise<void>>
  /** Counts an amount that was already used; never refuses. */
  add(caller: Principal, name: LimitName, amount: number): Promise<void>
  /** Limits with one name that apply to a caller. */
  boundsOf(caller: Principal, name: LimitName): Promise<readonly Bound[]>
  /** Limits in force: those set by administrators, otherwise those of the deployment. */
  inForce(): Promise<LimitSettings>
  /** @throws INSUFFICIENT_PERMISSIONS while the assistant is suspended */
  checkActive(): Promise<void>
  /** Sets limits for all processes within a second; null restores those of the deployment. */
  change(change: Partial<WorkspaceValues['limits']>): Promise<void>
  /** Usage in the current minute or day. */
  used(): Promise<readonly Count[]>
  /** Waiting documents of callers and keys with a limit on them. */
  readonly waiting: WaitingDocuments
  /** Deletes the counts of a caller. */
  erase(ownerId: string): Promise<void>
  /** Writes pending counts. */
  close(): Promise<void>
}

export interface UsageLimitsOptions {
  /** A database with the tables of `migrateServer`. */
  readonly db: Kysely<UsageTable & WaitingDocumentsTable & ReservedTokensTable>
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
  /** Default limits for each caller. Default: none. */
  readonly limits?: CallerLimits | undefined
  /** Limits for all callers together. Default: none. */
  readonly tenantLimits?: CallerLimits | undefined
  /** Stores limits set by administrators. Absent: they cannot set any. */
  readonly workspace?: Pick<WorkspaceRecords, 'get' | 'put'> | undefined
  /** Called when counts could not be written; they are written later. */
  readonly onError: (error: unknown) => void
  /** How often the limits set by administrators are read, in milliseconds. Default 1000. */
  readonly syncMs?: number
}

const units: Readonly<Record<LimitName, string>> = {
  requestsPerMinute: 'requests a minute',
  tokensPerDay: 'tokens a day',
  uploadsPerDay: 'uploaded files a day',
  sessionsPerDay: 'new chat sessions a day',
  documentsPerDay: 'ingested documents a day',
  waitingDocuments: 'documents waiting to be indexed',
}
const users: Readonly<Record<CountedScope, string>> = {
  caller: 'You have',
  key: 'This key has',
  tenant: 'All callers together have',
}

/**
 * Limits over a database that all processes share, so that the processes never exceed a limit together. Minutes and
 * days are those of the clock, in UTC.
 */
export function createUsageLimits(options: UsageLimitsOptions): UsageLimits {
  const { now, workspace, syncMs = 1_000 } = options
  const counters = createUsageCounters({ ...options, db: options.db.$pickTables<'inlay_usage'>(), retryMs: syncMs })
  const waiting = createWaitingDocuments(options.db.$pickTables<'inlay_waiting_documents'>(), now)
  const reservations = createTokenReservations(
    options.db.$pickTables<'inlay_usage' | 'inlay_reserved_tokens'>(),
    options,
  )
  const settings = createLimitSettings(options, syncMs)

  const boundsOf = async (caller: Principal, name: LimitName): Promise<Bound[]> => {
    const { callers, tenant } = await settings.inForce()
    const own = caller.limits?.[name]
    const counted: readonly [CountedScope, string, number | undefined][] = [
      own === undefined || caller.keyId === undefined
        ? ['caller', caller.id, own ?? callers[name]]
        : ['key', String(caller.keyId), own],
      ['tenant', '', tenant[name]],
    ]
    return counted.flatMap(([scope, owner, limit]) => (limit === undefined ? [] : [{ scope, owner, name, limit }]))
  }
  const add = async (caller: Principal, name: LimitName, amount: number): Promise<void> => {
    if (amount <= 0) return
    await Promise.all((await boundsOf(caller, name)).map((bound) => counters.add(bound, amount)))
  }
  return {
    boundsOf,
    inForce: settings.inForce,
    checkActive: async () => {
      if ((await settings.inForce()).isSuspended)
        throw new InlayError('INSUFFICIENT_PERMISSIONS', {
          message: 'This assistant is suspended, and keeps its data: ask whoever operates it to resume it.',
        })
    },
    take: async (caller, name, amount = 1) => {
      const bounds = await boundsOf(caller, name)
      for (const [index, bound] of bounds.entries()) {
        const { isGranted, used, period } = await counters.take(bound, amount, bound.limit)
        if (isGranted) continue
        // Amounts refused by one limit must not count towards the others.
        if (amount > 0) await Promise.all(bounds.slice(0, index).map((taken) => counters.add(taken, -amount)))
        throw overLimit(bound, used, (period + periodOf(name) - now()) / 1000)
      }
    },
    add,
    reserveTokens: async (caller, amount) => {
      const name = 'tokensPerDay'
      const period = startOf(name, now())
      const bounds = (await boundsOf(caller, name)).map((bound) => ({ ...bound, period }))
      const addLater = (usedTokens: number): Promise<void> => add(caller, name, usedTokens)
      if (bounds.length === 0) return addLater
      try {
        const taken = await reservations.reserve(bounds, amount)
        if (taken.isGranted) return taken.settle
        const { bound, used, reserved } = taken
        throw used < bound.limit
          ? reservedLimit(bound, used, reserved)
          : overLimit(bound, used, (period + periodOf(name) - now()) / 1000)
      } catch (error) {
        if (isInlayError(error) && error.code === 'RATE_LIMITED') throw error
        // Without the database nothing is refused, but usage is still counted.
        options.onError(error)
        return addLater
      }
    },
    change: async (change) => {
      if (!workspace) throw new InlayError('NOT_IMPLEMENTED', { message: 'This deployment does not store limits.' })
      const before = (await workspace.get('limits', 1))?.value
      await workspace.put('limits', 1, { ...before, ...change })
      settings.forget()
    },
    used: async () => {
      const [counts, reserved] = [await counters.list(), await reservations.reserved()]
      const reservedOf = new Map(reserved.map(({ owner, kind, amount }) => [`${kind} ${owner}`, amount]))
      return counts.map((count) => ({
        ...count,
        used: Math.max(0, count.used - (reservedOf.get(`${kindOf(count)} ${count.owner}`) ?? 0)),
      }))
    },
    waiting,
    erase: async (ownerId) => {
      await counters.erase(ownerId)
      await waiting.erase(ownerId)
      await reservations.erase(ownerId)
    },
    close: async () => {
      await reservations.close()
      await counters.close()
      await waiting.close()
    },
  }
}

/** None in force are older than a second. If reading fails or takes long, the last known limits apply. */
function createLimitSettings(
  { workspace, onError, limits = {}, tenantLimits = {} }: UsageLimitsOptions,
  syncMs: number,
): Pick<UsageLimits, 'inForce'> & { forget(): void } {
  let last: LimitSettings = { callers: limits, tenant: tenantLimits, isSuspended: false }
  let reading: Promise<unknown> | undefined
  let readAt = -Infinity
  const load = async (from: Pick<WorkspaceRecords, 'get'>): Promise<void> => {
    const { callers, tenant, isSuspended = false } = (await from.get('limits', 1))?.value ?? {}
    last = { callers: callers ?? limits, tenant: tenant ?? tenantLimits, isSuspended }
  }
  return {
    async inForce() {
      const ageMs = performance.now() - readAt
      if (workspace && ageMs >= syncMs / 2) {
        readAt = performance.now()
        const begun = load(workspace)
          .catch(onError)
          .finally(() => reading === begun && (reading = undefined))
        reading = begun
        if (ageMs < syncMs) return last
      }
      if (ageMs === Infinity) await reading
      else if (reading) await endsWithin(reading, syncMs)
      return last
    },
    forget: () => void (readAt = -Infinity),
  }
}

export function overLimit({ scope, name, limit }: Bound, used: number, retryAfterSeconds: number): InlayError {
  const figures = `${used.toLocaleString('en')} of ${limit.toLocaleString('en')} ${units[name]}`
  return new InlayError('RATE_LIMITED', {
    message: `${users[scope]} used ${figures}: try again in ${Math.ceil(retryAfterSeconds)} seconds.`,
    data: { retryAfterSeconds, limit: name, of: scope, used, max: limit },
  })
}

/** Most answers end within a few seconds. */
const answerSeconds = 5

/** Creates the error for tokens that are not used up but reserved for running answers. */
function reservedLimit({ scope, name, limit }: Bound, used: number, reserved: number): InlayError {
  const figures = `${used.toLocaleString('en')} of ${limit.toLocaleString('en')} ${units[name]}`
  return new InlayError('RATE_LIMITED', {
    message: `${users[scope]} used ${figures}, and running answers may use the rest: try again when one of them has ended.`,
    data: { retryAfterSeconds: answerSeconds, limit: name, of: scope, used: used + reserved, max: limit },
  })
}
