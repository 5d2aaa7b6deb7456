import { indexOn } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Indexes the columns by which expired sessions are found, so that the others are not read. */
export const retentionMigration: Migration = {
  async up(db) {
    await indexOn(db, 'inlay_chat_sessions_updated', 'inlay_chat_sessions', ['updated_at']).execute()
    await indexOn(db, 'inlay_chat_sessions_deleted', 'inlay_chat_sessions', ['deleted_at'])
      .where('deleted_at', 'is not', null)
      .execute()
  },
}
