import { indexOn } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Keeps the tokens of each answer, and finds the answers of the last days without reading the others. */
export const usageMigration: Migration = {
  async up(db) {
    for (const name of ['input_tokens', 'output_tokens'])
      await db.schema.alterTable('inlay_chat_messages').addColumn(name, 'integer').execute()
    await indexOn(db, 'inlay_chat_messages_answered', 'inlay_chat_messages', ['created_at'])
      .where('role', '=', 'assistant')
      .execute()
  },
}
