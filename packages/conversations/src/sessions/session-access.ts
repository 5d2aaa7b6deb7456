import type { Selectable, Transaction } from 'kysely'
import { hasRowLocks, prepared } from '@inlay/records'
import { InlayError, type Principal } from '@inlay/protocol'
import type { AnswerStatus, MessageRole } from '@inlay/agent'
import type { ConversationDatabase, ConversationTables } from '../tables/database.ts'
import type { SessionTable } from '../tables/chat-tables.ts'
import type { Sessions } from './stored-session.ts'

/** A session of the caller. SESSION_NOT_FOUND when it is unknown, deleted or somebody else's. */
export async function ownSession(
  db: ConversationDatabase,
  id: string,
  caller: Principal,
): Promise<Selectable<SessionTable>> {
  const row = await db.selectFrom('inlay_chat_sessions').selectAll().where('id', '=', id).executeTakeFirst()
  if (row && row.owner_id === caller.id && row.deleted_at === null) return row
  throw new InlayError('SESSION_NOT_FOUND')
}

/**
 * Keeps a session from being erased until the transaction ends. Lock it before any of its messages, as erasing does.
 * @returns undefined when it is gone
 */
export async function lockSession(
  records: Transaction<ConversationTables>,
  id: string,
): Promise<{ readonly ownerId: string; readonly isDeleted: boolean } | undefined> {
  const [row] = await lockedSession(records, { id })
  return row && { ownerId: row.owner_id, isDeleted: row.deleted_at !== null }
}

const lockedSession = prepared((db: ConversationDatabase, { id }: { readonly id: string }) =>
  db
    .selectFrom('inlay_chat_sessions')
    .select(['owner_id', 'deleted_at'])
    .where('id', '=', id)
    .$if(hasRowLocks(db), (query) => query.forUpdate()),
)

/**
 * A session as its readers may ask for it, with whether the caller owns it. SESSION_NOT_FOUND when it is unknown, deleted
 * or somebody else's and not public, INSUFFICIENT_PERMISSIONS when the caller's own is to be public and is not.
 */
export async function readableSession(
  db: ConversationDatabase,
  id: string,
  caller: Principal,
  { shared = 'own', includeDeleted = false }: NonNullable<Parameters<Sessions['get']>[2]>,
): Promise<{ readonly row: Selectable<SessionTable>; readonly isOwner: boolean }> {
  const row = await db.selectFrom('inlay_chat_sessions').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row || (row.deleted_at !== null && !includeDeleted)) throw new InlayError('SESSION_NOT_FOUND')
  const isOwner = row.owner_id === caller.id
  if (!isOwner && row.deleted_at !== null) throw new InlayError('SESSION_NOT_FOUND')
  // To others, the session does not exist.
  if (!isOwner && (shared === 'own' || row.is_public !== 1)) throw new InlayError('SESSION_NOT_FOUND')
  if (shared === 'public' && row.is_public !== 1) {
    throw new InlayError('INSUFFICIENT_PERMISSIONS', { message: 'This chat session is not shared.' })
  }
  return { row, isOwner }
}

/** A message of one of the caller's sessions, without its texts. */
export interface OwnMessage {
  readonly id: number
  readonly sessionId: string
  readonly parentId: number | null
  readonly role: MessageRole
  readonly status: AnswerStatus
}

/** A message of the caller; undefined when it is unknown, or its session is deleted or somebody else's. */
export async function ownMessage(
  db: ConversationDatabase,
  id: number,
  caller: Principal,
): Promise<OwnMessage | undefined> {
  // Postgres refuses numbers beyond its ids instead of finding nothing.
  if (id < 1 || id > 2_147_483_647) return undefined
  return db
    .selectFrom('inlay_chat_messages')
    .innerJoin('inlay_chat_sessions', 'inlay_chat_sessions.id', 'inlay_chat_messages.session_id')
    .select([
      'inlay_chat_messages.id',
      'inlay_chat_messages.session_id as sessionId',
      'inlay_chat_messages.parent_id as parentId',
      'inlay_chat_messages.role',
      'inlay_chat_messages.status',
    ])
    .where('inlay_chat_messages.id', '=', id)
    .where('inlay_chat_sessions.owner_id', '=', caller.id)
    .where('inlay_chat_sessions.deleted_at', 'is', null)
    .executeTakeFirst()
}
