import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Numbers of tools that come and go, and tools described by OpenAPI documents. */
export const storedToolMigration: Migration = {
  async up(db) {
    const isSqlite = !db.getExecutor().adapter.supportsTransactionalDdl
    await db.schema
      .createTable('inlay_agent_tool_number')
      .addColumn('id', 'integer', (column) =>
        isSqlite ? column.primaryKey().autoIncrement() : column.generatedByDefaultAsIdentity().primaryKey(),
      )
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addUniqueConstraint('inlay_agent_tool_number_name', ['kind', 'name'])
      .execute()
    // Ids below belong to built-in actions. SQLite counts on from the highest id there ever was.
    await sql`insert into inlay_agent_tool_number (id, kind, name) values (1000, 'reserved', '')`.execute(db)
    if (!isSqlite) await sql`alter table inlay_agent_tool_number alter column id restart with 1001`.execute(db)
    await db.schema
      .createTable('inlay_agent_tool')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('custom_headers', 'text', (column) => column.notNull())
      .addColumn('passes_auth', 'integer', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('is_enabled', 'integer', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}

/** Which actions are switched off. */
export const actionSwitchMigration: Migration = {
  async up(db) {
    await db.schema
      .createTable('inlay_agent_action_off')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .execute()
  },
}
