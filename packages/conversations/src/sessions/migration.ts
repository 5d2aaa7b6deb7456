import { createTables, indexOn } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Session settings, feedback on answers, and summaries of long conversations. */
export const sessionMigration: Migration = {
  async up(db) {
    // SQLite adds one column a statement.
    for (const name of ['alternate_model', 'reasoning_effort'])
      await db.schema.alterTable('inlay_chat_sessions').addColumn(name, 'text').execute()
    await db.schema.alterTable('inlay_chat_messages').addColumn('request_params', 'text').execute()
    await createTables(db, {
      inlay_chat_feedback: `
        id generated, message_id integer not null, owner_id text not null, is_positive integer, text text,
        predefined text, created_at bigint not null`,
    })
    await indexOn(db, 'inlay_chat_feedback_message', 'inlay_chat_feedback', ['message_id']).execute()
    await createTables(db, {
      inlay_chat_summaries: `
        message_id integer primary key, session_id text not null, text text not null, created_at bigint not null`,
    })
    await indexOn(db, 'inlay_chat_summaries_session', 'inlay_chat_summaries', ['session_id']).execute()
  },
}
