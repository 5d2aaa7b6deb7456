import type { Records } from '../schema/tables.ts'

/** Who wants to do a job, and until when. */
export interface JobLease {
  readonly job: string
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
  /** Tells owners known to be gone, whose lease need not run out. */
  readonly isGone?: (owner: string) => boolean
}

/** Longer than any lease: one that ends later was given before the clock of a machine was set back. */
const longestLeaseMs = 60 * 60_000

/** Whether a lease still holds. Clocks of machines may differ by as much as leases are long. */
export function isLeaseHeld(leaseUntil: number, now: number): boolean {
  return leaseUntil >= now && leaseUntil <= now + longestLeaseMs
}

/** Takes or renews the right to do a job that one process at a time may do; false while another one has it. */
export async function holdJob(db: Records, { job, owner, now, leaseMs, isGone }: JobLease): Promise<boolean> {
  const until = now + leaseMs
  const holder = await db.selectFrom('inlay_job_leases').select('owner').where('job', '=', job).executeTakeFirst()
  if (holder && holder.owner !== owner && isGone?.(holder.owner)) await leaveJob(db, { job, owner: holder.owner })
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
export async function leaveJob(db: Records, { job, owner }: Pick<JobLease, 'job' | 'owner'>): Promise<void> {
  await db.deleteFrom('inlay_job_leases').where('job', '=', job).where('owner', '=', owner).execute()
}
