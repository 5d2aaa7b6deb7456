import { InlayError } from '@inlay/protocol'
import type { Kysely } from 'kysely'

// oxlint-disable-next-line typescript/no-explicit-any -- each package types its own tables in the shared database
export type AnyDatabase = Kysely<any>

export type DialectName = 'sqlite' | 'postgres'

/**
 * Detects the database by its capabilities, not by its class: a host's dialect may come from another copy of Kysely.
 * @throws UNSUPPORTED for any other database
 */
export function dialectOf(db: AnyDatabase): DialectName {
  const { supportsTransactionalDdl, supportsReturning } = db.getExecutor().adapter
  if (!supportsReturning)
    throw new InlayError('UNSUPPORTED', {
      message: 'Only SQLite and PostgreSQL are supported: pass a Kysely dialect for one of them.',
    })
  return supportsTransactionalDdl ? 'postgres' : 'sqlite'
}

/** Whether the database has row locks. SQLite locks the whole database at the first write of a transaction. */
export function hasRowLocks(db: AnyDatabase): boolean {
  return db.getExecutor().adapter.supportsTransactionalDdl === true
}
