import { indexOn } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Lets people pin sessions, and finds those of a person without reading the others. */
export const pinMigration: Migration = {
  async up(db) {
    await db.schema.alterTable('inlay_chat_sessions').addColumn('pinned_at', 'bigint').execute()
    await indexOn(db, 'inlay_chat_sessions_pinned', 'inlay_chat_sessions', ['owner_id', 'pinned_at'])
      .where('pinned_at', 'is not', null)
      .execute()
  },
}
