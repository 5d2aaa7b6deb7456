import type { AnyDatabase } from './dialect.ts'
import { longestLeaseMs, type BigInteger } from './leases.ts'

/** Columns of a table whose rows are jobs, besides its primary key `id`. */
export interface JobColumns {
  /**
   * Id of the current claim; null when nobody works on the row. New for each attempt, so that a late worker cannot
   * settle.
   */
  claim: string | null
  /** When the row may be taken: the end of the lease while it is claimed, else the time of the next try. */
  due_at: BigInteger
  /** Tries so far, the running one included. */
  attempts: number
}

/** A row that one worker has taken. */
export interface ClaimedJob {
  readonly id: string
  readonly claim: string
  readonly attempts: number
}

/** The table of the jobs. */
export interface JobTable {
  readonly db: AnyDatabase
  readonly table: string
}

/**
 * Takes the row that has been due longest among those whose `column` is not null; undefined when none is due. Nobody
 * else takes it while the lease is renewed. A row due in more than an hour was put off before the clock was set back, and
 * is due now.
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
      .where((of) => of.or([of('due_at', '<=', now), of('due_at', '>', now + longestLeaseMs)]))
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst()
    if (!due) return undefined
    const claim = crypto.randomUUID()
    const taken = await db
      .updateTable(table)
      .set((of) => ({ claim, due_at: now + leaseMs, attempts: of('attempts', '+', 1) }))
      .where('id', '=', due.id)
      .where(column, 'is not', null)
      .where('due_at', '=', Number(due.due_at))
      .returning('attempts')
      .executeTakeFirst()
    // Otherwise another process was faster.
    if (taken) return { id: String(due.id), claim, attempts: Number(taken.attempts) }
  }
}

/** Moves the end of the lease; false when the claim is lost. */
export async function renewJob({ db, table }: JobTable, job: ClaimedJob, leaseUntil: number): Promise<boolean> {
  return settleJob({ db, table }, job, { claim: job.claim, due_at: leaseUntil })
}

/**
 * Ends a try: changes the row and lets go of it.
 * @returns false when the claim is lost: the row is gone, or another worker has it, and nothing was changed
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
