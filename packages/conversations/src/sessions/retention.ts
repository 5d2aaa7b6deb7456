import type { Agent, Services } from '@inlay/agent'
import type { SqlFiles } from '../files/manage-files.ts'
import { isAmong } from '@inlay/records'
import type { ConversationDatabase } from '../tables/database.ts'
import { readGeneratedFileIds } from './generated-files.ts'
import { eraseSessions } from './removal.ts'

/** Which sessions are erased; times are milliseconds since 1970 UTC. */
export interface Expiry {
  /** Sessions without a change since then. Default: none. */
  readonly unchangedSince?: number | undefined
  /** Sessions that their owner deleted before then. Default: none. */
  readonly deletedBefore?: number | undefined
  /** Most sessions of one call. */
  readonly limit: number
}

export interface RetentionParts extends Pick<Services, 'now'> {
  readonly db: ConversationDatabase
  readonly agent: Pick<Agent, 'removeRuns'>
  readonly files: Pick<SqlFiles, 'removeUnheld'>
}

interface ExpiredSession {
  readonly id: string
  readonly owner_id: string
}

/**
 * Erases sessions with their messages, and the files that only they used: those made in them, and uploads that no other
 * session, project, agent or document holds. May be called again after a failure.
 * @returns how many sessions it erased
 */
export async function eraseExpired({ db, agent, files, now }: RetentionParts, expiry: Expiry): Promise<number> {
  const sessions = await hideExpired(db, expiry, now())
  if (sessions.length === 0) return 0
  const ids = sessions.map(({ id }) => id)
  await agent.removeRuns(ids)
  const used = await filesOf(db, ids)
  await eraseSessions(db, ids)
  for (const owner of new Set(sessions.map(({ owner_id: id }) => id)))
    for (const id of used.size > 0 ? await attachedFiles(db, owner) : []) used.delete(id)
  const unusedSince = Math.max(expiry.unchangedSince ?? 0, expiry.deletedBefore ?? 0)
  await files.removeUnheld([...used], { unusedSince })
  return sessions.length
}

/** Hides them first, all conditions checked in the same statement: a message that arrives meanwhile keeps its session. */
async function hideExpired(
  db: ConversationDatabase,
  { unchangedSince, deletedBefore, limit }: Expiry,
  now: number,
): Promise<ExpiredSession[]> {
  const hidden: ExpiredSession[] = []
  for (const [column, before] of [
    ['updated_at', unchangedSince],
    ['deleted_at', deletedBefore],
  ] as const) {
    if (before === undefined || hidden.length >= limit) continue
    const old = db
      .selectFrom('inlay_chat_sessions')
      .select('id')
      .where(column, '<', before)
      .orderBy(column)
      .limit(limit - hidden.length)
    const rows = await db
      .updateTable('inlay_chat_sessions')
      .set((of) => ({ deleted_at: of.fn.coalesce('deleted_at', of.val(now)) }))
      .where('id', 'in', old)
      .where(column, '<', before)
      .returning(['id', 'owner_id'])
      .execute()
    hidden.push(...rows.filter(({ id }) => !hidden.some((other) => other.id === id)))
  }
  return hidden
}

/** Ids of the files that were made in sessions or attached to their messages. */
async function filesOf(db: ConversationDatabase, ids: readonly string[]): Promise<Set<string>> {
  const messages = await db
    .selectFrom('inlay_chat_messages')
    .select(['id', 'files'])
    .where(isAmong(db, 'session_id', ids))
    .execute()
  const fileIds = new Set(messages.flatMap(({ files }) => idsOfFiles(files)))
  for (let at = 0; at < messages.length; at += 500) {
    const part = messages.slice(at, at + 500).map(({ id }) => id)
    for (const id of await readGeneratedFileIds(db, part, null)) fileIds.add(id)
  }
  return fileIds
}

/** Ids of the files attached to messages of an owner. */
async function attachedFiles(db: ConversationDatabase, ownerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('inlay_chat_messages')
    .innerJoin('inlay_chat_sessions', 'inlay_chat_sessions.id', 'inlay_chat_messages.session_id')
    .select('inlay_chat_messages.files')
    .where('inlay_chat_sessions.owner_id', '=', ownerId)
    .where('inlay_chat_messages.files', 'is not', null)
    .execute()
  return rows.flatMap(({ files }) => idsOfFiles(files))
}

function idsOfFiles(json: string | null): string[] {
  if (json === null) return []
  // Written by us from FileDescriptors that were checked.
  return (JSON.parse(json) as readonly { readonly id: string; readonly user_file_id?: string | null }[]).flatMap(
    ({ id, user_file_id: userFileId }) => (userFileId ? [id, userFileId] : [id]),
  )
}
