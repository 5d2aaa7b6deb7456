import type { TurnOpening } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { Transaction } from 'kysely'
import type { ConversationTables } from '../tables/database.ts'

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
      .values({ ...row, opened_session: openedSession ? 1 : 0, created_at: time, lines: null })
      .execute()
    return
  }
  const replaced = await records
    .updateTable('inlay_chat_send_keys')
    .set({ message_id: messageId, created_at: time, lines: null })
    .where('owner_id', '=', ownerId)
    .where('key', '=', key)
    .where('message_id', '=', replaces)
    .returning('message_id')
    .executeTakeFirst()
  if (!replaced) throw new InlayError('CONFLICT')
}
