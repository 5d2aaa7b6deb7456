import type { Records } from './tables.ts'

/**
 * Whether rows have to be locked one by one. SQLite locks the whole database at the first write of a transaction and
 * does not know the words; Postgres needs them.
 */
export function hasRowLocks(db: Records): boolean {
  // By what it can do, not by its class: a dialect of the host may come from another copy of Kysely.
  const { supportsTransactionalDdl, supportsReturning } = db.getExecutor().adapter
  return supportsTransactionalDdl === true && supportsReturning === true
}
