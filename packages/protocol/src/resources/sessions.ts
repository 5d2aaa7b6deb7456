import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, sessionName, text, uuid, type WireSchema } from '../fields.ts'
import { fileDescriptorSchema, type FileDescriptor } from '../chat/send-message.ts'
import { answeredTime, dateTime } from '../timestamps.ts'
import { packetSchema } from '../packets/packet-table.ts'
import type { Packet } from '../packets/packet-types.ts'
import { queryBoolean, queryInteger } from '../query.ts'
import { savedSearchDocSchema, type SavedSearchDoc } from '../packets/search-doc.ts'

/** Read access besides the owner: nobody, or everybody who knows the id. */
export type SharingStatus = 'public' | 'private'

/** Schema of {@link SharingStatus}. */
export const sharingStatus: WireSchema<SharingStatus, SharingStatus> = v.picklist(['public', 'private'])

/** Fields of a chat session in listings. */
export interface ChatSessionSummary {
  /** Id of the session, a UUID. */
  readonly id: string
  /** Name of the session; "" until it is named. */
  readonly name: string
  /** The agent of the session; 0 is the default one. */
  readonly persona_id: number
  /** ISO 8601 with `Z`. */
  readonly time_created: string
  /** Time of the last message, ISO 8601 with `Z`. */
  readonly time_updated: string
  /** Read access for others: `public` or `private`. */
  readonly shared_status: SharingStatus
  /** Model pinned to the session, as given. */
  readonly current_alternate_model: string | null
  /** Temperature pinned to the session. */
  readonly current_temperature_override: number | null
  /** Reasoning effort pinned to the session. */
  readonly current_reasoning_effort_override: string | null
}

/** A chat session found by a search, without the time of its last message. */
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
  /** Only sessions of this project. */
  readonly project_id?: number
  /** Without `project_id`: whether to exclude sessions in projects. */
  readonly only_non_project_chats: boolean
  /** Whether to include sessions without messages regardless of age. */
  readonly include_failed_chats: boolean
  /** 1 to 100. */
  readonly page_size: number
  /** Only sessions last updated before this time. */
  readonly before?: string
}

export const chatSessionListQuerySchema: WireSchema<ChatSessionListQuery> = model('ChatSessionListQuery', {
  project_id: v.optional(queryInteger({})),
  only_non_project_chats: v.optional(queryBoolean, 'true'),
  include_failed_chats: v.optional(queryBoolean, 'false'),
  page_size: v.optional(queryInteger({ least: 1, most: 100 }), '50'),
  before: v.optional(dateTime),
})

/** Answer of `GET /chat/get-user-chat-sessions`. */
export interface ChatSessionList {
  /** Sessions, last updated first. */
  readonly sessions: readonly ChatSessionSummary[]
  /** Whether there are older sessions. */
  readonly has_more: boolean
}

export const chatSessionListSchema: WireSchema<ChatSessionList> = model('ChatSessionList', {
  sessions: v.array(chatSessionSummarySchema),
  has_more: boolean,
})

/** A tool call that failed while its answer continued. The stream gives no reason: its packets end without a result. */
export interface FailedToolCall {
  /** Turn index of the call in its answer. */
  readonly turn_index: number
  /** Index among the calls of one turn. */
  readonly tab_index: number
  /** Index inside a research agent; null outside. */
  readonly sub_turn_index: number | null
  /** Name of the tool as the model sees it. */
  readonly tool_name: string
  /** Error message, as passed to the model. */
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
  /** Child message on the active branch. */
  readonly latest_child_message: number | null
  /** Text of the message. */
  readonly message: string
  /** Reasoning that led to the answer. */
  readonly reasoning_tokens: string | null
  /** `system` is the hidden root. */
  readonly message_type: 'system' | 'user' | 'assistant'
  /** Documents by descending score; null when no search ran. */
  readonly context_docs: readonly SavedSearchDoc[] | null
  /** Citation number → document id. */
  readonly citations: Readonly<Record<string, string>> | null
  /** ISO 8601 with `Z`. */
  readonly time_sent: string
  /** Files that went with the message. */
  readonly files: readonly FileDescriptor[]
  /** Error that cut the answer short. */
  readonly error: string | null
  /** Rating by the reader. */
  readonly current_feedback: 'like' | 'dislike' | null
  /** Duration of the answer in seconds. */
  readonly processing_duration_seconds: number | null
  /** Id of the preferred answer, on a question that several models answered. */
  readonly preferred_response_id: number | null
  /** Name of the model that answered. */
  readonly model_display_name: string | null
  /** Model parameters: name, temperature, reasoning effort. */
  readonly request_params: Readonly<Record<string, unknown>> | null
  /** Failed tool calls of the answer, in call order. */
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
  /** Whether to read a shared session instead of an own one. */
  readonly is_shared: boolean
  /** Whether to return a session that was deleted but is still stored. */
  readonly include_deleted: boolean
}

export const chatSessionQuerySchema: WireSchema<ChatSessionQuery> = model('ChatSessionQuery', {
  is_shared: v.optional(queryBoolean, 'false'),
  include_deleted: v.optional(queryBoolean, 'false'),
})

/** A run that can be resumed. */
export interface CurrentRun {
  /** Id of the answer; when several models answer, id of the question. */
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
  /** All messages of all branches: the root first, then by parent. */
  readonly messages: readonly ChatMessageDetail[]
  /** When the session began, ISO 8601 with `Z`. */
  readonly time_created: string
  /** Read access for others: `public` or `private`. */
  readonly shared_status: SharingStatus
  /** Model pinned to the session. */
  readonly current_alternate_model: string | null
  /** Temperature pinned to the session. */
  readonly current_temperature_override: number | null
  /** Reasoning effort pinned to the session. */
  readonly current_reasoning_effort_override: string | null
  /** Whether it was deleted but is still stored. */
  readonly deleted: boolean
  /** Name of the owner, if known. */
  readonly owner_name: string | null
  /** Packets that replay each answer, in the order of the answers in `messages`. */
  readonly packets: readonly (readonly Packet[])[]
  /** The run that can be resumed. */
  readonly current_run: CurrentRun | null
  /** Whether the session is incognito: nothing is stored. */
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
  /** New name; null or blank: a model generates one. */
  readonly name: string | null
}

export const chatSessionRenameSchema: WireSchema<ChatSessionRename> = model('ChatSessionRename', {
  chat_session_id: uuid,
  name: orNull(sessionName),
})

/** Query of `GET /chat/search`. */
export interface ChatSearchQuery {
  /** Search words; blank: the newest sessions. */
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

/** Chat sessions of one time period. */
export interface ChatSessionGroup {
  /** `Today`, `Yesterday`, `This Week` (seven days), `This Month` (thirty days) or `Older`. */
  readonly title: string
  /** Sessions of the group, newest first. */
  readonly chats: readonly FoundChatSession[]
}

/** Answer of `GET /chat/search`: matching sessions, grouped by the day they started (UTC), newest first. */
export interface ChatSearchAnswer {
  /** Matching sessions, grouped by age. */
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
