import { isAmong } from '@inlay/records'
import { sql } from 'kysely'
import { isInPairs } from '../access-and-filters/documents.ts'
import { pairsFor } from '../access-and-filters/permissions.ts'
import type { DocumentPhase, FiguresSample, RequeueQuery } from '../contracts/documents.ts'
import type { Caller } from '../contracts/pairs.ts'
import { batchesOf, lockDocuments, phase } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

/**
 * A document that is indexed again waits since then, not since it was accepted. After a failed attempt it is due at the
 * next one, but has been waiting all along. Its place in the queue may be before its acceptance.
 */
const dueSince = sql`case when attempts = 0 and due_at > accepted_at then due_at else accepted_at end`

export async function readQueueFigures(db: Records): Promise<Pick<FiguresSample, 'documents' | 'waitingSince'>> {
  const total = await count(db)
  const pending = await count(db, 'pending')
  const indexing = await count(db, 'indexing')
  const failed = await count(db, 'failed')
  const oldest = await db
    .selectFrom('inlay_documents')
    .select(sql<number | string | null>`min(${dueSince})`.as('at'))
    .where('state', '=', phase.pending)
    .executeTakeFirst()
  return {
    documents: { pending, indexing, failed, indexed: total - pending - indexing - failed },
    waitingSince: oldest?.at === null || oldest?.at === undefined ? undefined : Number(oldest.at),
  }
}

export function countWaiting(db: Records): Promise<number> {
  return count(db, 'pending')
}

/**
 * {@link countWaiting} of the documents that may be indexed now: those of pairs that are neither paused nor removed. At
 * most too many, since a document of several pairs counts in each.
 */
export async function countUnpaused(db: Records): Promise<number> {
  const waiting = await countWaiting(db)
  if (waiting === 0) return 0
  const unpaused = await db
    .selectFrom('inlay_pair_counts as counts')
    .innerJoin('inlay_pairs as pair', 'pair.id', 'counts.pair_id')
    .select((of) => of.fn.sum<number | string | null>('amount').as('sum'))
    .where('pair.is_paused', '=', 0)
    .where('pair.is_removed', '=', 0)
    .where('counts.state', '=', 'pending')
    .executeTakeFirst()
  return Math.min(waiting, Number(unpaused?.sum ?? 0))
}

/** Number of documents waiting or being indexed. */
export async function countUnsettled(db: Records): Promise<number> {
  return (await count(db, 'pending')) + (await count(db, 'indexing'))
}

async function count(db: Records, state?: DocumentPhase): Promise<number> {
  let query = db.selectFrom('inlay_documents').select((of) => of.fn.countAll<number | string>().as('count'))
  if (state) query = query.where('state', '=', phase[state])
  return Number((await query.executeTakeFirst())?.count ?? 0)
}

/** Whether no document is being indexed or waiting, also to be accepted; documents of paused pairs do not count. */
export async function isSettled(db: Records): Promise<boolean> {
  const working = db.selectFrom('inlay_documents').select('id').where('state', '=', phase.indexing)
  const waiting = db
    .selectFrom('inlay_documents')
    .select('id')
    .where('state', '=', phase.pending)
    .where((of) =>
      of.exists(
        of
          .selectFrom('inlay_document_pairs as membership')
          .innerJoin('inlay_pairs as pair', 'pair.id', 'membership.pair_id')
          .select('pair.id')
          .whereRef('membership.document_id', '=', 'inlay_documents.id')
          .where('pair.is_paused', '=', 0),
      ),
    )
  const coming = db.selectFrom('inlay_inbox').select('document_id as id')
  // One statement: between two, a document that is claimed meanwhile would be missed by both.
  return (await working.unionAll(waiting).unionAll(coming).limit(1).execute()).length === 0
}

/** Returns failed documents to the queue as if they were new. @returns their number */
export async function requeueFailed(
  db: Records,
  { now, query: { documentId, pairId, source }, caller }: { now: number; query: RequeueQuery; caller?: Caller },
): Promise<number> {
  const pairs = await pairsFor(db, caller, pairId)
  let failed = db.selectFrom('inlay_documents').select('id').where('state', '=', phase.failed)
  if (documentId !== undefined) failed = failed.where('id', '=', documentId)
  if (source !== undefined) failed = failed.where('source', '=', source)
  if (pairs) failed = failed.where(isInPairs(pairs))
  let requeued = 0
  const ids = (await failed.execute()).map(({ id }) => id)
  // In batches also because other writers wait for the locks of a transaction.
  for (const batch of batchesOf(ids)) requeued += await requeueSome(db, batch, now)
  return requeued
}

function requeueSome(db: Records, ids: readonly string[], now: number): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    await lockDocuments(transaction, ids)
    const { numUpdatedRows } = await transaction
      .updateTable('inlay_documents')
      .set({ state: 'pending', due_at: now, attempts: 0, failures: 0, interruptions: 0, reason: null })
      .where(isAmong(db, 'id', ids))
      .where('state', '=', phase.failed)
      .executeTakeFirst()
    return Number(numUpdatedRows)
  })
}
