import { hasRowLocks, isAmong, prepared } from '@inlay/records'
import { type RawBuilder, sql } from 'kysely'
import type { DocumentPhase } from '../contracts/documents.ts'
import type { CounterRow, Records, SpacePhase } from './tables.ts'

/**
 * Adds to a counter and returns its new value, NaN if there is none. As the first statement of a transaction it also takes the write lock in
 * any database, so that data read afterwards cannot change before the commit.
 */
export async function addToCounter(db: Records, name: CounterRow['name'], amount: number): Promise<number> {
  const [row] = await addTo(db, { name, amount })
  return Number(row?.value)
}

const addTo = prepared(
  (db: Records, { name, amount }: { readonly name: CounterRow['name']; readonly amount: number }) =>
    db
      .updateTable('inlay_counters')
      .set({ value: sql<number>`value + ${amount}` })
      .where('name', '=', name)
      .returning('value'),
)

/** Databases limit the number of parameters of a statement. */
const rowsPerStatement = 1000

export function* batchesOf<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let at = 0; at < items.length; at += rowsPerStatement) yield items.slice(at, at + rowsPerStatement)
}

export const idsOf = <Id>(rows: readonly { readonly id: Id }[]): Id[] => rows.map(({ id }) => id)

/** Locks documents by id. Call within a transaction, before changing several documents, to prevent deadlocks. */
export async function lockDocuments(db: Records, ids: readonly string[]): Promise<void> {
  if (ids.length === 0 || !hasRowLocks(db)) return
  await db
    .selectFrom('inlay_documents')
    .select('id')
    .where(isAmong(db, 'id', ids))
    .orderBy('id')
    .forUpdate()
    .execute()
}

/**
 * Phases as SQL literals: databases use a partial index only if the query contains its condition as a literal, not as a
 * parameter.
 */
export const phase: Readonly<Record<DocumentPhase, RawBuilder<DocumentPhase>>> = {
  pending: sql.lit('pending'),
  indexing: sql.lit('indexing'),
  indexed: sql.lit('indexed'),
  failed: sql.lit('failed'),
}

/** Creates the name of a generation that a claim writes to a space. Names of the first space have no prefix. */
export function toGeneration(space: number, claimId: string, at: number): string {
  return `${space === 0 ? '' : `${space}:`}${claimId}.${at}`
}

export function spaceOf(generation: string): number {
  const mark = generation.indexOf(':')
  return mark < 0 ? 0 : Number(generation.slice(0, mark))
}

/** Phases of spaces whose index can be read and written. */
export const readablePhases: readonly SpacePhase[] = ['open', 'moved']

/**
 * Whether rows written to a space may become visible: not while the space is being removed, or after its embedder was
 * changed. Call within a transaction.
 */
export async function holdSpace(db: Records, number: number): Promise<boolean> {
  let query = db.selectFrom('inlay_spaces').select(['number', 'phase'])
  if (hasRowLocks(db)) query = query.forShare()
  const rows = await query.execute()
  // Without any row, the worker was never started.
  return rows.length === 0 || rows.some((row) => row.number === number && readablePhases.includes(row.phase))
}
