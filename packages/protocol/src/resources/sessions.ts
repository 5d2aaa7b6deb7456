import * as v from 'valibot'
import {
  boolean,
  dictionary,
  integer,
  model,
  orNull,
  sessionName,
  text,
  uuid,
  type Wire,
  type WireSchema,
} from '../fields.ts'
import { fileDescriptorSchema, type FileDescriptor } from '../chat/send-message.ts'
import { answeredTime, dateTime } from '../timestamps.ts'
import { packetSchema } from '../packets/packet-table.ts'
import { queryBoolean, queryInteger } from '../query.ts'
import { savedSearchDocSchema } from '../packets/search-doc.ts'

/** Read access besides the owner: nobody, or everybody who knows the id. */
export type SharingStatus = 'public' | 'private'

export const sharingStatus: WireSchema<SharingStatus, SharingStatus> = v.picklist(['public', 'private'])

const listedChatSessionSchema = model('ListedChatSession', {
  /** Id of the session, a UUID. */
  id: v.string(),
  /** Name of the session; "" until it is named. */
  name: v.string(),
  /** The agent of the session; 0 is the default one. */
  persona_id: integer,
  /** ISO 8601 with `Z`. */
  time_created: answeredTime,
  /** Read access for others: `public` or `private`. */
  shared_status: sharingStatus,
  /** Model pinned to the session, as given. */
  current_alternate_model: orNull(v.string()),
  /** Temperature pinned to the session. */
  current_temperature_override: orNull(v.number()),
  /** Reasoning effort pinned to the session. */
  current_reasoning_effort_override: orNull(v.string()),
})

const chatSearchMatchSchema = model('ChatSearchMatch', {
  /** The newest message that contains all words. */
  message_id: integer,
  /** The text around the words, at most 160 characters and an ellipsis at each cut end; on one line. */
  text: v.string(),
})

/** The message by which a search found a session. */
export type ChatSearchMatch = Wire<typeof chatSearchMatchSchema>

const foundChatSessionSchema = model('FoundChatSession', {
  ...listedChatSessionSchema.entries,
  /** The message that contains the words; absent if only the name does, and without a query. */
  match: v.optional(chatSearchMatchSchema),
})

/** A chat session found by a search, without the time of its last message. */
export type FoundChatSession = Wire<typeof foundChatSessionSchema>

export const chatSessionSummarySchema = model('ChatSessionSummary', {
  ...listedChatSessionSchema.entries,
  /** Time of the last message, ISO 8601 with `Z`. */
  time_updated: answeredTime,
})

/** Fields of a chat session in listings. */
export type ChatSessionSummary = Wire<typeof chatSessionSummarySchema>

/** Query of `GET /chat/get-user-chat-sessions`. */
export const chatSessionListQuerySchema = model('ChatSessionListQuery', {
  /** Only sessions of this project. */
  project_id: v.optional(queryInteger({})),
  /** Without `project_id`: whether to exclude sessions in projects. */
  only_non_project_chats: v.optional(queryBoolean, 'true'),
  /** Whether to include sessions without messages regardless of age. */
  include_failed_chats: v.optional(queryBoolean, 'false'),
  /** 1 to 100. */
  page_size: v.optional(queryInteger({ least: 1, most: 100 }), '50'),
  /** Only sessions last updated before this time. */
  before: v.optional(dateTime),
})

export const chatSessionListSchema = model('ChatSessionList', {
  /** Sessions, last updated first. */
  sessions: v.array(chatSessionSummarySchema),
  /** Whether there are older sessions. */
  has_more: boolean,
})

/** Answer of `GET /chat/get-user-chat-sessions`. */
export type ChatSessionList = Wire<typeof chatSessionListSchema>

export const failedToolCallSchema = model('FailedToolCall', {
  /** Turn index of the call in its answer. */
  turn_index: integer,
  /** Index among the calls of one turn. */
  tab_index: integer,
  /** Index inside a research agent; null outside. */
  sub_turn_index: orNull(integer),
  /** Name of the tool as the model sees it. */
  tool_name: v.string(),
  /** Error message, as passed to the model. */
  reason: v.string(),
})

/** A tool call that failed while its answer continued. The stream gives no reason: its packets end without a result. */
export type FailedToolCall = Wire<typeof failedToolCallSchema>

