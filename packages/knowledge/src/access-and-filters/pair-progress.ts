import { isAmong } from '@inlay/records'
import { readLatestFailures } from './documents.ts'
import type { DocumentPhase } from '../contracts/documents.ts'
import type { Pair, PairProgress } from '../contracts/pairs.ts'
import { foldCounts } from '../schema/pair-counts.ts'
import type { Records } from '../schema/tables.ts'
import { idsOf } from '../schema/sql.ts'

/** Maximum number of failures reported per pair. */
const maxFailures = 10

const none: Readonly<Record<DocumentPhase, number>> = { pending: 0, indexing: 0, indexed: 0, failed: 0 }

/** Adds the indexing progress to pairs, at a cost that does not depend on the number of documents. */
export async function readPairProgress(
  db: Records,
  pairs: readonly Pair[],
  withFailures = true,
): Promise<PairProgress[]> {
  if (pairs.length === 0) return []
  const ids = idsOf(pairs)
  const counts = await readCounts(db, ids)
  const activities = await db
    .selectFrom('inlay_pair_activity')
    .selectAll()
    .where(isAmong(db, 'pair_id', ids))
    .execute()
  const activityOf = new Map(activities.map((row) => [row.pair_id, row]))
  const failing = withFailures ? ids.filter((id) => (counts.get(id)?.failed ?? 0) > 0) : []
  const failures = await readLatestFailures(db, failing, maxFailures)
  return pairs.map((pair) => {
    const activity = activityOf.get(pair.id)
    return {
      ...pair,
      documents: counts.get(pair.id) ?? none,
      lastAcceptedAt: toTimestamp(activity?.accepted_at),
      lastIndexedAt: toTimestamp(activity?.indexed_at),
      failures: failures.get(pair.id) ?? [],
    }
  })
}

/** With more rows per count than this, the reader merges them. */
const maxRowsPerCount = 50

async function readCounts(
  db: Records,
  pairIds: readonly number[],
): Promise<Map<number, Record<DocumentPhase, number>>> {
  const rows = await db
    .selectFrom('inlay_pair_counts')
    .select((of) => [
      'pair_id',
      'state',
      of.fn.sum<number | string>('amount').as('amount'),
      of.fn.countAll<number | string>().as('rows'),
    ])
    .where(isAmong(db, 'pair_id', pairIds))
    .groupBy(['pair_id', 'state'])
    .execute()
  const counts = new Map<number, Record<DocumentPhase, number>>()
  for (const { pair_id: id, state, amount } of rows) {
    const known = counts.get(id) ?? { ...none }
    known[state] = Number(amount)
    counts.set(id, known)
  }
  const rowCount = rows.reduce((sum, row) => sum + Number(row.rows), 0)
  if (rowCount > maxRowsPerCount * (rows.length + 1)) await foldCounts(db)
  return counts
}

function toTimestamp(value: number | string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}
