import type { Migration } from 'kysely/migration'

/** What sessions are set to, feedback to answers, summaries of long conversations. */
export const sessionMigration: Migration = {
  async up(db) {
    const isSqlite = !db.getExecutor().adapter.supportsTransactionalDdl
    // SQLite adds one column a statement.
    for (const name of ['alternate_model', 'reasoning_effort'])
      await db.schema.alterTable('inlay_chat_sessions').addColumn(name, 'text').execute()
    await db.schema.alterTable('inlay_chat_messages').addColumn('request_params', 'text').execute()
    await db.schema
      .createTable('inlay_chat_feedback')
      .addColumn('id', 'integer', (column) =>
        isSqlite ? column.primaryKey().autoIncrement() : column.generatedByDefaultAsIdentity().primaryKey(),
      )
      .addColumn('message_id', 'integer', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('is_positive', 'integer')
      .addColumn('text', 'text')
      .addColumn('predefined', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('inlay_chat_feedback_message').on('inlay_chat_feedback').column('message_id').execute()
    await db.schema
      .createTable('inlay_chat_summaries')
      .addColumn('message_id', 'integer', (column) => column.primaryKey())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('inlay_chat_summaries_session')
      .on('inlay_chat_summaries')
      .column('session_id')
      .execute()
  },
}
