import { interruptionDelayMs, maxInterruptions, isLeaseHeld, isAmong, prepared } from '@inlay/records'
import { type ExpressionBuilder, sql } from 'kysely'
import { retire, toGenerations } from './claims.ts'
import { lockDocuments, phase, idsOf } from '../schema/sql.ts'
import type { Records, Tables } from '../schema/tables.ts'

export interface SweepOptions {
  readonly now: number
  /** Owners known to have ended, whose leases need not expire. */
  readonly isGone?: (owner: string) => boolean
  /** Whether this process is working on a claim: its lease may have expired only because renewing was delayed. */
  readonly isHeld?: (claimId: string) => boolean
}

const allClaims = prepared((db: Records) => db.selectFrom('inlay_claims').select(['id', 'owner', 'lease_until']))

/** Returns documents of abandoned claims to the queue. @returns the number of abandoned claims */
export async function sweepClaims(db: Records, { now, isGone, isHeld }: SweepOptions): Promise<number> {
  const claims = await allClaims(db, {})
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

/** Their ids go into one query; the next sweep handles the rest. */
const maxOrphans = 1_000

const orphanedDocuments = prepared((db: Records) =>
  db.selectFrom('inlay_documents').select('id').where('state', '=', phase.indexing).where(hasNoClaim).limit(maxOrphans),
)

const hasNoClaim = (of: ExpressionBuilder<Tables, 'inlay_documents'>) =>
  of.not(of.exists(of.selectFrom('inlay_claims').select('inlay_claims.id').whereRef('inlay_claims.id', '=', 'claim')))

/** Their claim was deleted before their result was recorded: the process ended between two commits. */
async function requeueOrphans(db: Records, now: number): Promise<void> {
  const orphans = await orphanedDocuments(db, {})
  if (orphans.length === 0) return
  const ids = idsOf(orphans)
  await db.transaction().execute(async (transaction) => {
    await lockDocuments(transaction, ids)
    await transaction
      .updateTable('inlay_documents')
      .set({ state: 'pending', claim: null, due_at: now })
      .where(isAmong(db, 'id', ids))
      .where('state', '=', phase.indexing)
      // Unless claimed again in the meantime.
      .where(hasNoClaim)
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
    const isGivenUp = interruptions + 1 >= maxInterruptions
    await db
      .updateTable('inlay_documents')
      .set({
        state: isGivenUp ? 'failed' : 'pending',
        claim: null,
        interruptions: sql<number>`interruptions + 1`,
        due_at: now + interruptionDelayMs(interruptions + 1),
        reason: isGivenUp
          ? 'The server process ended each time this document was being indexed. Make the document smaller, or check the server log.'
          : 'The server process ended while this document was being indexed; indexing is retried.',
      })
      .where('id', '=', id)
      .where('claim', '=', claimId)
      .execute()
  }
}
