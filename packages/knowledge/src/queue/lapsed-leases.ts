import { interruptionDelayMs, interruptionLimit, isLeaseHeld, isAmong } from '@inlay/records'
import { sql } from 'kysely'
import { retire, toGenerations } from './claims.ts'
import { lockDocuments, phase } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

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

/** Their ids go into one query; those left are seen by the next sweep. */
const mostOrphans = 1_000

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
    .limit(mostOrphans)
    .execute()
  if (orphans.length === 0) return
  const ids = orphans.map(({ id }) => id)
  await db.transaction().execute(async (transaction) => {
    await lockDocuments(transaction, ids)
    await transaction
      .updateTable('inlay_documents')
      .set({ state: 'pending', claim: null, due_at: now })
      .where(isAmong(db, 'id', ids))
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
