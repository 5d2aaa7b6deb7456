import { cameFor } from '../files/upload.ts'
import { emptyLog, isUnheld } from '@inlay/records'
import { idsOf, type ConversationDatabase } from '../tables/database.ts'
import { eraseSessions, erasing, type RemovalOptions } from './removal.ts'
import { attachedFiles, filesElsewhere, generatedFiles, removeFilesOf } from './session-files.ts'

/** Which sessions are erased; times are milliseconds since 1970 UTC. */
export interface Expiry {
  /** Sessions without a change since then. Default: none. */
  readonly unchangedSince?: number | undefined
  /** Sessions that their owner deleted before then. Default: none. */
  readonly deletedBefore?: number | undefined
  /** Most sessions of one call. */
  readonly limit: number
}

export type RetentionParts = Omit<RemovalOptions, 'now'>

interface ExpiredSession {
  readonly id: string
  readonly owner_id: string
}

/**
 * Erases sessions with their messages, and the files that only they used: those made in them, and uploads that no other
 * session, project, agent or document holds. May be called again after a failure.
 * @returns how many sessions it erased
 */
export async function eraseExpired(parts: RetentionParts, expiry: Expiry): Promise<number> {
  const { db, agent, files, beforeErasure } = parts
  const sessions = await hideExpired(db, expiry)
  if (sessions.length === 0) return 0
  const ids = idsOf(sessions)
  await agent.removeRuns(ids)
  const used = [...(await generatedFiles(db, ids)), ...(await attachedFiles(db, ids))]
  const ownerIds = [...new Set(sessions.map(({ owner_id: id }) => id))]
  const unusedSince = Math.max(expiry.unchangedSince ?? 0, expiry.deletedBefore ?? 0)
  await removeFilesOf({ db, files }, used, { sessionIds: ids, ownerIds, unusedSince })
  await beforeErasure?.(ids, ownerIds)
  await eraseSessions(db, ids)
  await emptyLog(db)
  return sessions.length
}

/** Hides them first, all conditions checked in the same statement: a message that arrives meanwhile keeps its session. */
async function hideExpired(
  db: ConversationDatabase,
  { unchangedSince, deletedBefore, limit }: Expiry,
): Promise<ExpiredSession[]> {
  const hidden: ExpiredSession[] = []
  for (const [column, before] of [
    ['updated_at', unchangedSince],
    // Default: only sessions that could not be erased before.
    ['deleted_at', deletedBefore ?? erasing + 1],
  ] as const) {
    if (before === undefined || hidden.length >= limit) continue
    const old = db
      .selectFrom('inlay_chat_sessions')
      .select('id')
      .where(column, '<', before)
      .where(isUnheld('owner_id'))
      .orderBy(column)
      .limit(limit - hidden.length)
    const rows = await db
      .updateTable('inlay_chat_sessions')
      .set({ deleted_at: erasing })
      .where('id', 'in', old)
      .where(column, '<', before)
      .returning(['id', 'owner_id'])
      .execute()
    hidden.push(...rows.filter(({ id }) => !hidden.some((other) => other.id === id)))
  }
  return hidden
}

export interface UnusedUploads {
  /** Milliseconds since 1970 UTC. */
  readonly unusedSince: number
  /** Id of a file. Default: from the first. */
  readonly after: string | undefined
  readonly limit: number
}

/** Only those that no session, project, agent or document holds. */
export async function eraseUnusedUploads(
  { db, files }: RetentionParts,
  { unusedSince, after = '', limit }: UnusedUploads,
): Promise<{ readonly last: string | undefined; readonly erased: number }> {
  const uploads = await db
    .selectFrom('inlay_files')
    .select(['id', 'file_id', 'owner_id'])
    .where('id', '>', after)
    .where('is_listed', '=', cameFor.upload)
    .where((of) => of.fn.coalesce('used_at', 'created_at'), '<', unusedSince)
    .where(isUnheld('owner_id'))
    .orderBy('id')
    .limit(limit)
    .execute()
  const attached = new Set(await filesElsewhere(db, [...new Set(uploads.map(({ owner_id: id }) => id))], []))
  const unattached = uploads.filter(({ id, file_id: fileId }) => !attached.has(id) && !attached.has(fileId))
  const ids = idsOf(unattached)
  const erased = await files.removeUnheld(ids, { unusedSince })
  return { last: uploads.at(-1)?.id, erased }
}
