import type { Migration } from 'kysely/migration'

/** Answers keep the lines of their run. Until then, those of keyed sends were kept with their key. */
export const linesMigration: Migration = {
  async up(db) {
    await db.schema.alterTable('inlay_chat_messages').addColumn('lines', 'text').execute()
    // Lines of several models stood with the first answer alone.
    const keyed = db.selectFrom('inlay_chat_send_keys').where('lines', 'not like', '%"responses":%')
    await db
      .updateTable('inlay_chat_messages')
      .set({
        lines: db
          .selectFrom('inlay_chat_send_keys')
          .select(({ fn }) => fn.max('lines').as('lines'))
          .whereRef('message_id', '=', 'inlay_chat_messages.id'),
      })
      .where('id', 'in', keyed.select('message_id'))
      .execute()
    await db.schema.alterTable('inlay_chat_send_keys').dropColumn('lines').execute()
  },
}
