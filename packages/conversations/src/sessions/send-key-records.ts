import type { RunStore, TurnOpening } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { toCallRecord, toLines } from './store-answer.ts'
import type { ConversationDatabase, ConversationTables } from '../tables/database.ts'
import type { Transaction } from 'kysely'

const dayMs = 86_400_000

/** Sends under keys on SQL. The records themselves are stored with the messages they belong to. */
export function createRunStore(db: ConversationDatabase, now: () => number): RunStore {
  return {
    find: async (ownerId, key) => {
      await db
        .deleteFrom('inlay_chat_send_keys')
        .where('created_at', '<=', now() - dayMs)
        .execute()
      const row = await db
        .selectFrom('inlay_chat_send_keys')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .where('key', '=', key)
        .executeTakeFirst()
      if (!row) return undefined
      return {
        bodyHash: row.body_hash,
        sessionId: row.session_id,
        messageId: row.message_id,
        openedSession: row.opened_session === 1,
      }
    },
    answer: async (messageId) => {
      const answer = await db
        .selectFrom('inlay_chat_messages')
        .select(['parent_id', 'status', 'text', 'error', 'error_code', 'documents', 'lines'])
        .where('id', '=', messageId)
        .executeTakeFirst()
      if (!answer) throw new InlayError('SESSION_NOT_FOUND')
      const calls = await db
        .selectFrom('inlay_chat_tool_calls')
        .selectAll()
        .where('message_id', '=', messageId)
        .orderBy('id')
        .execute()
      return {
        parentId: answer.parent_id,
        status: answer.status,
        text: answer.text,
        error: answer.error === null ? null : { code: answer.error_code, message: answer.error },
        documents: answer.documents === null ? null : JSON.parse(answer.documents),
        toolCalls: calls.map(toCallRecord),
        lines: toLines(answer),
      }
    },
  }
}

/**
 * Stores the key of a send in the transaction of its messages.
 * @throws what the database says of a key that is taken, CONFLICT when another send took the place of the replaced one
 */
export async function storeSendKey(
  records: Transaction<ConversationTables>,
  ownerId: string,
  { key, bodyHash, replaces }: NonNullable<TurnOpening['key']>,
  send: {
    readonly sessionId: string
    readonly messageId: number
    readonly openedSession: boolean
    /** Milliseconds since 1970 UTC. */
    readonly time: number
  },
): Promise<void> {
  const { sessionId, messageId, openedSession, time } = send
  if (replaces === undefined) {
    const row = { owner_id: ownerId, key, body_hash: bodyHash, session_id: sessionId, message_id: messageId }
    await records
      .insertInto('inlay_chat_send_keys')
      .values({ ...row, opened_session: openedSession ? 1 : 0, created_at: time })
      .execute()
    return
  }
  const replaced = await records
    .updateTable('inlay_chat_send_keys')
    .set({ message_id: messageId, created_at: time })
    .where('owner_id', '=', ownerId)
    .where('key', '=', key)
    .where('message_id', '=', replaces)
    .returning('message_id')
    .executeTakeFirst()
  if (!replaced) throw new InlayError('CONFLICT')
}
