import { InlayError } from '@inlay/protocol'
import type { ConversationDatabase } from '../tables/database.ts'
import type { Sessions } from './stored-session.ts'
import { ownMessage } from './session-access.ts'

export function createBranches(db: ConversationDatabase): Pick<Sessions, 'selectBranch' | 'preferResponse'> {
  return {
    selectBranch: async (messageId, caller) => {
      const message = await ownMessage(db, messageId, caller)
      if (!message) {
        throw new InlayError('VALIDATION_ERROR', {
          message: 'message_id names no message in a chat session of yours.',
        })
      }
      const { id, parentId } = message
      if (parentId === null) {
        throw new InlayError('VALIDATION_ERROR', {
          message: 'The root of a chat session is no branch: name another message.',
        })
      }
      await db.updateTable('inlay_chat_messages').set({ latest_child_id: id }).where('id', '=', parentId).execute()
    },
    preferResponse: async (userMessageId, responseId, caller) => {
      const question = await ownMessage(db, userMessageId, caller)
      if (question?.role !== 'user') {
        throw new InlayError('INVALID_INPUT', {
          message: 'user_message_id names no question in a chat session of yours.',
        })
      }
      const response = await ownMessage(db, responseId, caller)
      if (response?.parentId !== question.id) {
        throw new InlayError('INVALID_INPUT', {
          message: 'preferred_response_id names no answer to that question.',
        })
      }
      await db
        .updateTable('inlay_chat_messages')
        .set({ preferred_response_id: response.id, latest_child_id: response.id })
        .where('id', '=', question.id)
        .execute()
    },
  }
}
