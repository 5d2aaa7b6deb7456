import type { FoundSession, StoredPersona, SessionListing, StoredMessage, StoredSession } from '@inlay/conversations'
import {
  chatSearchAnswerSchema,
  chatSearchQuerySchema,
  chatSessionCreatedSchema,
  chatSessionCreationSchema,
  chatSessionDetailSchema,
  chatSessionListQuerySchema,
  chatSessionListSchema,
  chatSessionQuerySchema,
  chatSessionRenamedSchema,
  chatSessionRenameSchema,
  chatSessionSummarySchema,
  chatSessionUpdateSchema,
  sessionDeletionQuerySchema,
  sessionPinSchema,
  uuid,
  type ChatMessageDetail,
  type ChatSessionDetail,
  type ChatSessionSummary,
  type FoundChatSession,
  type Principal,
} from '@inlay/protocol'
import * as v from 'valibot'
import { longJsonReply } from '../../http/replies.ts'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Chat sessions', { scope: 'chat', owner: 'caller' })
const sessionPath = v.object({ session_id: uuid })
const nothing = { description: 'Done.', schema: v.null() }

export const sessionRoutes: readonly Route[] = [
  route('POST /chat/create-chat-session', 'createChatSession', 'Create a session', {
    description: 'Creates a session in advance. A message without a session creates one automatically.',
    input: { body: chatSessionCreationSchema },
    answer: { description: 'The new session.', schema: chatSessionCreatedSchema },
    errors: ['PERSONA_NOT_FOUND', 'NOT_FOUND', 'DEPLOYMENT_UNSUPPORTED'],
    async handle({ body, caller, parts }) {
      const { id } = await parts.agent.sessions.create(body, caller)
      return { chat_session_id: id, incognito: false }
    },
  }),
  route('GET /chat/get-chat-session/{session_id}', 'getChatSession', 'Read a session', {
    description:
      'All messages of all branches, and packets that replay each answer. With `is_shared=true`, the view of a public ' +
      'session that others get: the selected branch, without reasoning, tool calls and sources they may not see.',
    input: { path: sessionPath, query: chatSessionQuerySchema },
    answer: { description: 'The session.', schema: chatSessionDetailSchema },
    errors: ['SESSION_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS'],
    async handle({ path, query, caller, parts }) {
      const session = await parts.agent.sessions.get(path.session_id, caller, {
        shared: query.is_shared ? 'public' : 'own',
        includeDeleted: query.include_deleted,
      })
      const ids = [session.personaId]
      const [persona] = await parts.agent.personas.list(caller, { ids, includeDeleted: true })
      return longJsonReply(toDetail(session, persona, caller))
    },
  }),
  route('GET /chat/get-user-chat-sessions', 'listChatSessions', 'List sessions', {
    description: 'Last updated first. For the next page, set `before` to the last `time_updated`.',
    input: { query: chatSessionListQuerySchema },
    answer: { description: 'A page of sessions.', schema: chatSessionListSchema },
    async handle({ query, caller, parts }) {
      const { sessions, hasMore } = await parts.agent.sessions.list(caller, {
        limit: query.page_size,
        includeEmpty: query.include_failed_chats,
        ...(query.before === undefined ? {} : { before: Date.parse(query.before) }),
        ...projectOf(query),
      })
      return { sessions: sessions.map(toSummary), has_more: hasMore }
    },
  }),
  route('GET /chat/search', 'searchChatSessions', 'Search sessions', {
    description:
      'Searches names and messages; without a query returns the newest. Days are in UTC. `match` names the newest message ' +
      'that contains all words, with the text around them.',
    input: { query: chatSearchQuerySchema },
    answer: { description: 'A page of sessions, grouped by age.', schema: chatSearchAnswerSchema },
    async handle({ query, caller, parts }) {
      const { page, page_size: limit } = query
      const result = await parts.agent.sessions.search(query.query ?? '', caller, { offset: (page - 1) * limit, limit })
      return {
        groups: result.groups.map(({ title, sessions }) => ({ title, chats: sessions.map(toFound) })),
        has_more: result.hasMore,
        next_page: result.hasMore ? page + 1 : null,
      }
    },
  }),
  route('PUT /chat/rename-chat-session', 'renameChatSession', 'Name a session', {
    description: 'Without a name, one is generated from the conversation.',
    input: { body: chatSessionRenameSchema },
    answer: { description: 'The new name.', schema: chatSessionRenamedSchema },
    errors: ['SESSION_NOT_FOUND'],
    async handle({ body, caller, parts }) {
      return { new_name: await parts.agent.sessions.rename(body.chat_session_id, body.name, caller) }
    },
  }),
  route('PATCH /chat/chat-session/{session_id}', 'updateChatSession', 'Share a session', {
    changesAccess: true,
    description:
      'Every caller who knows the id can read a public session with `is_shared=true`: the selected branch, with the sources ' +
      'that they may see themselves.',
    input: { path: sessionPath, body: chatSessionUpdateSchema },
    answer: nothing,
    errors: ['SESSION_NOT_FOUND'],
    handle: ({ path, body, caller, parts }) => parts.agent.sessions.share(path.session_id, body.sharing_status, caller),
  }),
  route('DELETE /chat/delete-chat-session/{session_id}', 'deleteChatSession', 'Delete a session', {
    description: 'Stops its running answer and hides the session; `hard_delete=true` deletes it permanently.',
    input: { path: sessionPath, query: sessionDeletionQuerySchema },
    answer: nothing,
    errors: ['SESSION_NOT_FOUND', 'CONFLICT'],
    async handle({ path, query, caller, parts }) {
      await parts.agent.sessions.remove(path.session_id, caller, { erase: query.hard_delete })
    },
  }),
  route('POST /service-api/chat-sessions/{session_id}/restore', 'restoreChatSession', 'Undo deleting a session', {
    description:
      'Lists a session again that was hidden and is still stored; it is private then. Nothing happens to one that is not ' +
      'deleted.',
    input: { path: sessionPath },
    answer: nothing,
    errors: ['SESSION_NOT_FOUND'],
    handle: ({ path, caller, parts }) => parts.agent.sessions.restore(path.session_id, caller),
  }),
  route('PUT /service-api/chat-sessions/{session_id}/pin', 'pinChatSession', 'Pin a session', {
    description: 'Pins a session to the top of lists, or unpins it. At most 100 sessions of a caller can be pinned.',
    input: { path: sessionPath, body: sessionPinSchema },
    answer: nothing,
    errors: ['SESSION_NOT_FOUND', 'INVALID_INPUT'],
    handle: ({ path, body, caller, parts }) => parts.agent.sessions.setPinned(path.session_id, body.pinned, caller),
  }),
  route('GET /service-api/pinned-chat-sessions', 'listPinnedChatSessions', 'List pinned sessions', {
    description: 'All pinned sessions of the caller, last pinned first.',
    answer: { description: 'The sessions.', schema: v.array(chatSessionSummarySchema) },
    handle: async ({ caller, parts }) => (await parts.agent.sessions.listPinned(caller)).map(toSummary),
  }),
  route('DELETE /chat/delete-all-chat-sessions', 'deleteAllChatSessions', 'Delete all sessions', {
    description: 'Hides all sessions of the caller; `hard_delete=true` deletes them permanently.',
    input: { query: sessionDeletionQuerySchema },
    answer: nothing,
    errors: ['CONFLICT'],
    handle: ({ query, caller, parts }) => parts.agent.sessions.removeAll(caller, { erase: query.hard_delete }),
  }),
]

