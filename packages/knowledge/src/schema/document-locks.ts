import { hasRowLocks } from '@inlay/records'
import type { Records } from './tables.ts'

/**
 * Within a transaction: locks documents by id. Whoever changes several documents does so first, so that no two
 * transactions wait for each other.
 */
export async function lockDocuments(db: Records, ids: readonly string[]): Promise<void> {
  if (ids.length === 0 || !hasRowLocks(db)) return
  await db.selectFrom('inlay_documents').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute()
}
