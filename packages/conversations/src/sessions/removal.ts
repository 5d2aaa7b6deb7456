import { emptyLog, isAmong, isUnheld, lockHolds, refuseHeld } from '@inlay/records'
import { InlayError, type Principal } from '@inlay/protocol'
import type { Agent, Services } from '@inlay/agent'
import { idsOf, type ConversationDatabase } from '../tables/database.ts'
import type { SqlFiles } from '../files/manage-files.ts'
import { generatedFiles, removeFilesOf } from './session-files.ts'
import type { Sessions } from './stored-session.ts'

/** Time of deletion of a session that is being erased: it can no longer be restored. */
export const erasing = 0

export interface RemovalOptions extends Pick<Services, 'now'> {
  readonly db: ConversationDatabase
  readonly agent: Pick<Agent, 'removeRuns'>
  readonly files: Pick<SqlFiles, 'removeUnheld'>
  readonly beforeErasure?: BeforeErasure | undefined
}

export type BeforeErasure = (sessionIds: readonly string[], ownerIds: readonly string[]) => Promise<void>

/**
 * Hides sessions from their owner, or with `erase` deletes them with the files made in them that nothing else uses.
 * Their runs end.
 */
export function createRemoval({
  db,
  agent,
  files,
  now,
  beforeErasure,
}: RemovalOptions): Pick<Sessions, 'remove' | 'removeAll' | 'restore'> {
  const remove = async (ids: readonly string[], ownerId: string, erase: boolean): Promise<void> => {
    if (erase) {
      await refuseHeld(db, ownerId)
      // First, so that nobody restores a session that is then gone all the same.
      await db
        .updateTable('inlay_chat_sessions')
        .set({ deleted_at: erasing })
        .where(isAmong(db, 'id', ids))
        .execute()
    }
    await agent.removeRuns(ids)
    if (erase) {
      const generated = await generatedFiles(db, ids)
      await removeFilesOf({ db, files }, generated, { sessionIds: ids, ownerIds: [ownerId], unusedSince: Infinity })
      await beforeErasure?.(ids, [ownerId])
      await eraseSessions(db, ids)
    } else if (ids.length > 0) {
      await db
        .updateTable('inlay_chat_sessions')
        .set({ deleted_at: now() })
        .where(isAmong(db, 'id', ids))
        // Not a session that another call has begun to erase.
        .where('deleted_at', 'is', null)
        .execute()
    }
  }
  /** Those that the caller can remove. To erase, also those left by a call that failed. */
  const removable = (caller: Principal, erase: boolean) =>
    db
      .selectFrom('inlay_chat_sessions')
      .select('id')
      .where('owner_id', '=', caller.id)
      .where((session) =>
        session.or([session('deleted_at', 'is', null), ...(erase ? [session('deleted_at', '=', erasing)] : [])]),
      )
  return {
    remove: async (id, caller, { erase = false } = {}) => {
      const row = await removable(caller, erase).where('id', '=', id).executeTakeFirst()
      if (row === undefined) throw new InlayError('SESSION_NOT_FOUND')
      await remove([row.id], caller.id, erase)
      if (erase) await emptyLog(db)
    },
    restore: async (id, caller) => {
      const row = await db
        .updateTable('inlay_chat_sessions')
        // Removing it ended the sharing; only its owner can share it again.
        .set((session) => ({
          deleted_at: null,
          is_public: session.case().when('deleted_at', 'is', null).then(session.ref('is_public')).else(0).end(),
        }))
        .where('id', '=', id)
        .where('owner_id', '=', caller.id)
        .where((session) => session.or([session('deleted_at', 'is', null), session('deleted_at', '>', erasing)]))
        .returning('id')
        .executeTakeFirst()
      if (row === undefined) throw new InlayError('SESSION_NOT_FOUND')
    },
    removeAll: async (caller, { erase = false } = {}) => {
      const ids = idsOf(await removable(caller, erase).execute())
      // In parts, so that other writers need not wait for long.
      for (let at = 0; at < ids.length; at += 500) await remove(ids.slice(at, at + 500), caller.id, erase)
      if (erase && ids.length > 0) await emptyLog(db)
    },
  }
}

/** Removes sessions with all that is in them, but for those of people under a hold. */
export async function eraseSessions(db: ConversationDatabase, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return
  await db.transaction().execute(async (records) => {
    await lockHolds(records)
    // Sessions first, then messages: who writes to them meanwhile has ended or finds them gone.
    const sessions = await records
      .deleteFrom('inlay_chat_sessions')
      .where(isAmong(db, 'id', sessionIds))
      .where(isUnheld('owner_id'))
      .returning('id')
      .execute()
    const ids = idsOf(sessions)
    const messages = await records
      .deleteFrom('inlay_chat_messages')
      .where(isAmong(db, 'session_id', ids))
      .returning('id')
      .execute()
    const messageIds = idsOf(messages)
    for (const table of ['inlay_chat_tool_calls', 'inlay_chat_feedback'] as const)
      await records
        .deleteFrom(table)
        .where(isAmong(db, 'message_id', messageIds))
        .execute()
    for (const table of ['inlay_chat_summaries', 'inlay_chat_send_keys', 'inlay_chat_search'] as const)
      await records
        .deleteFrom(table)
        .where(isAmong(db, 'session_id', ids))
        .execute()
  })
}