/** One project; without one, sessions outside of projects, or all sessions if requested. */
function projectOf(query: v.InferOutput<typeof chatSessionListQuerySchema>): { readonly projectId?: number | null } {
  if (query.project_id !== undefined) return { projectId: query.project_id }
  return query.only_non_project_chats ? { projectId: null } : {}
}

function toFound(session: FoundSession): FoundChatSession {
  const { match } = session
  return { ...toListed(session), ...(match && { match: { message_id: match.messageId, text: match.text } }) }
}

function toListed(session: SessionListing): Omit<ChatSessionSummary, 'time_updated'> {
  return {
    id: session.id,
    name: session.name,
    persona_id: session.personaId,
    time_created: session.timeCreated,
    shared_status: session.isPublic ? 'public' : 'private',
    current_alternate_model: session.model,
    current_temperature_override: session.temperature,
    current_reasoning_effort_override: session.reasoningEffort,
  }
}

export function toSummary(session: SessionListing): ChatSessionSummary {
  return { ...toListed(session), time_updated: session.timeUpdated }
}

/** @param persona undefined when the caller cannot see it */
function toDetail(session: StoredSession, persona: StoredPersona | undefined, caller: Principal): ChatSessionDetail {
  return {
    chat_session_id: session.id,
    description: session.name,
    persona_id: session.personaId,
    persona_name: persona?.name ?? null,
    personal_icon_name: persona?.iconName ?? null,
    messages: session.messages.map((message) => toMessage(message, session.id)),
    time_created: session.timeCreated,
    shared_status: session.isPublic ? 'public' : 'private',
    current_alternate_model: session.model,
    current_temperature_override: session.temperature,
    current_reasoning_effort_override: session.reasoningEffort,
    deleted: session.isDeleted,
    owner_name: session.ownerId === caller.id ? (caller.email ?? null) : null,
    packets: session.packets,
    current_run: session.currentRunId === null ? null : { run_id: session.currentRunId },
    incognito: false,
  }
}

function toMessage(message: StoredMessage, sessionId: string): ChatMessageDetail {
  return {
    chat_session_id: sessionId,
    message_id: message.id,
    parent_message: message.parentId,
    latest_child_message: message.latestChildId,
    message: message.text,
    reasoning_tokens: message.reasoning,
    message_type: message.role,
    context_docs: message.documents?.map((document, index) => ({ ...document, db_doc_id: index + 1 })) ?? null,
    citations: message.citations,
    time_sent: message.timeSent,
    files: message.files,
    error: message.error,
    current_feedback: message.feedback,
    processing_duration_seconds: message.durationSeconds,
    preferred_response_id: message.preferredResponseId,
    model_display_name: message.modelDisplayName,
    failed_calls: message.failedCalls.map(({ turnIndex, tabIndex, subTurnIndex, name, reason }) => ({
      turn_index: turnIndex,
      tab_index: tabIndex,
      sub_turn_index: subTurnIndex,
      tool_name: name,
      reason,
    })),
    request_params: message.requestParams,
  }
}