export const chatMessageDetailSchema = model('ChatMessageDetail', {
  /** The session that holds the message. */
  chat_session_id: v.string(),
  /** Id of the message. */
  message_id: integer,
  /** Null for the hidden root of the tree. */
  parent_message: orNull(integer),
  /** Child message on the active branch. */
  latest_child_message: orNull(integer),
  /** Text of the message. */
  message: v.string(),
  /** Reasoning that led to the answer. */
  reasoning_tokens: orNull(v.string()),
  /** `system` is the hidden root. */
  message_type: v.picklist(['system', 'user', 'assistant']),
  /** Documents by descending score; null when no search ran. */
  context_docs: orNull(v.array(savedSearchDocSchema)),
  /** Citation number → document id. */
  citations: orNull(dictionary(v.string())),
  /** ISO 8601 with `Z`. */
  time_sent: answeredTime,
  /** Files that went with the message. */
  files: v.array(fileDescriptorSchema as WireSchema<FileDescriptor>),
  /** Error that cut the answer short. */
  error: orNull(v.string()),
  /** Rating by the reader. */
  current_feedback: orNull(v.picklist(['like', 'dislike'])),
  /** Duration of the answer in seconds. */
  processing_duration_seconds: orNull(v.number()),
  /** Id of the preferred answer, on a question that several models answered. */
  preferred_response_id: orNull(integer),
  /** Name of the model that answered. */
  model_display_name: orNull(v.string()),
  /** Model parameters: name, temperature, reasoning effort. */
  request_params: orNull(dictionary(v.unknown())),
  /** Failed tool calls of the answer, in call order. */
  failed_calls: v.optional(v.array(failedToolCallSchema), []),
})

/** A stored message. */
export type ChatMessageDetail = Wire<typeof chatMessageDetailSchema>

/** Query of `GET /chat/get-chat-session/{session_id}`. */
export const chatSessionQuerySchema = model('ChatSessionQuery', {
  /** Whether to read a shared session instead of an own one. */
  is_shared: v.optional(queryBoolean, 'false'),
  /** Whether to return a session that was deleted but is still stored. */
  include_deleted: v.optional(queryBoolean, 'false'),
})

/** A run that can be resumed. */
const currentRunSchema = model('CurrentRun', {
  /** Id of the answer; when several models answer, id of the question. */
  run_id: integer,
})

export const chatSessionDetailSchema = model('ChatSessionDetail', {
  /** Id of the session. */
  chat_session_id: v.string(),
  /** Its name. */
  description: orNull(v.string()),
  /** The agent of the session. */
  persona_id: orNull(integer),
  /** Name of the agent. */
  persona_name: orNull(v.string()),
  /** The agent's icon. */
  personal_icon_name: orNull(v.string()),
  /** All messages of all branches: the root first, then by parent. */
  messages: v.array(chatMessageDetailSchema),
  /** When the session began, ISO 8601 with `Z`. */
  time_created: answeredTime,
  /** Read access for others: `public` or `private`. */
  shared_status: sharingStatus,
  /** Model pinned to the session. */
  current_alternate_model: orNull(v.string()),
  /** Temperature pinned to the session. */
  current_temperature_override: orNull(v.number()),
  /** Reasoning effort pinned to the session. */
  current_reasoning_effort_override: orNull(v.string()),
  /** Whether it was deleted but is still stored. */
  deleted: boolean,
  /** Name of the owner, if known. */
  owner_name: orNull(v.string()),
  /** Packets that replay each answer, in the order of the answers in `messages`. */
  packets: v.array(v.array(packetSchema)),
  /** The run that can be resumed. */
  current_run: orNull(currentRunSchema),
  /** Whether the session is incognito: nothing is stored. */
  incognito: boolean,
})

/** Answer of `GET /chat/get-chat-session/{session_id}`. */
export type ChatSessionDetail = Wire<typeof chatSessionDetailSchema>

export const chatSessionRenameSchema = model('ChatSessionRename', {
  /** The session to rename. */
  chat_session_id: uuid,
  /** New name; null or blank: a model generates one. */
  name: orNull(sessionName),
})

/** Body of `PUT /chat/rename-chat-session`. */
export type ChatSessionRename = Wire<typeof chatSessionRenameSchema>

/** Query of `GET /chat/search`. */
export const chatSearchQuerySchema = model('ChatSearchQuery', {
  /** Search words; blank: the newest sessions. */
  query: v.optional(text),
  /** From 1. */
  page: v.optional(queryInteger({ least: 1, most: 1_000_000 }), '1'),
  /** 1 to 100. */
  page_size: v.optional(queryInteger({ least: 1, most: 100 }), '10'),
})

/** Chat sessions of one time period. */
const chatSessionGroupSchema = model('ChatSessionGroup', {
  /** `Today`, `Yesterday`, `This Week` (seven days), `This Month` (thirty days) or `Older`. */
  title: v.string(),
  /** Sessions of the group, newest first. */
  chats: v.array(foundChatSessionSchema),
})

export const chatSearchAnswerSchema = model('ChatSearchAnswer', {
  /** Matching sessions, grouped by age. */
  groups: v.array(chatSessionGroupSchema),
  /** Whether there is another page. */
  has_more: boolean,
  /** Number of the next page; null on the last one. */
  next_page: orNull(integer),
})

/** Answer of `GET /chat/search`: matching sessions, grouped by the day they started (UTC), newest first. */
export type ChatSearchAnswer = Wire<typeof chatSearchAnswerSchema>
