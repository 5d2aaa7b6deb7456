import type { Migration } from 'kysely/migration'

/** Answers keep the lines of their run. Until then, those of keyed sends were kept with their key, one for each delta. */
export const linesMigration: Migration = {
  async up(db) {
    await db.schema.alterTable('inlay_chat_messages').addColumn('lines', 'text').execute()
    await db.schema.alterTable('inlay_chat_send_keys').dropColumn('lines').execute()
  },
}
