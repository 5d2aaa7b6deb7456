import { isAmong } from '@inlay/records'
import { isInPairs } from '../access-and-filters/documents.ts'
import { pairsFor } from '../access-and-filters/permissions-and-filters.ts'
import type { DocumentPhase, RequeueQuery } from '../contracts/documents.ts'
import type { Caller } from '../contracts/pairs.ts'
import { lockDocuments, phase } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

/** How many documents stand where, and since when the oldest of them waits. */
export interface QueueFigures {
  readonly documents: Readonly<Record<DocumentPhase, number>>
  /** When the document that waits longest was accepted, in milliseconds since 1970 UTC; undefined when none waits. */
  readonly oldestAcceptedAt: number | undefined
}

export async function readQueueFigures(db: Records): Promise<QueueFigures> {
  const total = await count(db)
  const pending = await count(db, 'pending')
  const indexing = await count(db, 'indexing')
  const failed = await count(db, 'failed')
  const oldest = await db
    .selectFrom('inlay_documents')
    .select((of) => of.fn.min<number | string | null>('accepted_at').as('at'))
    .where('state', '=', phase.pending)
    .executeTakeFirst()
  return {
    documents: { pending, indexing, failed, indexed: total - pending - indexing - failed },
    oldestAcceptedAt: oldest?.at === null || oldest?.at === undefined ? undefined : Number(oldest.at),
  }
}

/** Documents that wait for a try. */
export function countWaiting(db: Records): Promise<number> {
  return count(db, 'pending')
}

/** Documents that wait for a try, and those under way. */
export async function countUnsettled(db: Records): Promise<number> {
  return (await count(db, 'pending')) + (await count(db, 'indexing'))
}

async function count(db: Records, state?: DocumentPhase): Promise<number> {
  let query = db.selectFrom('inlay_documents').select((of) => of.fn.countAll<number | string>().as('count'))
  if (state) query = query.where('state', '=', phase[state])
  return Number((await query.executeTakeFirst())?.count ?? 0)
}

/** Whether nothing is being indexed or waits to be; what waits in paused pairs does not count. */
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
  // One statement: a document that is taken from the queue between two would be seen by neither.
  return (await working.unionAll(waiting).limit(1).execute()).length === 0
}

/** Puts failed documents back into the queue as if they were new; answers how many. */
export async function requeueFailed(
  db: Records,
  { now, query: { documentId, pairId, source }, caller }: { now: number; query: RequeueQuery; caller?: Caller },
): Promise<number> {
  const pairs = await pairsFor(db, caller, pairId)
  let failed = db.selectFrom('inlay_documents').select('id').where('state', '=', phase.failed)
  if (documentId !== undefined) failed = failed.where('id', '=', documentId)
  if (source !== undefined) failed = failed.where('source', '=', source)
  if (pairs) failed = failed.where(isInPairs(db, pairs))
  let requeued = 0
  const ids = (await failed.execute()).map(({ id }) => id)
  for (let at = 0; at < ids.length; at += requeueBatch)
    requeued += await requeueSome(db, ids.slice(at, at + requeueBatch), now)
  return requeued
}

/** Databases bound the parameters of a statement, and others wait for what a transaction holds. */
const requeueBatch = 1000

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
