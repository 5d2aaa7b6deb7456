import { emptyLog, isAmong } from '@inlay/records'
import type { Agent, Services } from '@inlay/agent'
import type { ConversationDatabase } from '../tables/database.ts'
import { ownSession } from './session-access.ts'
import type { Sessions } from './stored-session.ts'

export interface RemovalOptions extends Pick<Services, 'now'> {
  readonly db: ConversationDatabase
  readonly agent: Pick<Agent, 'removeRuns'>
}

/** Removes sessions from what their owner sees, or with `erase` from the records. Their runs end. */
export function createRemoval({ db, agent, now }: RemovalOptions): Pick<Sessions, 'remove' | 'removeAll'> {
  const remove = async (ids: readonly string[], erase: boolean): Promise<void> => {
    await agent.removeRuns(ids)
    if (erase) await eraseSessions(db, ids)
    else if (ids.length > 0) {
      await db
        .updateTable('inlay_chat_sessions')
        .set({ deleted_at: now() })
        .where(isAmong(db, 'id', ids))
        .execute()
    }
  }
  return {
    remove: async (id, caller, { erase = false } = {}) => {
      await remove([(await ownSession(db, id, caller)).id], erase)
      if (erase) await emptyLog(db)
    },
    removeAll: async (caller, { erase = false } = {}) => {
      const rows = await db
        .selectFrom('inlay_chat_sessions')
        .select('id')
        .where('owner_id', '=', caller.id)
        .where('deleted_at', 'is', null)
        .execute()
      const ids = rows.map(({ id }) => id)
      // A statement takes a bounded number of values.
      for (let at = 0; at < ids.length; at += 500) await remove(ids.slice(at, at + 500), erase)
      if (erase && ids.length > 0) await emptyLog(db)
    },
  }
}

/** Removes sessions with all that is in them. */
export async function eraseSessions(db: ConversationDatabase, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db.transaction().execute(async (records) => {
    const messages = records
      .selectFrom('inlay_chat_messages')
      .select('id')
      .where(isAmong(db, 'session_id', ids))
    await records.deleteFrom('inlay_chat_tool_calls').where('message_id', 'in', messages).execute()
    await records.deleteFrom('inlay_chat_feedback').where('message_id', 'in', messages).execute()
    await records
      .deleteFrom('inlay_chat_summaries')
      .where(isAmong(db, 'session_id', ids))
      .execute()
    await records
      .deleteFrom('inlay_chat_send_keys')
      .where(isAmong(db, 'session_id', ids))
      .execute()
    await records
      .deleteFrom('inlay_chat_search')
      .where(isAmong(db, 'session_id', ids))
      .execute()
    await records
      .deleteFrom('inlay_chat_messages')
      .where(isAmong(db, 'session_id', ids))
      .execute()
    await records
      .deleteFrom('inlay_chat_sessions')
      .where(isAmong(db, 'id', ids))
      .execute()
  })
}
