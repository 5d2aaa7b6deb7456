import { PostgresAdapter } from 'kysely'
import type { Records } from './tables.ts'

/**
 * Whether rows have to be locked one by one. SQLite locks the whole database at the first write of a transaction and
 * does not know the words; Postgres needs them.
 */
export function hasRowLocks(db: Records): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
