import { InlayError } from '@inlay/protocol'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { dialectOf, type AnyDatabase } from './dialect.ts'
import { emptyLog } from './log.ts'

/** Migrations by name, in order of names. A released migration never changes. */
export type Migrations = Readonly<Record<string, Migration>>

/** Migrations of the tables of a package. */
export interface MigrationPlan {
  /** Name of the package: its migrations are recorded in `inlay_<name>_migration`. */
  readonly name: string
  readonly migrations: Migrations
}

/** The lock of Kysely's own migrator, which earlier versions used: both wait for each other. */
const lockNumber = '3853314791062309107'

/**
 * Migrates the tables of a package. Safe at every start, even of several processes at once: the others wait. All
 * migrations take effect together or not at all. Rejects with the error of the database.
 *
 * Kysely's migrator is not used: on PostgreSQL it holds a session lock, which a transaction pooler would leave on an
 * unknown connection, and it mistakes tables of other schemas for its own.
 * @throws UNSUPPORTED if a newer version has applied migrations that this one does not know
 */
export async function migrate(db: AnyDatabase, plan: MigrationPlan): Promise<void> {
  if (dialectOf(db) === 'sqlite') return migrateSqlite(db, plan)
  // A role that may not create tables must still be able to start if all exist.
  if (await isUpToDate(db, plan)) return
  await db.transaction().execute(async (records) => {
    await sql`select pg_advisory_xact_lock(${sql.raw(lockNumber)})`.execute(records)
    await ensureSchema(records)
    await applySteps(records, plan)
  })
}

async function isUpToDate(db: AnyDatabase, { name, migrations }: MigrationPlan): Promise<boolean> {
  const table = `inlay_${name}_migration`
  const { rows } = await sql<{ at: string | null }>`select to_regclass(${table})::text as at`.execute(db)
  if (!rows[0]?.at) return false
  const done = new Set((await db.selectFrom(table).select('name').execute()).map((row) => String(row['name'])))
  return done.size === Object.keys(migrations).length && Object.keys(migrations).every((step) => done.has(step))
}

/** A single schema name, quoted or not, that is not that of the user. */
const schemaName = /^(?!"\$user"$)("(?:[^"]|"")+"|[^",\s]+)$/

/**
 * Creates the schema if the search path has a single one that does not exist yet.
 * @throws INVALID_INPUT if it has several, and none of them exists
 */
async function ensureSchema(db: AnyDatabase): Promise<void> {
  const { rows } = await sql<{ schema: string | null; path: string }>`
    select current_schema() as schema, current_setting('search_path') as path`.execute(db)
  const [present] = rows
  if (present?.schema !== null) return
  if (!schemaName.test(present.path))
    throw new InlayError('INVALID_INPUT', {
      message:
        'No schema of the search path exists, or the role may not use any: grant it USAGE and CREATE ' +
        'on one, or specify a single schema, which is then created. The database is set in ' +
        'INLAY_DATABASE_URL, or the option engines.database.',
    })
  await sql`create schema if not exists ${sql.raw(present.path)}`.execute(db)
}

/** Drops all our tables, and on PostgreSQL the schema of the search path if it is empty and not `public`. */
export async function dropTables(db: AnyDatabase): Promise<void> {
  const isSqlite = dialectOf(db) === 'sqlite'
  const { rows } = isSqlite
    ? await sql<{ name: string }>`
        select name from sqlite_master where type = 'table'
        order by coalesce(sql, '') not like 'create virtual table%'`.execute(db)
    : await sql<{ name: string }>`
        select tablename as name from pg_tables where schemaname = current_schema()`.execute(db)
  const names = rows.map(({ name }) => name).filter((name) => name.startsWith('inlay_'))
  if (isSqlite) return dropFromSqlite(db, names)
  if (names.length > 0) await sql`drop table ${sql.join(names.map((name) => sql.id(name)))} cascade`.execute(db)
  const functions = await sql<{ name: string }>`
    select proname as name from pg_proc where pronamespace = current_schema()::text::regnamespace`.execute(db)
  for (const { name } of functions.rows.filter(({ name }) => name.startsWith('inlay_')))
    await sql`drop function ${sql.id(name)}`.execute(db)
  const left = await sql<{ name: string }>`
    select current_schema() as name where current_schema() <> 'public'
    and not exists (select from pg_class where relnamespace = current_schema()::text::regnamespace)`.execute(db)
  for (const { name } of left.rows) await sql`drop schema ${sql.id(name)}`.execute(db)
}

/** Drops tables that refer to each other, and releases the free space. */
async function dropFromSqlite(db: AnyDatabase, names: readonly string[]): Promise<void> {
  await db.connection().execute(async (connection) => {
    const { rows } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(connection)
    await sql`pragma foreign_keys = off`.execute(connection)
    try {
      // Dropping a virtual table also drops its shadow tables.
      for (const name of names) await sql`drop table if exists ${sql.id(name)}`.execute(connection)
      await sql`vacuum`.execute(connection)
    } finally {
      if (rows[0]?.foreign_keys === 1) await sql`pragma foreign_keys = on`.execute(connection)
    }
  })
  await emptyLog(db)
}

/** Starts the transaction with the write lock, which Kysely does not do on SQLite. */
async function migrateSqlite(db: AnyDatabase, plan: MigrationPlan): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`begin immediate`.execute(connection)
    try {
      await applySteps(connection, plan)
      await sql`commit`.execute(connection)
    } catch (error) {
      // The failed statement may have ended the transaction already.
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
  // Left by Kysely's migrator.
  await db.schema.dropTable(`${table}_lock`).ifExists().execute()
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
      'The database was migrated by a newer version of Inlay: use that version, or another data ' +
      'folder or database.',
  })
}
