import type { AuditEvent, AuditQuery } from '@inlay/protocol/administration'
import type { Kysely } from 'kysely'

/** Table of audit events for Kysely. Rows are only added, and deleted after the retention time. */
export interface AuditTable {
  inlay_audit: {
    /** Rises with time: milliseconds since 1970 UTC in 11 base-36 digits, a 4-digit counter, random characters. */
    id: string
    caller_id: string | null
    operation: string
    /** JSON object of strings. */
    target: string
    status: number
    request_id: string
  }
}

export interface AuditEntry {
  readonly callerId: string | null
  readonly operation: string
  readonly target: Readonly<Record<string, string>>
  readonly status: number
  readonly requestId: string
}

/** Records administrative changes, deletions and changes of access, with their caller. Deleted only by age. */
export interface AuditLog {
  add(entry: AuditEntry): Promise<void>
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditEvent[]>
  /** Deletes the oldest events before a time, at most `limit`. @returns the number deleted */
  removeBefore(time: number, limit: number): Promise<number>
}

const timeDigits = 11

/** When an event happened, in ISO 8601. @param id of its row */
export const timeOfEvent = (id: string): string => new Date(Number.parseInt(id.slice(0, timeDigits), 36)).toISOString()

/** Creates the audit log in a database with the tables of `migrateServer`. */
export function createAuditLog(options: { readonly db: Kysely<AuditTable>; readonly now?: () => number }): AuditLog {
  const { db, now = Date.now } = options
  let added = 0
  const digits = (value: number, length: number): string => value.toString(36).padStart(length, '0')
  return {
    async add({ callerId, operation, target, status, requestId }) {
      added = (added + 1) % 36 ** 4
      const id = `${digits(now(), timeDigits)}${digits(added, 4)}${crypto.randomUUID().slice(0, 8)}`
      const text = JSON.stringify(target)
      const row = { id, caller_id: callerId, operation, target: text, status, request_id: requestId }
      await db.insertInto('inlay_audit').values(row).execute()
    },
    async list({ caller_id: callerId, operation, limit, before }) {
      const rows = await db
        .selectFrom('inlay_audit')
        .selectAll()
        .$if(callerId !== undefined, (query) => query.where('caller_id', '=', callerId ?? ''))
        .$if(operation !== undefined, (query) => query.where('operation', '=', operation ?? ''))
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
      return rows.map(({ target, status, ...row }) => ({
        ...row,
        time: timeOfEvent(row.id),
        target: JSON.parse(target) as Record<string, string>,
        status: Number(status),
      }))
    },
    async removeBefore(time, limit) {
      const { isUnheld, lockHolds } = await import('@inlay/records')
      const old = db
        .selectFrom('inlay_audit')
        .select('id')
        .where('id', '<', digits(Math.max(0, time), timeDigits))
        .where(isUnheld('caller_id'))
        .orderBy('id')
        .limit(limit)
      return db.transaction().execute(async (records) => {
        await lockHolds(records)
        const { numDeletedRows } = await records.deleteFrom('inlay_audit').where('id', 'in', old).executeTakeFirst()
        return Number(numDeletedRows)
      })
    },
  }
}
