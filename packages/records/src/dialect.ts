import { InlayError } from '@inlay/protocol'
import type { ColumnDefinitionBuilder, Kysely } from 'kysely'

/** A database of any tables. */
// oxlint-disable-next-line typescript/no-explicit-any -- each package types its own tables in the shared database
export type AnyDatabase = Kysely<any>

/** The databases that records are kept in. */
export type DialectName = 'sqlite' | 'postgres'

/**
 * Tells the database by what it can do, not by its class: a host's dialect may come from another copy of Kysely.
 * @throws UNSUPPORTED for any other database
 */
export function dialectOf(db: AnyDatabase): DialectName {
  const { supportsTransactionalDdl, supportsReturning } = db.getExecutor().adapter
  if (!supportsReturning)
    throw new InlayError('UNSUPPORTED', {
      message: 'Records need SQLite or Postgres: hand in a Kysely dialect of one of them.',
    })
  return supportsTransactionalDdl ? 'postgres' : 'sqlite'
}

/** Whether rows have to be locked one by one. SQLite locks the whole database at the first write of a transaction. */
export function hasRowLocks(db: AnyDatabase): boolean {
  return db.getExecutor().adapter.supportsTransactionalDdl === true
}

/** A primary key that counts up and never gives the id of a deleted row away again. */
export function generatedId(db: AnyDatabase): (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder {
  return dialectOf(db) === 'sqlite'
    ? (column) => column.primaryKey().autoIncrement()
    : (column) => column.generatedByDefaultAsIdentity().primaryKey()
}
