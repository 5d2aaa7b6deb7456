import { hasRowLocks, isAmong } from '@inlay/records'
import { type RawBuilder, sql } from 'kysely'
import type { DocumentPhase } from '../contracts/documents.ts'
import type { CounterRow, Records } from './tables.ts'

/**
 * Adds to a counter and gives its new value. As the first statement of a transaction it also takes the write lock, so
 * that what is read afterwards cannot change before the commit, in any database.
 */
export async function addToCounter(db: Records, name: CounterRow['name'], amount: number): Promise<number> {
  const { value } = await db
    .updateTable('inlay_counters')
    .set({ value: sql<number>`value + ${amount}` })
    .where('name', '=', name)
    .returning('value')
    .executeTakeFirstOrThrow()
  return Number(value)
}

/**
 * Within a transaction: locks documents by id. Whoever changes several documents does so first, so that no two
 * transactions wait for each other.
 */
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
 * Phases as literals of a query: a database uses an index over the documents of one phase only when the query says which,
 * not when a parameter does.
 */
export const phase: Readonly<Record<DocumentPhase, RawBuilder<DocumentPhase>>> = {
  pending: sql.lit('pending'),
  indexing: sql.lit('indexing'),
  indexed: sql.lit('indexed'),
  failed: sql.lit('failed'),
}

/** Names what a claim writes into a space. The first space has no mark: most installations never have another. */
export function toGeneration(space: number, claimId: string, at: number): string {
  return `${space === 0 ? '' : `${space}:`}${claimId}.${at}`
}

/** The space whose index holds a generation. */
export function spaceOf(generation: string): number {
  const mark = generation.indexOf(':')
  return mark < 0 ? 0 : Number(generation.slice(0, mark))
}
