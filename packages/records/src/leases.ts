import type { ColumnType } from 'kysely'
import type { AnyDatabase } from './dialect.ts'
import { createTables } from './schema.ts'

/** A `bigint`, which Postgres drivers hand out as text: read it through `Number()`. */
export type BigInteger = ColumnType<number | string, number, number>

/** A `bigint` that may be null; see {@link BigInteger}. */
export type NullableBigInteger = ColumnType<number | string | null, number | null, number | null>

/** The right of one process to do a job. */
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

/** A request to do a job. */
export interface JobLease {
  readonly job: string
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
  /** Whether an owner is known to be gone, so that its lease need not run out. */
  readonly isGone?: (owner: string) => boolean
}

/** No lease or wait is longer: one that ends later was given before the clock of a machine was set back. */
export const longestLeaseMs: number = 60 * 60_000

/** Whether a lease still holds. Clocks of machines may differ by as much as leases are long. */
export function isLeaseHeld(leaseUntil: number, now: number): boolean {
  return leaseUntil >= now && leaseUntil <= now + longestLeaseMs
}

/** Takes or renews the right to do a job that one process at a time may do; false while another process has it. */
export async function holdJob(db: AnyDatabase, { job, owner, now, leaseMs, isGone }: JobLease): Promise<boolean> {
  const until = now + leaseMs
  const holder = await db.selectFrom('inlay_job_leases').select('owner').where('job', '=', job).executeTakeFirst()
  if (holder && holder.owner !== owner && isGone?.(holder.owner)) await releaseJob(db, { job, owner: holder.owner })
  const held = await db
    .insertInto('inlay_job_leases')
    .values({ job, owner, lease_until: until })
    .onConflict((conflict) =>
      conflict
        .column('job')
        .doUpdateSet({ owner, lease_until: until })
        .where((of) =>
          of.or([
            of('inlay_job_leases.owner', '=', owner),
            of('inlay_job_leases.lease_until', '<', now),
            of('inlay_job_leases.lease_until', '>', now + longestLeaseMs),
          ]),
        ),
    )
    .returning('owner')
    .executeTakeFirst()
  return held !== undefined
}

/** Gives the right back. */
export async function releaseJob(db: AnyDatabase, { job, owner }: Pick<JobLease, 'job' | 'owner'>): Promise<void> {
  await db.deleteFrom('inlay_job_leases').where('job', '=', job).where('owner', '=', owner).execute()
}
