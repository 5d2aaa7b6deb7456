import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, sessionName, text, uuid, type WireSchema } from '../fields.ts'
import { fileDescriptorSchema, type FileDescriptor } from '../chat/send-message.ts'
import { answeredTime, dateTime } from '../timestamps.ts'
import { packetSchema } from '../packets/packet-table.ts'
import type { Packet } from '../packets/packet-types.ts'
import { queryBoolean, queryInteger } from '../query.ts'
import { savedSearchDocSchema, type SavedSearchDoc } from '../packets/search-doc.ts'

/** Who may read a session besides its owner: nobody, or everybody who knows its id. */
export type SharingStatus = 'public' | 'private'

/** Schema of {@link SharingStatus}. */
export const sharingStatus: WireSchema<SharingStatus, SharingStatus> = v.picklist(['public', 'private'])

/** What every listing tells of a chat session. */
export interface ChatSessionSummary {
  /** Id of the session, a UUID. */
  readonly id: string
  /** "" until it was named. */
  readonly name: string
  /** The agent of the session; 0 is the default one. */
  readonly persona_id: number
  /** ISO 8601 with `Z`. */
  readonly time_created: string
  /** When its last message was written, ISO 8601 with `Z`. */
  readonly time_updated: string
  /** Who may read it. */
  readonly shared_status: SharingStatus
  /** The model it is pinned to, as it was given. */
  readonly current_alternate_model: string | null
  /** Temperature it is pinned to. */
  readonly current_temperature_override: number | null
  /** Reasoning effort it is pinned to. */
  readonly current_reasoning_effort_override: string | null
}

/** A chat session found by a search: without the time of its last message. */
export type FoundChatSession = Omit<ChatSessionSummary, 'time_updated'>

const foundFields = {
  id: v.string(),
  name: v.string(),
  persona_id: integer,
  time_created: answeredTime,
  shared_status: sharingStatus,
  current_alternate_model: orNull(v.string()),
  current_temperature_override: orNull(v.number()),
  current_reasoning_effort_override: orNull(v.string()),
}

export const chatSessionSummarySchema: WireSchema<ChatSessionSummary> = model('ChatSessionSummary', {
  ...foundFields,
  time_updated: answeredTime,
})

/** Query of `GET /chat/get-user-chat-sessions`. */
export interface ChatSessionListQuery {
  /** Only those of this project. */
  readonly project_id?: number
  /** Without a project: whether those in projects are left out. */
  readonly only_non_project_chats: boolean
  /** Whether those without a message are listed however old they are. */
  readonly include_failed_chats: boolean
  /** 1 to 100. */
  readonly page_size: number
  /** Only those last updated before this moment. */
  readonly before?: string
}

export const chatSessionListQuerySchema: WireSchema<ChatSessionListQuery> = model('ChatSessionListQuery', {
  project_id: v.optional(queryInteger({})),
  only_non_project_chats: v.optional(queryBoolean, 'true'),
  include_failed_chats: v.optional(queryBoolean, 'false'),
  page_size: v.optional(queryInteger({ least: 1, most: 100 }), '50'),
  before: v.optional(dateTime),
})

/** Answer of `GET /chat/get-user-chat-sessions`: newest update first. */
export interface ChatSessionList {
  /** The sessions, newest update first. */
  readonly sessions: readonly ChatSessionSummary[]
  /** Whether older ones follow. */
  readonly has_more: boolean
}

export const chatSessionListSchema: WireSchema<ChatSessionList> = model('ChatSessionList', {
  sessions: v.array(chatSessionSummarySchema),
  has_more: boolean,
})

/** A tool call that failed while its answer went on. The stream tells no reason: its packets end without a result. */
export interface FailedToolCall {
  /** Place of the call among the packets of its answer. */
  readonly turn_index: number
  /** Its place among the calls of one turn. */
  readonly tab_index: number
  /** Its place inside a research agent; null outside. */
  readonly sub_turn_index: number | null
  /** The name the model sees. */
  readonly tool_name: string
  /** Why it failed, as the model was told. */
  readonly reason: string
}

