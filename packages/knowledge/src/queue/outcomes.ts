import { type RetryPolicy, interruptionDelayMs, interruptionLimit, isLeaseHeld, retryDelayMs } from '@inlay/records'
import { sql } from 'kysely'
import type { DocumentPhase } from '../contracts/documents.ts'
import { retire, toGenerations } from './claims.ts'
import { lockDocuments, phase } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

/** A try that failed. */
export interface FailedTry {
  readonly id: string
  readonly revision: number
  /** Tries so far, this one included. */
  readonly attempts: number
  /** Tries before this one that failed by the document's own fault. */
  readonly failures: number
  /** Safe to show: no content, key, path or address. */
  readonly reason: string
  /** Whether something that the document needs is down, rather than the document bad. */
  readonly isOutage: boolean
}

/** Under what a failure is recorded. */
export interface FailureContext {
  readonly claimId: string
  readonly now: number
  /** A number in [0, 1). */
  readonly random: () => number
  readonly policy: RetryPolicy
}

/**
 * Puts documents back into the queue for a later try, or gives them up, visibly; all in one transaction. A newer version
 * of a document is left alone.
 */
export async function recordFailures(
  db: Records,
  failed: readonly FailedTry[],
  context: FailureContext,
): Promise<void> {
  if (failed.length === 0) return
  const ids = failed.map(({ id }) => id)
  const next = failed.map((attempt) => nextTry(attempt, context))
  await db.transaction().execute(async (transaction) => {
    await lockDocuments(transaction, ids)
    await compareAndFail(next, context.claimId).execute(transaction)
  })
}

interface NextTry extends Pick<FailedTry, 'id' | 'revision' | 'reason' | 'failures'> {
  readonly state: DocumentPhase
  readonly dueAt: number
}

function nextTry({ id, revision, reason, ...tried }: FailedTry, { policy, now, random }: FailureContext): NextTry {
  const failures = tried.failures + (tried.isOutage ? 0 : 1)
  const isGivenUp = failures >= policy.attemptLimit || tried.attempts >= policy.outageAttemptLimit
  const delayMs = retryDelayMs(tried.isOutage ? tried.attempts : failures, random())
  return {
    id,
    revision,
    reason,
    failures,
    state: isGivenUp ? 'failed' : 'pending',
    dueAt: isGivenUp ? now : now + delayMs,
  }
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- the builder's type is the query
const compareAndFail = (tries: readonly NextTry[], claimId: string) => sql`
  with tried(id, revision, state, reason, failures, due_at) as (values ${sql.join(
    tries.map(
      (tried) => sql`(
        cast(${tried.id} as text), cast(${tried.revision} as bigint), cast(${tried.state} as text),
        cast(${tried.reason} as text), cast(${tried.failures} as integer), cast(${tried.dueAt} as bigint)
      )`,
    ),
  )})
  update inlay_documents set
    state = tried.state, claim = null, reason = tried.reason, failures = tried.failures, due_at = tried.due_at
  from tried
  where inlay_documents.id = tried.id
    and inlay_documents.revision = tried.revision
    and inlay_documents.claim = ${claimId}`

/** When claims count as abandoned. */
export interface SweepOptions {
  readonly now: number
  /** Owners known to be gone, whose leases need not run out. */
  readonly isGone?: (owner: string) => boolean
  /** Tells claims that this process is working on: late in renewing them, it is still not gone. */
  readonly isHeld?: (claimId: string) => boolean
}

/** Puts documents of abandoned claims back into the queue. @returns how many claims were abandoned */
export async function sweepClaims(db: Records, { now, isGone, isHeld }: SweepOptions): Promise<number> {
  const claims = await db.selectFrom('inlay_claims').select(['id', 'owner', 'lease_until']).execute()
  let swept = 0
  for (const { id, owner, lease_until } of claims) {
    const expected = Number(lease_until)
    if (isHeld?.(id) || (isLeaseHeld(expected, now) && !isGone?.(owner))) continue
    await db.transaction().execute(async (transaction) => {
      // A lease renewed in the meantime is not abandoned.
      const taken = await transaction
        .deleteFrom('inlay_claims')
        .where('id', '=', id)
        .where('lease_until', '=', expected)
        .returning('generations')
        .executeTakeFirst()
      if (!taken) return
      swept++
      const generations = toGenerations(taken.generations)
      await retire(transaction, { generations, chunkCount: generations.length })
      await requeueInterrupted(transaction, id, now)
    })
  }
  await requeueOrphans(db, now)
  return swept
}

/** Documents whose claim is gone without having said what became of them: the process ended between two commits. */
async function requeueOrphans(db: Records, now: number): Promise<void> {
  const orphans = await db
    .selectFrom('inlay_documents')
    .select('id')
    .where('state', '=', phase.indexing)
    .where((of) =>
      of.not(
        of.exists(of.selectFrom('inlay_claims').select('inlay_claims.id').whereRef('inlay_claims.id', '=', 'claim')),
      ),
    )
    .execute()
  if (orphans.length === 0) return
  const ids = orphans.map(({ id }) => id)
  await db.transaction().execute(async (transaction) => {
    await lockDocuments(transaction, ids)
    await transaction
      .updateTable('inlay_documents')
      .set({ state: 'pending', claim: null, due_at: now })
      .where('id', 'in', ids)
      .where('state', '=', phase.indexing)
      // Claimed anew in the meantime.
      .where((of) =>
        of.not(
          of.exists(of.selectFrom('inlay_claims').select('inlay_claims.id').whereRef('inlay_claims.id', '=', 'claim')),
        ),
      )
      .execute()
  })
}

async function requeueInterrupted(db: Records, claimId: string, now: number): Promise<void> {
  const interrupted = await db
    .selectFrom('inlay_documents')
    .select(['id', 'interruptions'])
    .where('claim', '=', claimId)
    .where('state', '=', phase.indexing)
    .orderBy('id')
    .execute()
  for (const { id, interruptions } of interrupted) {
    const isGivenUp = interruptions + 1 >= interruptionLimit
    await db
      .updateTable('inlay_documents')
      .set({
        state: isGivenUp ? 'failed' : 'pending',
        claim: null,
        interruptions: sql<number>`interruptions + 1`,
        due_at: now + interruptionDelayMs(interruptions + 1),
        reason: isGivenUp
          ? 'The server ended each time this document was being indexed. Make it smaller, or look into the server log.'
          : 'The server ended while this document was being indexed; it is tried again.',
      })
      .where('id', '=', id)
      .where('claim', '=', claimId)
      .execute()
  }
}
