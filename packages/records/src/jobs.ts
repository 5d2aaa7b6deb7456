import type { AnyDatabase } from './dialect.ts'
import { maxAheadMs } from './leases.ts'

export interface ClaimedJob {
  readonly id: string
  readonly claim: string
  readonly attempts: number
}

/**
 * A table of jobs. Its columns, besides the primary key `id`: `claim`, the id of the current claim or null, new for each
 * attempt, so that a late worker cannot settle the job; `due_at`, when the row can be claimed: the end of the lease
 * while it is, otherwise the time of the next attempt; `attempts` so far, including the running one.
 */
export interface JobTable {
  readonly db: AnyDatabase
  readonly table: string
}

/**
 * Claims the row that has been due longest among those whose `column` is not null; undefined if none is due. No other
 * worker claims it while the lease is renewed. A row due later than any wait was scheduled before the clock was set
 * back, and is due now.
 */
export async function claimJob(
  { db, table }: JobTable,
  { column, now, leaseMs }: { readonly column: string; readonly now: number; readonly leaseMs: number },
): Promise<ClaimedJob | undefined> {
  for (;;) {
    const due = await db
      .selectFrom(table)
      .select(['id', 'due_at'])
      .where(column, 'is not', null)
      .where((of) => of.or([of('due_at', '<=', now), of('due_at', '>', now + maxAheadMs)]))
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst()
    if (!due) return undefined
    const claimed = await claimRow({ db, table }, due, { column, now, leaseMs })
    if (claimed) return claimed
  }
}

/** Claims a row that was read as due; undefined if another process has claimed it first. */
export async function claimRow(
  { db, table }: JobTable,
  { id, due_at: dueAt }: Readonly<Record<string, unknown>>,
  { column, now, leaseMs }: { readonly column: string; readonly now: number; readonly leaseMs: number },
): Promise<ClaimedJob | undefined> {
  const claim = crypto.randomUUID()
  const taken = await db
    .updateTable(table)
    .set((of) => ({ claim, due_at: now + leaseMs, attempts: of('attempts', '+', 1) }))
    .where('id', '=', id)
    .where(column, 'is not', null)
    .where('due_at', '=', Number(dueAt))
    .returning('attempts')
    .executeTakeFirst()
  return taken && { id: String(id), claim, attempts: Number(taken.attempts) }
}

/** Extends the lease. @returns false if the claim is lost */
export async function renewJob({ db, table }: JobTable, job: ClaimedJob, leaseUntil: number): Promise<boolean> {
  return settleJob({ db, table }, job, { claim: job.claim, due_at: leaseUntil })
}

/**
 * Ends an attempt: updates the row and releases the claim.
 * @returns false if the claim is lost: the row was deleted or claimed by another worker, and nothing was changed
 */
export async function settleJob(
  { db, table }: JobTable,
  { id, claim }: ClaimedJob,
  change: Readonly<Record<string, unknown>> = {},
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable(table)
    .set({ claim: null, ...change })
    .where('id', '=', id)
    .where('claim', '=', claim)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
