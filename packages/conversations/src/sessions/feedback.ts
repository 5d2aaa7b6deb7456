import type { Services } from '@inlay/agent'
import { InlayError, type Principal } from '@inlay/protocol'
import { refuseHeld, type RecordEvents } from '@inlay/records'
import type { ConversationDatabase } from '../tables/database.ts'
import type { Sessions } from './stored-session.ts'
import { lockSession, ownMessage, type OwnMessage } from './session-access.ts'
import type { RateLimit } from './rate-limit.ts'

export interface FeedbackOptions extends Pick<Services, 'now'> {
  readonly db: ConversationDatabase
  readonly limit: RateLimit
  readonly recordEvents?: RecordEvents | undefined
}

export function createFeedback({ db, limit, now, recordEvents }: FeedbackOptions): Pick<Sessions, 'rate' | 'unrate'> {
  const answerOf = async (id: number, caller: Principal): Promise<OwnMessage> => {
    limit(caller.id)
    const message = await ownMessage(db, id, caller)
    if (message?.role === 'assistant') return message
    throw new InlayError('VALIDATION_ERROR', {
      message: 'chat_message_id names no answer in a chat session of yours: take the message_id of an answer.',
    })
  }
  return {
    rate: async (feedback, caller) => {
      const { messageId, isPositive, text, predefined } = feedback
      const { sessionId } = await answerOf(messageId, caller)
      await db.transaction().execute(async (records) => {
        if (!(await lockSession(records, sessionId))) throw new InlayError('SESSION_NOT_FOUND')
        await records
          .insertInto('inlay_chat_feedback')
          .values({
            message_id: messageId,
            owner_id: caller.id,
            is_positive: isPositive === null ? null : isPositive ? 1 : 0,
            text,
            predefined,
            created_at: now(),
          })
          .execute()
        const ids = { chat_session_id: sessionId, message_id: messageId, user_id: caller.id }
        const data = { ...ids, is_positive: isPositive, feedback_text: text, predefined_feedback: predefined }
        await recordEvents?.(records, [{ type: 'feedback.given', data }])
        if (isPositive === null) return
        await records
          .updateTable('inlay_chat_messages')
          .set({ feedback: isPositive ? 'like' : 'dislike' })
          .where('id', '=', messageId)
          .execute()
      })
    },
    unrate: async (messageId, caller) => {
      await answerOf(messageId, caller)
      await db.transaction().execute(async (records) => {
        await refuseHeld(records, caller.id)
        await records.deleteFrom('inlay_chat_feedback').where('message_id', '=', messageId).execute()
        await records.updateTable('inlay_chat_messages').set({ feedback: null }).where('id', '=', messageId).execute()
      })
    },
  }
}
