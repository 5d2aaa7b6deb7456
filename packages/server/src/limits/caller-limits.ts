import { InlayError, type CallerLimits, type Principal } from '@inlay/protocol'
import type { Kysely } from 'kysely'
import type { WorkspaceRecords } from '../administration/workspace-records.ts'
import {
  createUsageCounters,
  periodOf,
  type Count,
  type Counted,
  type CountedScope,
  type LimitName,
  type UsageTable,
} from './usage-counters.ts'
import { createWaitingDocuments, type WaitingDocuments, type WaitingDocumentsTable } from './waiting-documents.ts'

export type { LimitName, UsageTable }

/** The limits of each caller, and those of everybody together. */
export interface LimitSettings {
  readonly callers: CallerLimits
  readonly tenant: CallerLimits
}

/** A limit that binds a call. */
export interface Bound extends Counted {
  readonly limit: number
}

/** Counts what is used and refuses what is over a limit: of the key or the caller, and of everybody together. */
export interface UsageLimits {
  /**
   * Counts an amount before it is used. With 0 it asks whether anything is left.
   * @throws RATE_LIMITED with the figures and the time until the next minute or day
   */
  take(caller: Principal, name: LimitName, amount?: number): Promise<void>
  /** Counts what has been used; never refuses. */
  add(caller: Principal, name: LimitName, amount: number): Promise<void>
  /** The limits of one name that bind a caller. */
  boundsOf(caller: Principal, name: LimitName): Promise<readonly Bound[]>
  /** The limits in force: what administrators set, else what the deployment was set to. */
  inForce(): Promise<LimitSettings>
  /** Sets limits, for all processes within a second; null goes back to what the deployment was set to. */
  change(change: { readonly [Of in keyof LimitSettings]?: CallerLimits | null }): Promise<void>
  /** What was used of limits in the present minute or day. */
  used(): Promise<readonly Count[]>
  /** Documents that wait, of callers and keys whose number of them is limited. */
  readonly waiting: WaitingDocuments
  /** Forgets what a caller has used. */
  erase(ownerId: string): Promise<void>
  /** Writes what is still to be written. */
  close(): Promise<void>
}

/** What limits are made with. */
export interface UsageLimitsOptions {
  /** Holds the tables of `migrateServer`. */
  readonly db: Kysely<UsageTable & WaitingDocumentsTable>
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
  /** Limits of callers who have none of their own. Default: none. */
  readonly limits?: CallerLimits | undefined
  /** Limits of everybody together. Default: none. */
  readonly tenantLimits?: CallerLimits | undefined
  /** Keeps what administrators set. Absent: they cannot. */
  readonly workspace?: Pick<WorkspaceRecords, 'get' | 'put'> | undefined
  /** Told when counts could not be written; they are written later. */
  readonly onError: (error: unknown) => void
  /** How often limits that were set and documents that wait are read, in milliseconds. Default 1000. */
  readonly syncMs?: number
}

const units: Readonly<Record<LimitName, string>> = {
  requestsPerMinute: 'requests a minute',
  tokensPerDay: 'tokens a day',
  uploadsPerDay: 'uploaded files a day',
  sessionsPerDay: 'new chat sessions a day',
  documentsPerDay: 'ingested documents a day',
  waitingDocuments: 'documents that wait to be indexed',
}
const users: Readonly<Record<CountedScope, string>> = {
  caller: 'You have',
  key: 'This key has',
  tenant: 'All callers together have',
}

/**
 * Limits over a database that all processes share: together they pass none. Minutes and days are those of the clock, in
 * UTC. Documents that wait are counted once a second.
 */
export function createUsageLimits(options: UsageLimitsOptions): UsageLimits {
  const { now, workspace, syncMs = 1_000 } = options
  const counters = createUsageCounters({ ...options, db: options.db.$pickTables<'inlay_usage'>(), retryMs: syncMs })
  const waiting = createWaitingDocuments({
    ...options,
    db: options.db.$pickTables<'inlay_waiting_documents'>(),
    syncMs,
  })
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
  return {
    boundsOf,
    inForce: settings.inForce,
    take: async (caller, name, amount = 1) => {
      const bounds = await boundsOf(caller, name)
      for (const [index, bound] of bounds.entries()) {
        const { isGranted, used, period } = await counters.take(bound, amount, bound.limit)
        if (isGranted) continue
        // What is refused by one limit uses up no other.
        if (amount > 0) await Promise.all(bounds.slice(0, index).map((taken) => counters.add(taken, -amount)))
        throw overLimit(bound, used, (period + periodOf(name) - now()) / 1000)
      }
    },
    add: async (caller, name, amount) => {
      if (amount <= 0) return
      await Promise.all((await boundsOf(caller, name)).map((bound) => counters.add(bound, amount)))
    },
    change: async (change) => {
      if (!workspace)
        throw new InlayError('NOT_IMPLEMENTED', { message: 'This deployment keeps no limits of its own.' })
      const before = (await workspace.get('limits', 1))?.value
      await workspace.put('limits', 1, { ...before, ...change })
      settings.forget()
    },
    used: counters.list,
    waiting,
    erase: async (ownerId) => {
      await counters.erase(ownerId)
      await waiting.erase(ownerId)
    },
    close: async () => {
      await counters.close()
      await waiting.close()
    },
  }
}

interface ReadLimits extends Pick<UsageLimits, 'inForce'> {
  /** Has what was set looked up again. */
  forget(): void
}

/** What administrators set is looked up once a second. While it cannot be read, what was read last holds. */
function createLimitSettings(
  { workspace, onError, limits = {}, tenantLimits = {} }: UsageLimitsOptions,
  syncMs: number,
): ReadLimits {
  let last: LimitSettings = { callers: limits, tenant: tenantLimits }
  let reading: Promise<void> | undefined
  let readAt = -Infinity
  const load = async (from: Pick<WorkspaceRecords, 'get'>): Promise<void> => {
    const { callers, tenant } = (await from.get('limits', 1))?.value ?? {}
    last = { callers: callers ?? limits, tenant: tenant ?? tenantLimits }
  }
  return {
    async inForce() {
      if (workspace && performance.now() - readAt >= syncMs) {
        const isFirst = readAt === -Infinity
        readAt = performance.now()
        reading = load(workspace).catch(onError)
        if (!isFirst) return last
      }
      await reading
      return last
    },
    forget: () => void (readAt = -Infinity),
  }
}

/** The refusal of what is over a limit. */
export function overLimit({ scope, name, limit }: Bound, used: number, retryAfterSeconds: number): InlayError {
  const figures = `${used.toLocaleString('en')} of ${limit.toLocaleString('en')} ${units[name]}`
  return new InlayError('RATE_LIMITED', {
    message: `${users[scope]} used ${figures}: try again in ${Math.ceil(retryAfterSeconds)} seconds.`,
    data: { retryAfterSeconds, limit: name, of: scope, used, most: limit },
  })
}
