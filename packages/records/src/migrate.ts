import { InlayError } from '@inlay/protocol'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { dialectOf, type AnyDatabase } from './dialect.ts'
import { emptyLog } from './log.ts'

/** Steps by name, in order of names. A released step never changes. */
export type Migrations = Readonly<Record<string, Migration>>

export interface MigrationPlan {
  /** Name of the package: its steps are recorded in `inlay_<name>_migration`. */
  readonly name: string
  /**
   * Steps that only add what processes of the version before can ignore: tables, indexes, columns that may be null or
   * have a default. They are carried out while such processes serve.
   */
  readonly expand: Migrations
  /** Steps that remove what this version does not use any more, but the version before does. They follow all of `expand`. */
  readonly contract?: Migrations
}

export interface MigrationStep {
  readonly plan: string
  readonly name: string
  readonly phase: 'expand' | 'contract'
}

/**
 * What to do with the steps that are due: `expand` leaves `contract` to a later call, except in a new database;
 * `check` changes nothing.
 */
export type MigrationMode = 'check' | 'expand' | 'contract'

/** Marks the names of contractions where steps are recorded: a version that does not know one must not start. */
const contractMark = 'contract:'

/** The lock of Kysely's own migrator, which earlier versions used: both wait for each other. */
const lockNumber = '3853314791062309107'

/**
 * Migrates the tables of a package. Safe at every start, even of several processes at once: the others wait. All steps
 * take effect together or not at all; on PostgreSQL each step of an upgrade does, so that no table stays locked for
 * those who serve. Changes nothing and takes no lock if no step is due, so that a role without the right to create can
 * call it. Rejects with the error of the database.
 *
 * Kysely's migrator is not used: on PostgreSQL it holds a session lock, which a transaction pooler would leave on an
 * unknown connection, and it mistakes tables of other schemas for its own.
 * @returns the steps that were carried out, or that are due if nothing is to be changed
 * @throws UNSUPPORTED if a newer version has removed what this one uses, or if the role may not carry out the steps
 */
export async function migrate(
  db: AnyDatabase,
  plan: MigrationPlan,
  mode: MigrationMode = 'expand',
): Promise<readonly MigrationStep[]> {
  const isSqlite = dialectOf(db) === 'sqlite'
  const due = await dueSteps(db, plan, mode)
  if (mode === 'check' || due.length === 0) return due
  if (isSqlite) return migrateSqlite(db, plan, mode)
  const steps: MigrationStep[] = []
  for (let attempt = 1; ;) {
    try {
      const applied = await migratePostgres(db, plan, mode)
      if (applied.length === 0) return steps
      steps.push(...applied)
    } catch (error) {
      if (isRefusal(error, '42501')) throw lacksRights(error)
      // A lock was not to be had: those who wait behind this one go first.
      if (!isRefusal(error, '55P03', '40P01') || attempt++ === maxLockAttempts) throw error
      await new Promise((resolve) => setTimeout(resolve, lockPauseMs))
    }
  }
}

/**
 * How long a step waits for the lock of a table. Queries of others wait behind it meanwhile. Shorter than the
 * `deadlock_timeout` of PostgreSQL, so that of two that wait for each other the step gives up, not a query.
 */
const lockTimeoutMs = 300
const lockPauseMs = 200
/** Two minutes: a query may run that long. */
const maxLockAttempts = 240

