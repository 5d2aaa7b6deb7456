import type { Migration } from 'kysely/migration'

/** What is remembered about people, and what they set. */
export const memoryMigration: Migration = {
  async up(db) {
    const isSqlite = !db.getExecutor().adapter.supportsTransactionalDdl
    await db.schema
      .createTable('inlay_memories')
      .addColumn('id', 'integer', (column) =>
        isSqlite ? column.primaryKey().autoIncrement() : column.generatedByDefaultAsIdentity().primaryKey(),
      )
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('inlay_memories_owner').on('inlay_memories').columns(['owner_id', 'id']).execute()
    await db.schema
      .createTable('inlay_personalizations')
      .addColumn('owner_id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('preferences', 'text', (column) => column.notNull())
      .addColumn('uses_memories', 'integer', (column) => column.notNull())
      .addColumn('keeps_memories', 'integer', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
