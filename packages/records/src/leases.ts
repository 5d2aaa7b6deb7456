import { unrefTimer } from '@inlay/scheduling'
import type { ColumnType } from 'kysely'
import type { AnyDatabase } from './dialect.ts'
import { createTables } from './schema.ts'

/** A `bigint`, which Postgres drivers return as text: convert it with `Number()`. */
export type BigInteger = ColumnType<number | string, number, number>

/** A `bigint` that may be null; see {@link BigInteger}. */
export type NullableBigInteger = ColumnType<number | string | null, number | null, number | null>

/** The lease of one process on a job. */
export interface JobLeaseRow {
  job: string
  owner: string
  lease_until: BigInteger
}

/** Creates the table of leases; packages that use leases call it in a migration. */
export async function createJobLeases(db: AnyDatabase): Promise<void> {
  const columns = 'job text primary key not null, owner text not null, lease_until bigint not null'
  await createTables(db, { inlay_job_leases: columns }, { ifNotExists: true })
}

/** A request for a lease on a job. */
export interface JobLease {
  readonly job: string
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
  /** Whether an owner is known to have ended, so that its lease need not expire. */
  readonly isGone?: (owner: string) => boolean
}

/** Maximum duration of leases and waits: a later end was written before the clock of a machine was set back. */
export const maxLeaseMs: number = 60 * 60_000

/** Whether a lease has not expired. The clocks of machines may differ by the length of a lease. */
export function isLeaseHeld(leaseUntil: number, now: number): boolean {
  return leaseUntil >= now && leaseUntil <= now + maxLeaseMs
}

/**
 * Acquires or renews the lease on a job that only one process at a time may run. @returns false while another process
 * holds it
 */
export async function holdJob(db: AnyDatabase, { job, owner, now, leaseMs, isGone }: JobLease): Promise<boolean> {
  const until = now + leaseMs
  const holder = await db.selectFrom('inlay_job_leases').select('owner').where('job', '=', job).executeTakeFirst()
  const goneOwner = holder && isGone?.(holder.owner) ? holder.owner : owner
  const held = await db
    .insertInto('inlay_job_leases')
    .values({ job, owner, lease_until: until })
    .onConflict((conflict) =>
      conflict
        .column('job')
        .doUpdateSet({ owner, lease_until: until })
        .where((of) =>
          of.or([
            of('inlay_job_leases.owner', 'in', [owner, goneOwner]),
            of('inlay_job_leases.lease_until', '<', now),
            of('inlay_job_leases.lease_until', '>', now + maxLeaseMs),
          ]),
        ),
    )
    .returning('owner')
    .executeTakeFirst()
  return held !== undefined
}

/** Releases the lease. */
export async function releaseJob(db: AnyDatabase, { job, owner }: Pick<JobLease, 'job' | 'owner'>): Promise<void> {
  await db.deleteFrom('inlay_job_leases').where('job', '=', job).where('owner', '=', owner).execute()
}

/** A job that one process at a time does. */
export interface HeldJob extends Pick<JobLease, 'job' | 'owner' | 'isGone'> {
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

const leaseMs = 10_000

/** Does a job under a lease that is renewed meanwhile. @returns false if another process holds the lease */
export async function whileHeld(
  db: AnyDatabase,
  { job, owner, isGone, now, onError }: HeldJob,
  work: () => Promise<void>,
): Promise<boolean> {
  const hold = (): Promise<boolean> => holdJob(db, { job, owner, now: now(), leaseMs, isGone })
  if (!(await hold())) return false
  let renewed: Promise<unknown> = Promise.resolve()
  const renewal = setInterval(() => {
    renewed = renewed.then(hold).catch(onError)
  }, leaseMs / 3)
  unrefTimer(renewal)
  try {
    await work()
  } finally {
    clearInterval(renewal)
    // A renewal that ended after the release would take the lease again.
    await renewed
    await releaseJob(db, { job, owner })
  }
  return true
}
