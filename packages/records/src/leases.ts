import { InlayError } from '@inlay/protocol'
import { unrefTimer } from '@inlay/scheduling'
import type { ColumnType } from 'kysely'
import type { AnyDatabase } from './dialect.ts'

/** A `bigint`, which Postgres drivers return as text: convert it with `Number()`. */
export type BigInteger = ColumnType<number | string, number, number>

/** A `bigint` that may be null; see {@link BigInteger}. */
export type NullableBigInteger = ColumnType<number | string | null, number | null, number | null>

export interface JobLeaseRow {
  job: string
  owner: string
  lease_until: BigInteger
}

/** The table of leases; packages that use leases create it in a migration. */
export const jobLeaseTable = {
  inlay_job_leases: 'job text not null primary key, owner text not null, lease_until bigint not null',
} as const

export interface JobLease {
  readonly job: string
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
  /** Whether an owner is known to have ended, so that its lease need not expire. */
  readonly isGone?: (owner: string) => boolean
}

/** Maximum duration of leases and waits. */
export const maxLeaseMs: number = 60 * 60_000
/**
 * A time further ahead was written before the clock of a machine was set back. Twice the longest lease, so that it also
 * holds on a machine whose clock is behind.
 */
export const maxAheadMs: number = 2 * maxLeaseMs

/** Whether a lease has not expired. The clocks of machines may differ by the length of a lease. */
export function isLeaseHeld(leaseUntil: number, now: number): boolean {
  return leaseUntil >= now && leaseUntil <= now + maxAheadMs
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
            of('inlay_job_leases.lease_until', '>', now + maxAheadMs),
          ]),
        ),
    )
    .returning('owner')
    .executeTakeFirst()
  return held !== undefined
}

export async function releaseJob(db: AnyDatabase, { job, owner }: Pick<JobLease, 'job' | 'owner'>): Promise<void> {
  await db.deleteFrom('inlay_job_leases').where('job', '=', job).where('owner', '=', owner).execute()
}

/** How a lease is renewed while its holder works. */
export interface Renewal {
  /** Extends the lease. Resolves to false if it is lost. */
  readonly renew: () => Promise<boolean>
  readonly everyMs: number
  /** Aborts the work, too. */
  readonly signal?: AbortSignal | undefined
  readonly onError: (error: unknown) => void
}

/**
 * Does work while its lease is renewed. The signal aborts when the lease is lost: from then on the work writes nothing.
 * A renewal in progress is awaited at the end, so that it does not follow the release of the lease.
 */
export async function whileRenewed<Result>(
  { renew, everyMs, signal, onError }: Renewal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController()
  const forward = (): void => stop.abort(signal?.reason)
  signal?.addEventListener('abort', forward)
  if (signal?.aborted) forward()
  let renewing: Promise<void> | undefined
  const timer = setInterval(() => {
    renewing ??= renew()
      .then((isHeld) => {
        if (isHeld) return
        clearInterval(timer)
        stop.abort(new InlayError('CLOSED', { message: 'Another process has taken over this work.', retryable: true }))
      })
      .catch(onError)
      .finally(() => (renewing = undefined))
  }, everyMs)
  unrefTimer(timer)
  try {
    return await work(stop.signal)
  } finally {
    clearInterval(timer)
    signal?.removeEventListener('abort', forward)
    await renewing
  }
}

/** A job that one process at a time does. */
export interface HeldJob extends Pick<JobLease, 'job' | 'owner' | 'isGone'> {
  readonly now: () => number
  /** Aborts the job, too. */
  readonly signal?: AbortSignal
  readonly onError: (error: unknown) => void
}

const leaseMs = 10_000

/**
 * Does a job under a lease that is renewed meanwhile. The signal aborts when the lease is lost: from then on the job
 * writes nothing. @returns false if another process holds the lease, or has taken it over
 */
export async function whileHeld(
  db: AnyDatabase,
  { job, owner, isGone, now, signal, onError }: HeldJob,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const hold = (): Promise<boolean> => holdJob(db, { job, owner, now: now(), leaseMs, isGone })
  if (!(await hold())) return false
  let isLost = false
  const renew = async (): Promise<boolean> => {
    isLost ||= !(await hold())
    return !isLost
  }
  try {
    await whileRenewed({ renew, everyMs: leaseMs / 3, signal, onError }, work)
  } catch (error) {
    if (!isLost) throw error
  } finally {
    await releaseJob(db, { job, owner })
  }
  return !isLost
}