/** A stored message. */
export interface ChatMessageDetail {
  /** The session that holds the message. */
  readonly chat_session_id: string
  /** Id of the message. */
  readonly message_id: number
  /** Null for the hidden root of the tree. */
  readonly parent_message: number | null
  /** The child that the mainline goes on with. */
  readonly latest_child_message: number | null
  /** Text of the message. */
  readonly message: string
  /** Reasoning that led to the answer. */
  readonly reasoning_tokens: string | null
  /** `system` is the hidden root. */
  readonly message_type: 'system' | 'user' | 'assistant'
  /** By falling score; null when nothing searched. */
  readonly context_docs: readonly SavedSearchDoc[] | null
  /** Citation number → document id. */
  readonly citations: Readonly<Record<string, string>> | null
  /** ISO 8601 with `Z`. */
  readonly time_sent: string
  /** Files that went with the message. */
  readonly files: readonly FileDescriptor[]
  /** Why the answer is not whole. */
  readonly error: string | null
  /** The verdict of its reader. */
  readonly current_feedback: 'like' | 'dislike' | null
  /** Seconds that the answer took. */
  readonly processing_duration_seconds: number | null
  /** Of a question that several models answered: the answer its asker likes best. */
  readonly preferred_response_id: number | null
  /** Name of the model that answered. */
  readonly model_display_name: string | null
  /** What the model was told besides the prompt: its name, temperature, reasoning effort. */
  readonly request_params: Readonly<Record<string, unknown>> | null
  /** Tool calls of the answer that failed, in the order they were made. */
  readonly failed_calls: readonly FailedToolCall[]
}

export const failedToolCallSchema: WireSchema<FailedToolCall> = model('FailedToolCall', {
  turn_index: integer,
  tab_index: integer,
  sub_turn_index: orNull(integer),
  tool_name: v.string(),
  reason: v.string(),
})

export const chatMessageDetailSchema: WireSchema<ChatMessageDetail> = model('ChatMessageDetail', {
  chat_session_id: v.string(),
  message_id: integer,
  parent_message: orNull(integer),
  latest_child_message: orNull(integer),
  message: v.string(),
  reasoning_tokens: orNull(v.string()),
  message_type: v.picklist(['system', 'user', 'assistant']),
  context_docs: orNull(v.array(savedSearchDocSchema)),
  citations: orNull(dictionary(v.string())),
  time_sent: answeredTime,
  files: v.array(fileDescriptorSchema),
  error: orNull(v.string()),
  current_feedback: orNull(v.picklist(['like', 'dislike'])),
  processing_duration_seconds: orNull(v.number()),
  preferred_response_id: orNull(integer),
  model_display_name: orNull(v.string()),
  request_params: orNull(dictionary(v.unknown())),
  failed_calls: v.optional(v.array(failedToolCallSchema), []),
})

/** Query of `GET /chat/get-chat-session/{session_id}`. */
export interface ChatSessionQuery {
  /** Whether to read a session that was shared instead of one's own. */
  readonly is_shared: boolean
  /** Whether one that was deleted but kept may be read. */
  readonly include_deleted: boolean
}

export const chatSessionQuerySchema: WireSchema<ChatSessionQuery> = model('ChatSessionQuery', {
  is_shared: v.optional(queryBoolean, 'false'),
  include_deleted: v.optional(queryBoolean, 'false'),
})

/** A run that can be resumed. */
export interface CurrentRun {
  /** Id of the answer; with several models side by side, id of the question. */
  readonly run_id: number
}

