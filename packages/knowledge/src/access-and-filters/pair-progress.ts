import { readFailures } from './documents.ts'
import type { DocumentPhase } from '../contracts/documents.ts'
import type { Pair, PairProgress } from '../contracts/pairs.ts'
import { phase } from '../schema/sql.ts'
import type { Records } from '../schema/tables.ts'

/** Most failures told of one pair. */
const mostFailures = 10

/** Adds to pairs how they fare. Costs a look at each document that is not indexed, and counts the others by an index. */
export async function readPairProgress(db: Records, pairs: readonly Pair[]): Promise<PairProgress[]> {
  const total = await countMembers(db)
  const pending = await countByPhase(db, 'pending')
  const indexing = await countByPhase(db, 'indexing')
  const failed = await countByPhase(db, 'failed')
  const activities = await db.selectFrom('inlay_pair_activity').selectAll().execute()
  const activityOf = new Map(activities.map((row) => [row.pair_id, row]))
  return Promise.all(
    pairs.map(async (pair) => {
      const [waiting, working, given] = [pending, indexing, failed].map((counts) => counts.get(pair.id) ?? 0)
      const documents = { pending: waiting!, indexing: working!, failed: given! }
      const activity = activityOf.get(pair.id)
      return {
        ...pair,
        documents: { ...documents, indexed: (total.get(pair.id) ?? 0) - waiting! - working! - given! },
        lastAcceptedAt: toTimestamp(activity?.accepted_at),
        lastIndexedAt: toTimestamp(activity?.indexed_at),
        failures: given === 0 ? [] : await readFailures(db, pair.id, mostFailures),
      }
    }),
  )
}

async function countMembers(db: Records): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('inlay_document_pairs')
    .select((of) => ['pair_id', of.fn.countAll<number | string>().as('count')])
    .groupBy('pair_id')
    .execute()
  return new Map(rows.map((row) => [row.pair_id, Number(row.count)]))
}

async function countByPhase(db: Records, name: DocumentPhase): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('inlay_documents as document')
    .innerJoin('inlay_document_pairs as membership', 'membership.document_id', 'document.id')
    .select((of) => ['pair_id', of.fn.countAll<number | string>().as('count')])
    .where('state', '=', phase[name])
    .groupBy('pair_id')
    .execute()
  return new Map(rows.map((row) => [row.pair_id, Number(row.count)]))
}

function toTimestamp(value: number | string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}
