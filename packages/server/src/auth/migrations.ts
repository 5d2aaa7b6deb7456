import type { AnyDatabase, Migrations } from '@inlay/records'

/** Steps by name, in order of names; a step that was released is never changed. */
const migrations: Migrations = {
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
  '0003_workspace': {
    async up(db) {
      await db.schema
        .createTable('inlay_workspace')
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('id', 'integer', (column) => column.notNull())
        .addColumn('value', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('inlay_workspace_pk', ['kind', 'owner', 'id'])
        .execute()
    },
  },
  '0004_audit': {
    async up(db) {
      await db.schema
        .createTable('inlay_audit')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('caller_id', 'text')
        .addColumn('operation', 'text', (column) => column.notNull())
        .addColumn('target', 'text', (column) => column.notNull())
        .addColumn('status', 'integer', (column) => column.notNull())
        .addColumn('request_id', 'text', (column) => column.notNull())
        .execute()
    },
  },
  '0005_limits': {
    async up(db) {
      await db.schema.alterTable('inlay_api_key').addColumn('expires_at', 'bigint').execute()
      await db.schema.alterTable('inlay_api_key').addColumn('limits', 'text').execute()
      await db.schema
        .createTable('inlay_usage')
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('period', 'bigint', (column) => column.notNull())
        .addColumn('amount', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('inlay_usage_pk', ['owner', 'kind', 'period'])
        .execute()
    },
  },
}

/** Brings the tables of the server (API keys, what is set over the API, the audit) up to date; safe at every start, also of several processes at once. */
export async function migrateServer(db: AnyDatabase): Promise<void> {
  // Loaded here, since a mounted server answers public calls without any database engine.
  const { migrate } = await import('@inlay/records')
  return migrate(db, { name: 'server', migrations })
}
