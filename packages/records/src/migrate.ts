import { InlayError } from '@inlay/protocol'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { dialectOf, type AnyDatabase } from './dialect.ts'
import { emptyLog } from './log.ts'

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
  // A role that may make no tables has to be able to start where all are made.
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

/** One name of a schema, quoted or not, which is not that of the user. */
const schemaName = /^(?!"\$user"$)("(?:[^"]|"")+"|[^",\s]+)$/

/**
 * A search path may name one schema that nobody has created yet.
 * @throws INVALID_INPUT when it names several, and none of them is there
 */
async function ensureSchema(db: AnyDatabase): Promise<void> {
  const { rows } = await sql<{ schema: string | null; path: string }>`
    select current_schema() as schema, current_setting('search_path') as path`.execute(db)
  const [present] = rows
  if (present?.schema !== null) return
  if (!schemaName.test(present.path))
    throw new InlayError('INVALID_INPUT', {
      message:
        'No schema of the search path exists, or the role may use none: grant it USAGE and CREATE on one, or name a single schema that is then created for you. The address of the database stands in INLAY_DATABASE_URL, or the option engines.database.',
    })
  await sql`create schema if not exists ${sql.raw(present.path)}`.execute(db)
}

/**
 * Drops every table of ours, and on PostgreSQL the schema of the search path when nothing else is in it and it is not
 * `public`.
 */
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

/** Its tables refer to each other, so that none may go before the others; what is free then is given back. */
async function dropFromSqlite(db: AnyDatabase, names: readonly string[]): Promise<void> {
  await db.connection().execute(async (connection) => {
    const { rows } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(connection)
    await sql`pragma foreign_keys = off`.execute(connection)
    try {
      // A virtual table takes its own tables with it.
      for (const name of names) await sql`drop table if exists ${sql.id(name)}`.execute(connection)
      await sql`vacuum`.execute(connection)
    } finally {
      if (rows[0]?.foreign_keys === 1) await sql`pragma foreign_keys = on`.execute(connection)
    }
  })
  await emptyLog(db)
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
  // Kysely's migrator left it behind.
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
      'The records were written by a newer version of Inlay: run that version again, or name another data folder or database.',
  })
}
