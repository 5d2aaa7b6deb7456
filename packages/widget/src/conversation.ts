import {
  conversationCalls,
  createConversation,
  placeOf,
  type ChatClient,
  type Conversation,
  type Failure,
} from '@inlay/client/conversation'
import { isInlayError, type SendMessageInput } from '@inlay/protocol'
import type { PastChats } from './past-chats.ts'

export interface ChatOptions {
  readonly client: ChatClient
  readonly message: Partial<SendMessageInput>
  readonly past: PastChats
  readonly onChange: () => void
}

/** The conversation of the element. Its questions have no options of their own. */
export type Chat = Conversation<object>

export function createChat({ client, message, past, onChange }: ChatOptions): Chat {
  const { chat_session_info: info, ...fields } = message
  const calls = conversationCalls(client)
  return createConversation<object>({
    service: {
      ...calls,
      ask: (question, { sessionId, signal, onConnectionChange, ...at }) =>
        client.send(
          {
            ...fields,
            message: question.question,
            ...(sessionId === null ? { chat_session_info: info } : { chat_session_id: sessionId }),
            ...placeOf(question, at),
            origin: 'widget',
          },
          { signal, onConnectionChange },
        ),
      async chat(sessionId) {
        try {
          return await calls.chat(sessionId)
        } catch (error) {
          if (isInlayError(error) && error.data.status === 404) past.remove(sessionId)
          throw error
        }
      },
    },
    texts: {
      connectionEnded: 'The answer is incomplete.',
      neverAnswered: 'This question was not answered.',
      file: '',
    },
    toFailure,
    onChange,
    onBegin: (sessionId, question) => {
      past.add(sessionId, question)
      onChange()
    },
  })
}

/** Asks a question; during an answer it waits. */
export function ask(chat: Chat, text: string): void {
  const question = text.trim()
  if (question !== '') chat.ask({ question, files: [] }, {})
}

function toFailure(error: unknown): Failure {
  if (!isInlayError(error)) return { message: 'Something went wrong.', retryable: true }
  const { status } = error.data
  const isOurs = status === 401 || status === 403 || status === 404
  return { message: error.message, retryable: !isOurs }
}
