import { isAmong } from '@inlay/records'
import type { SqlFiles } from '../files/manage-files.ts'
import { idsOf, type ConversationDatabase } from '../tables/database.ts'
import { readGeneratedFileIds } from './generated-files.ts'

export interface ErasedSessions {
  readonly sessionIds: readonly string[]
  readonly ownerIds: readonly string[]
  /** Files used since then stay. */
  readonly unusedSince: number
}

/**
 * Removes files of sessions unless another session of their owners, a project, an agent or a document holds them. Called
 * before the sessions are erased: after a failure both can be done again.
 */
export async function removeFilesOf(
  { db, files }: { readonly db: ConversationDatabase; readonly files: Pick<SqlFiles, 'removeUnheld'> },
  fileIds: readonly string[],
  { sessionIds, ownerIds, unusedSince }: ErasedSessions,
): Promise<void> {
  if (fileIds.length === 0) return
  const unheld = new Set(fileIds)
  for (const id of await filesElsewhere(db, ownerIds, sessionIds)) unheld.delete(id)
  await files.removeUnheld([...unheld], { unusedSince: Math.min(unusedSince, Number.MAX_SAFE_INTEGER) })
}

export async function generatedFiles(db: ConversationDatabase, sessionIds: readonly string[]): Promise<string[]> {
  const messages = await db
    .selectFrom('inlay_chat_messages')
    .select('id')
    .where(isAmong(db, 'session_id', sessionIds))
    .execute()
  return readGeneratedFileIds(db, idsOf(messages), null)
}

export async function attachedFiles(db: ConversationDatabase, sessionIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('inlay_chat_messages')
    .select('files')
    .where(isAmong(db, 'session_id', sessionIds))
    .where('files', 'is not', null)
    .execute()
  return rows.flatMap(({ files }) => idsOfFiles(files))
}

/** Ids of the files attached to messages of other sessions of owners. */
export async function filesElsewhere(
  db: ConversationDatabase,
  ownerIds: readonly string[],
  sessionIds: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('inlay_chat_messages')
    .innerJoin('inlay_chat_sessions', 'inlay_chat_sessions.id', 'inlay_chat_messages.session_id')
    .select('inlay_chat_messages.files')
    .where(isAmong(db, 'inlay_chat_sessions.owner_id', ownerIds))
    .where((of) => of.not(isAmong(db, 'inlay_chat_sessions.id', sessionIds)))
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