function migratePostgres(db: AnyDatabase, plan: MigrationPlan, mode: MigrationMode): Promise<readonly MigrationStep[]> {
  return db.transaction().execute(async (records) => {
    await sql`select pg_advisory_xact_lock(${sql.raw(lockNumber)})`.execute(records)
    // From a table: with it, the session notices tables and schemas that others made while it waited. Functions like
    // `to_regclass` alone answer from what it knew before.
    await sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true) from pg_namespace limit 1`.execute(
      records,
    )
    await ensureSchema(records)
    return applySteps(records, plan, mode)
  })
}

/** Whether it is an error of PostgreSQL with one of these codes, as it is or as the driver wraps it. */
export const isRefusal = (error: unknown, ...codes: readonly string[]): boolean =>
  [error, Object(error).cause].some((each) => codes.includes(Object(each).code))

function lacksRights(cause: unknown): InlayError {
  return new InlayError('UNSUPPORTED', {
    message:
      'The tables of the database are not those of this version, and the role may not change them: run ' +
      '`npx inlay migrate` with INLAY_DATABASE_URL of a role that owns them, then start again.',
    cause,
  })
}

/** Steps that a mode carries out, in order. */
async function dueSteps(
  db: AnyDatabase,
  { name, expand, contract = {} }: MigrationPlan,
  mode: MigrationMode,
): Promise<readonly MigrationStep[]> {
  const done = await recordedSteps(db, `inlay_${name}_migration`)
  const unknown = [...done].filter((step) => step.startsWith(contractMark))
  if (unknown.some((step) => !Object.hasOwn(contract, step.slice(contractMark.length)))) throw newerDatabase()
  const stepsOf = (steps: Migrations, phase: MigrationStep['phase']): MigrationStep[] =>
    Object.keys(steps)
      .toSorted()
      .map((step) => ({ plan: name, name: step, phase }))
  const contracts = mode !== 'expand' || done.size === 0 ? stepsOf(contract, 'contract') : []
  return [...stepsOf(expand, 'expand'), ...contracts].filter((step) => !done.has(recordedAs(step)))
}

const recordedAs = ({ name, phase }: MigrationStep): string => (phase === 'contract' ? contractMark : '') + name

async function recordedSteps(db: AnyDatabase, table: string): Promise<ReadonlySet<string>> {
  const { rows: tables } =
    dialectOf(db) === 'sqlite'
      ? await sql`select 1 from sqlite_master where name = ${table}`.execute(db)
      : await sql`select 1 where to_regclass(${table}) is not null`.execute(db)
  if (tables.length === 0) return new Set()
  const rows = await db.selectFrom(table).select('name').execute()
  return new Set(rows.map((row) => String(row['name'])))
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
        'INLAY_DATABASE_URL, or the option database.',
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
async function migrateSqlite(
  db: AnyDatabase,
  plan: MigrationPlan,
  mode: MigrationMode,
): Promise<readonly MigrationStep[]> {
  return db.connection().execute(async (connection) => {
    await sql`begin immediate`.execute(connection)
    try {
      const steps = await applySteps(connection, plan, mode)
      await sql`commit`.execute(connection)
      return steps
    } catch (error) {
      // The failed statement may have ended the transaction already.
      await sql`rollback`.execute(connection).catch(() => {})
      throw error
    }
  })
}

async function applySteps(
  db: AnyDatabase,
  plan: MigrationPlan,
  mode: MigrationMode,
): Promise<readonly MigrationStep[]> {
  const table = `inlay_${plan.name}_migration`
  // Another process may have carried them out meanwhile.
  const due = await dueSteps(db, plan, mode)
  const isShared = dialectOf(db) === 'postgres' && (await recordedSteps(db, table)).size > 0
  const steps = isShared ? due.slice(0, 1) : due
  await db.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('name', 'varchar(255)', (column) => column.notNull().primaryKey())
    .addColumn('timestamp', 'varchar(255)', (column) => column.notNull())
    .execute()
  // Left by Kysely's migrator.
  await db.schema.dropTable(`${table}_lock`).ifExists().execute()
  for (const step of steps) {
    await plan[step.phase]?.[step.name]?.up(db)
    await db
      .insertInto(table)
      .values({ name: recordedAs(step), timestamp: new Date().toISOString() })
      .execute()
  }
  return steps
}

function newerDatabase(): InlayError {
  return new InlayError('UNSUPPORTED', {
    message:
      'A newer version of Inlay has removed what this one needs from the database: start that version again, or ' +
      'restore the backup from before the upgrade, or use another data folder or database.',
  })
}