/** Answer of `GET /chat/get-chat-session/{session_id}`. */
export interface ChatSessionDetail {
  /** Id of the session. */
  readonly chat_session_id: string
  /** Its name. */
  readonly description: string | null
  /** The agent of the session. */
  readonly persona_id: number | null
  /** Name of the agent. */
  readonly persona_name: string | null
  /** The agent's icon. */
  readonly personal_icon_name: string | null
  /** Every message of every branch: the root first, then by parent. */
  readonly messages: readonly ChatMessageDetail[]
  /** When the session began, ISO 8601 with `Z`. */
  readonly time_created: string
  /** Who may read it. */
  readonly shared_status: SharingStatus
  /** The model it is pinned to. */
  readonly current_alternate_model: string | null
  /** Temperature it is pinned to. */
  readonly current_temperature_override: number | null
  /** Reasoning effort it is pinned to. */
  readonly current_reasoning_effort_override: string | null
  /** Whether it was deleted but is still kept. */
  readonly deleted: boolean
  /** Name of its owner, where it is known. */
  readonly owner_name: string | null
  /** Packets that show each answer again, in the order of the answers among `messages`. */
  readonly packets: readonly (readonly Packet[])[]
  /** The run that can be resumed: the answer's id, of several side by side the question's. */
  readonly current_run: CurrentRun | null
  /** Whether the session leaves no trace. */
  readonly incognito: boolean
}

export const chatSessionDetailSchema: WireSchema<ChatSessionDetail> = model('ChatSessionDetail', {
  chat_session_id: v.string(),
  description: orNull(v.string()),
  persona_id: orNull(integer),
  persona_name: orNull(v.string()),
  personal_icon_name: orNull(v.string()),
  messages: v.array(chatMessageDetailSchema),
  time_created: answeredTime,
  shared_status: sharingStatus,
  current_alternate_model: orNull(v.string()),
  current_temperature_override: orNull(v.number()),
  current_reasoning_effort_override: orNull(v.string()),
  deleted: boolean,
  owner_name: orNull(v.string()),
  packets: v.array(v.array(packetSchema)),
  current_run: orNull(model('CurrentRun', { run_id: integer })),
  incognito: boolean,
})

/** Body of `PUT /chat/rename-chat-session`. */
export interface ChatSessionRename {
  /** The session to rename. */
  readonly chat_session_id: string
  /** Null or blank: a model finds one. */
  readonly name: string | null
}

export const chatSessionRenameSchema: WireSchema<ChatSessionRename> = model('ChatSessionRename', {
  chat_session_id: uuid,
  name: orNull(sessionName),
})

/** Query of `GET /chat/search`. */
export interface ChatSearchQuery {
  /** Blank: the newest sessions. */
  readonly query?: string
  /** From 1. */
  readonly page: number
  /** 1 to 100. */
  readonly page_size: number
}

export const chatSearchQuerySchema: WireSchema<ChatSearchQuery> = model('ChatSearchQuery', {
  query: v.optional(text),
  page: v.optional(queryInteger({ least: 1, most: 1_000_000 }), '1'),
  page_size: v.optional(queryInteger({ least: 1, most: 100 }), '10'),
})

/** The chat sessions of one stretch of time. */
export interface ChatSessionGroup {
  /** `Today`, `Yesterday`, `This Week` (seven days), `This Month` (thirty days) or `Older`. */
  readonly title: string
  /** The sessions of the group, newest first. */
  readonly chats: readonly FoundChatSession[]
}

/** Answer of `GET /chat/search`: the sessions found, by the day they were begun on (UTC), newest first. */
export interface ChatSearchAnswer {
  /** The sessions found, in groups by age. */
  readonly groups: readonly ChatSessionGroup[]
  /** Whether there is another page. */
  readonly has_more: boolean
  /** Number of the next page; null on the last one. */
  readonly next_page: number | null
}

export const chatSearchAnswerSchema: WireSchema<ChatSearchAnswer> = model('ChatSearchAnswer', {
  groups: v.array(
    model('ChatSessionGroup', { title: v.string(), chats: v.array(model('FoundChatSession', foundFields)) }),
  ),
  has_more: boolean,
  next_page: orNull(integer),
})
