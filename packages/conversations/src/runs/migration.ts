import type { Migration } from 'kysely/migration'

/** Runs that every process can read and stop. Their rows go minutes after the runs end. */
export const sharedRunMigration: Migration = {
  async up(db) {
    await db.schema
      .createTable('inlay_chat_runs')
      .addColumn('message_id', 'integer', (column) => column.primaryKey())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('run_id', 'integer', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('opened_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addColumn('is_finished', 'integer', (column) => column.notNull())
      .addColumn('is_stopped', 'integer', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('inlay_chat_runs_session').on('inlay_chat_runs').column('session_id').execute()
    await db.schema
      .createIndex('inlay_chat_runs_age')
      .on('inlay_chat_runs')
      .columns(['is_finished', 'seen_at'])
      .execute()
    await db.schema
      .createTable('inlay_chat_run_lines')
      .addColumn('message_id', 'integer', (column) => column.notNull())
      .addColumn('first', 'integer', (column) => column.notNull())
      .addColumn('last', 'integer', (column) => column.notNull())
      .addColumn('lines', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('inlay_chat_run_lines_pk', ['message_id', 'first'])
      .execute()
  },
}

/** Processes that use a SQLite database now; of those that were killed, rows stay until the next one starts. */
export const processMigration: Migration = {
  async up(db) {
    await db.schema
      .createTable('inlay_chat_processes')
      .addColumn('owner', 'text', (column) => column.primaryKey().notNull())
      .execute()
  },
}
