import {
  chatSearchAnswerSchema,
  type ChatSearchAnswer,
  chatSessionCreatedSchema,
  type ChatSessionCreationRequest,
  type ChatSessionDetail,
  chatSessionDetailSchema,
  type ChatSessionList,
  chatSessionListSchema,
  chatSessionRenamedSchema,
  type ChatSessionSummary,
  chatSessionSummarySchema,
  type SharingStatus,
} from '@inlay/protocol'
import { type CallOptions, queryOf, read, readList, submit } from './call.ts'
import type { Call, Transport } from './transport.ts'

export interface SessionsQuery extends CallOptions {
  /** Only sessions of this project; null: only sessions outside of projects. Default: all. */
  readonly projectId?: number | null
  /** Only sessions last updated before this time. For the next page: the last `time_updated` of the previous page. */
  readonly before?: string
  /** 1 to 100. Default 50. */
  readonly limit?: number
}

export interface SessionSearch extends CallOptions {
  /** From 1. For the next page: `next_page` of the previous page. */
  readonly page?: number
  /** 1 to 100. Default 10. */
  readonly limit?: number
}

/** Model settings pinned to a session: absent fields stay unchanged, null restores the default. */
export interface SessionPins extends CallOptions {
  /** Name of the model, as in `current_alternate_model` of a session. */
  readonly model?: string | null
  /** 0 to 2. */
  readonly temperature?: number | null
  /** For example `low` or `high`. */
  readonly reasoningEffort?: string | null
}

/** Feedback on an answer; requires a rating or a text. */
export interface AnswerRating extends CallOptions {
  readonly isPositive?: boolean
  readonly text?: string
  /** One of the predefined texts that a page offers. */
  readonly predefined?: string
}

export interface SessionRemoval extends CallOptions {
  /** Whether to delete permanently; default: hide. */
  readonly erase?: boolean
}

/**
 * The caller's chat sessions. Methods with a session id throw SESSION_NOT_FOUND if it is unknown or belongs to somebody
 * else.
 */
export interface SessionsClient {
  /** Creates a session in advance and returns its id. A message without a session creates one automatically. */
  create(creation?: ChatSessionCreationRequest, options?: CallOptions): Promise<string>
  /**
   * All messages of all branches, with packets that replay each answer. `shared`: for a session shared by somebody
   * else.
   */
  get(sessionId: string, options?: CallOptions & { readonly shared?: boolean }): Promise<ChatSessionDetail>
  /** Last updated first. */
  list(query?: SessionsQuery): Promise<ChatSessionList>
  /** Searches names and messages; "" returns the newest sessions. */
  search(words: string, query?: SessionSearch): Promise<ChatSearchAnswer>
  /** Renames a session; without a name, one is generated from the conversation. @returns the new name */
  rename(sessionId: string, name?: string | null, options?: CallOptions): Promise<string>
  /** Every caller who knows its id can read a public session. */
  share(sessionId: string, status: SharingStatus, options?: CallOptions): Promise<void>
  /** Sets the model of further answers, and its settings. @throws VALIDATION_ERROR for values that no model supports */
  pin(sessionId: string, pins: SessionPins): Promise<void>
  remove(sessionId: string, options?: SessionRemoval): Promise<void>
  /** Undoes a removal without `erase`, as long as the session is stored. It is private then. */
  restore(sessionId: string, options?: CallOptions): Promise<void>
  /** Pins a session to the top of lists, or unpins it. @throws INVALID_INPUT if 100 are pinned already */
  setPinned(sessionId: string, isPinned: boolean, options?: CallOptions): Promise<void>
  /** All pinned sessions, last pinned first. */
  listPinned(options?: CallOptions): Promise<readonly ChatSessionSummary[]>
  /** Deletes all sessions of the caller. */
  removeAll(options?: SessionRemoval): Promise<void>
  /** Makes the branch of a message the active one. @throws VALIDATION_ERROR if it is not a message of the caller */
  selectBranch(messageId: number, options?: CallOptions): Promise<void>
  /** Selects one of several answers, with which the session continues. @throws INVALID_INPUT */
  prefer(questionId: number, answerId: number, options?: CallOptions): Promise<void>
  /** Rates an answer. @throws VALIDATION_ERROR if it is not an answer to the caller */
  rate(answerId: number, rating: AnswerRating): Promise<void>
  /** Deletes the feedback on an answer. */
  unrate(answerId: number, options?: CallOptions): Promise<void>
}

