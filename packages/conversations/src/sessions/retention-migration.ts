import { indexOn } from '@inlay/records'
import type { Migration } from 'kysely/migration'

/** Finds the sessions that are older than is kept without reading the others. */
export const retentionMigration: Migration = {
  async up(db) {
    await indexOn(db, 'inlay_chat_sessions_updated', 'inlay_chat_sessions', ['updated_at']).execute()
    await indexOn(db, 'inlay_chat_sessions_deleted', 'inlay_chat_sessions', ['deleted_at'])
      .where('deleted_at', 'is not', null)
      .execute()
  },
}
