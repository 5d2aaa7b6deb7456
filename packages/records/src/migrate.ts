import { sql } from 'kysely'
import type { Migration, Migrator } from 'kysely/migration'
import { dialectOf, type AnyDatabase } from './dialect.ts'

/** Steps by name, in order of their names. A step that was released is never changed. */
export type Migrations = Readonly<Record<string, Migration>>

/** The tables of one package. */
export interface MigrationPlan {
  /** Names the package: its steps are recorded in `inlay_<name>_migration`. */
  readonly name: string
  readonly migrations: Migrations
}

interface MigrationEngine {
  readonly Migrator: typeof Migrator
}

/** Another process may create the tables that record the steps at the same moment. */
const mostTries = 3

/**
 * Brings the tables of a package up to date. Safe at every start, also of several processes at once: the others wait.
 * All steps take effect together or not at all. Rejects with the error of the database.
 */
export async function migrate(db: AnyDatabase, plan: MigrationPlan): Promise<void> {
  const isSqlite = dialectOf(db) === 'sqlite'
  // Late, so that importing a package does not load the engine; ahead of the lock, so that nobody waits for that.
  const engine = await import('kysely/migration')
  for (let tries = 1; ; tries++) {
    try {
      return await (isSqlite ? migrateSqlite(db, plan, engine) : migrateAll(db, plan, engine))
    } catch (error) {
      if (tries === mostTries) throw error
    }
  }
}

/** Kysely knows neither a lock nor transactional schema changes of SQLite, which has both. */
async function migrateSqlite(db: AnyDatabase, plan: MigrationPlan, engine: MigrationEngine): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`begin immediate`.execute(connection)
    try {
      await migrateAll(connection, plan, engine)
      await sql`commit`.execute(connection)
    } catch (error) {
      // A statement that failed may have ended the transaction already.
      await sql`rollback`.execute(connection).catch(() => {})
      throw error
    }
  })
}

async function migrateAll(
  db: AnyDatabase,
  { name, migrations }: MigrationPlan,
  engine: MigrationEngine,
): Promise<void> {
  const migrator = new engine.Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    migrationTableName: `inlay_${name}_migration`,
    migrationLockTableName: `inlay_${name}_migration_lock`,
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}