const pathOf = (name: string, sessionId: string): string => `/chat/${name}/${encodeURIComponent(sessionId)}`
const ownPath = (sessionId: string): string => `/service-api/chat-sessions/${encodeURIComponent(sessionId)}`
const put = (json: object, signal?: AbortSignal): Call => ({ method: 'PUT', json, signal })

export function createSessionsClient(transport: Transport): SessionsClient {
  const { send } = transport
  return {
    create: async (creation = {}, { signal } = {}) => {
      const answer = send('/chat/create-chat-session', { method: 'POST', json: creation, signal })
      return (await read(chatSessionCreatedSchema, answer)).chat_session_id
    },
    get: (sessionId, { signal, shared } = {}) =>
      read(
        chatSessionDetailSchema,
        send(pathOf('get-chat-session', sessionId) + queryOf({ is_shared: shared }), { signal }),
      ),
    list: ({ projectId, before, limit, signal } = {}) => {
      const query = queryOf({
        project_id: projectId,
        only_non_project_chats: projectId === null,
        before,
        page_size: limit,
      })
      return read(chatSessionListSchema, send(`/chat/get-user-chat-sessions${query}`, { signal }))
    },
    search: (words, { page, limit, signal } = {}) => {
      const query = queryOf({ query: words, page, page_size: limit })
      return read(chatSearchAnswerSchema, send(`/chat/search${query}`, { signal }))
    },
    rename: async (sessionId, name = null, { signal } = {}) => {
      const answer = send('/chat/rename-chat-session', put({ chat_session_id: sessionId, name }, signal))
      return (await read(chatSessionRenamedSchema, answer)).new_name
    },
    share: (sessionId, status, { signal } = {}) =>
      submit(transport, pathOf('chat-session', sessionId), {
        method: 'PATCH',
        json: { sharing_status: status },
        signal,
      }),
    remove: (sessionId, options = {}) =>
      submit(transport, pathOf('delete-chat-session', sessionId) + removalQuery(options), removal(options)),
    restore: (sessionId, { signal } = {}) =>
      submit(transport, `${ownPath(sessionId)}/restore`, { method: 'POST', signal }),
    setPinned: (sessionId, isPinned, { signal } = {}) =>
      submit(transport, `${ownPath(sessionId)}/pin`, put({ pinned: isPinned }, signal)),
    listPinned: ({ signal } = {}) =>
      readList(chatSessionSummarySchema, send('/service-api/pinned-chat-sessions', { signal })),
    removeAll: (options = {}) =>
      submit(transport, `/chat/delete-all-chat-sessions${removalQuery(options)}`, removal(options)),
    pin: (sessionId, pins) => pin(transport, sessionId, pins),
    ...createMessageCalls(transport),
  }
}

const removal = ({ signal }: SessionRemoval): Call => ({ method: 'DELETE', signal })
const removalQuery = ({ erase }: SessionRemoval): string => queryOf({ hard_delete: erase })

/** Sequential, so that a refused value leaves the following settings unchanged. */
async function pin(transport: Transport, sessionId: string, pins: SessionPins): Promise<void> {
  const settings = {
    model: { new_alternate_model: pins.model },
    temperature: { temperature_override: pins.temperature },
    reasoning: { reasoning_effort_override: pins.reasoningEffort },
  }
  for (const [name, setting] of Object.entries(settings)) {
    if (Object.values(setting)[0] === undefined) continue
    const json = { chat_session_id: sessionId, ...setting }
    await submit(transport, `/chat/update-chat-session-${name}`, put(json, pins.signal))
  }
}

function createMessageCalls(transport: Transport): Pick<SessionsClient, 'selectBranch' | 'prefer' | 'rate' | 'unrate'> {
  return {
    selectBranch: (messageId, { signal } = {}) =>
      submit(transport, '/chat/set-message-as-latest', put({ message_id: messageId }, signal)),
    prefer: (questionId, answerId, { signal } = {}) => {
      const json = { user_message_id: questionId, preferred_response_id: answerId }
      return submit(transport, '/chat/set-preferred-response', put(json, signal))
    },
    rate: (answerId, { isPositive, text, predefined, signal }) =>
      submit(transport, '/chat/create-chat-message-feedback', {
        method: 'POST',
        json: {
          chat_message_id: answerId,
          is_positive: isPositive ?? null,
          feedback_text: text ?? null,
          predefined_feedback: predefined ?? null,
        },
        signal,
      }),
    unrate: (answerId, { signal } = {}) => {
      const path = `/chat/remove-chat-message-feedback${queryOf({ chat_message_id: answerId })}`
      return submit(transport, path, { method: 'DELETE', signal })
    },
  }
}
