import { hasRowLocks } from '@inlay/records'
import { sql } from 'kysely'
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
  await db.selectFrom('inlay_documents').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute()
}
