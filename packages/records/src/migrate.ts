import { InlayError } from '@inlay/protocol'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { dialectOf, type AnyDatabase } from './dialect.ts'

/** Steps by name, in order of their names. A step that was released is never changed. */
export type Migrations = Readonly<Record<string, Migration>>

/** The tables of one package. */
export interface MigrationPlan {
  /** Names the package: its steps are recorded in `inlay_<name>_migration`. */
  readonly name: string
  readonly migrations: Migrations
}

/** The number of Kysely's own migrator, which earlier versions used: both wait for each other. */
const lockNumber = '3853314791062309107'

/**
 * Brings the tables of a package up to date. Safe at every start, also of several processes at once: the others wait.
 * All steps take effect together or not at all. Rejects with the error of the database.
 *
 * Kysely's migrator is not used: on PostgreSQL it holds a lock of the session, which a pooler between transactions leaves
 * behind on a connection that nobody can name, and it takes the tables of any schema for its own.
 * @throws UNSUPPORTED when a newer version has carried out steps that this one does not know
 */
export async function migrate(db: AnyDatabase, plan: MigrationPlan): Promise<void> {
  if (dialectOf(db) === 'sqlite') return migrateSqlite(db, plan)
  await db.transaction().execute(async (records) => {
    await sql`select pg_advisory_xact_lock(${sql.raw(lockNumber)})`.execute(records)
    await applySteps(records, plan)
  })
}

/** Kysely begins transactions of SQLite without the lock to write. */
async function migrateSqlite(db: AnyDatabase, plan: MigrationPlan): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`begin immediate`.execute(connection)
    try {
      await applySteps(connection, plan)
      await sql`commit`.execute(connection)
    } catch (error) {
      // A statement that failed may have ended the transaction already.
      await sql`rollback`.execute(connection).catch(() => {})
      throw error
    }
  })
}

async function applySteps(db: AnyDatabase, { name, migrations }: MigrationPlan): Promise<void> {
  const table = `inlay_${name}_migration`
  await db.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('name', 'varchar(255)', (column) => column.notNull().primaryKey())
    .addColumn('timestamp', 'varchar(255)', (column) => column.notNull())
    .execute()
  const rows = await db.selectFrom(table).select('name').execute()
  const done = new Set(rows.map((row) => String(row['name'])))
  if ([...done].some((step) => !Object.hasOwn(migrations, step))) throw newerDatabase()
  for (const [step, { up }] of Object.entries(migrations).toSorted(([step], [next]) => (step < next ? -1 : 1))) {
    if (done.has(step)) continue
    await up(db)
    await db.insertInto(table).values({ name: step, timestamp: new Date().toISOString() }).execute()
  }
}

function newerDatabase(): InlayError {
  return new InlayError('UNSUPPORTED', {
    message:
      'The records were written by a newer version of Inlay: run that version again, or name another data folder or database.',
  })
}
