import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Steps by name, in order of names; a step that was released is never changed. */
const migrations: Record<string, Migration> = {
  '0001_api_key': {
    async up(db) {
      await db.schema
        .createTable('inlay_api_key')
        .ifNotExists()
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('hash', 'text', (column) => column.notNull().unique())
        .addColumn('display', 'text', (column) => column.notNull())
        .addColumn('name', 'text')
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('email', 'text')
        .addColumn('scopes', 'text', (column) => column.notNull())
        .addColumn('groups', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_used_at', 'bigint')
        .addColumn('revoked_at', 'bigint')
        .execute()
    },
  },
  '0002_stream_format': {
    async up(db) {
      await db.schema.alterTable('inlay_api_key').addColumn('stream_format', 'text').execute()
    },
  },
}

/**
 * Brings the tables of the server (API keys) up to date; safe to call at every start. Rejects with the error of the
 * database; two processes that start on an empty one at once may have to try again.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables in the shared database
export async function migrateServer(db: Kysely<any>): Promise<void> {
  const { Migrator } = await import('kysely/migration')
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    migrationTableName: 'inlay_server_migration',
    migrationLockTableName: 'inlay_server_migration_lock',
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}
