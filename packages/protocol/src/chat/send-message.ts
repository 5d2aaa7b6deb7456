import * as v from 'valibot'
import {
  boolean,
  dictionary,
  float,
  integer,
  model,
  orNull,
  rule,
  type Sent,
  sessionName,
  text,
  uuid,
  uuidOrBlank,
  type Wire,
  type WireSchema,
} from '../fields.ts'
import { baseFiltersSchema, shortList } from './filters.ts'

export const llmOverrideSchema = model('LlmOverride', {
  /** Number of a model that `GET /llm/provider` lists. */
  model_configuration_id: orNull(integer),
  /** Configured name of the provider. */
  model_provider: orNull(text),
  /** Name of the model. */
  model_version: orNull(text),
  /** Temperature of this request. */
  temperature: orNull(float),
  /** Label that clients show when several models answer. */
  display_name: orNull(text),
})

/** Selects the model for this request. The request fails if the model cannot be resolved. */
export type LlmOverride = Sent<typeof llmOverrideSchema>

export const fileDescriptorSchema = model('FileDescriptor', {
  /** `file_id` or `id` of the upload. */
  id: text,
  /** How the file is passed to the model; absent: as recorded at upload. */
  type: orNull(v.picklist(['image', 'document', 'plain_text', 'tabular'])),
  /** Display name; absent: the name of the upload. */
  name: orNull(text),
  /** `id` of the upload; not needed. */
  user_file_id: orNull(text),
})

/** A file attached to a message, identified by its upload id. */
export type FileDescriptor = Sent<typeof fileDescriptorSchema>

/** How a file is passed to the model. */
export type FileKind = 'image' | 'document' | 'plain_text' | 'tabular'

/** Values of `origin`: the client that sent a message. */
export const originValues = [
  'webapp',
  'chrome_extension',
  'api',
  'slackbot',
  'widget',
  'discordbot',
  'mobile',
  'unknown',
  'unset',
] as const

export type Origin = (typeof originValues)[number]

/** Schema of {@link ChatSessionCreationRequest}, also the body of `POST /chat/create-chat-session`. */
export const chatSessionCreationSchema = model('ChatSessionCreationRequest', {
  /** The agent; 0 is the default one. */
  persona_id: v.nullish(integer, 0),
  /** Name of the session. */
  description: orNull(sessionName),
  /** Project whose files and instructions the session uses. */
  project_id: orNull(integer),
  /** Whether the session shall leave no trace. */
  incognito: v.nullish(boolean, false),
  /** Id that an incognito session shall have. */
  incognito_session_id: uuidOrBlank,
})

/** Settings of a new session. Absent and null fields take their defaults. */
export type ChatSessionCreationRequest = Sent<typeof chatSessionCreationSchema>

const toolApprovalSchema = model('ToolApproval', {
  // Gateways put signatures into ids, which are kept up to this length.
  /** Id of the call, from its `tool_approval_request`. */
  tool_call_id: v.pipe(text, v.maxLength(20_000)),
  /** Whether the call may run. */
  approved: boolean,
  /** Why, for the model to read. */
  reason: orNull(v.pipe(text, v.maxLength(2_000))),
})

/** What a person decided about a call. */
export type ToolApproval = Sent<typeof toolApprovalSchema>

const sendMessageFields = model('SendMessageRequest', {
  /** Text of the message. */
  message: text,
  /** Model settings for this request only. */
  llm_override: orNull(llmOverrideSchema),
  /** Two or three entries: this many models answer in parallel. */
  llm_overrides: orNull(v.array(llmOverrideSchema)),
  /** Actions the agent can use. Null: all actions of the agent; an empty list: none. */
  allowed_tool_ids: orNull(v.array(integer)),
  // Existing clients send 0 for no forced action.
  /** An action that must run; others may run too. */
  forced_tool_id: v.pipe(
    orNull(integer),
    v.transform((id) => (id === 0 ? null : id)),
  ),
  /** Files attached to the message. */
  file_descriptors: v.nullish(shortList(fileDescriptorSchema), () => []),
  /** Filters for the searches of this request. */
  internal_search_filters: orNull(baseFiltersSchema),
  /** Whether research agents investigate the question first. Uses many more tokens. */
  deep_research: v.nullish(boolean, false),
  /** Headers forwarded to MCP servers. */
  mcp_headers: orNull(dictionary(v.string())),
  /** Client that sent the message, for statistics. */
  origin: v.nullish(v.picklist(originValues), 'unset'),
  /** Id of the parent message. -1: append to the last message; null: start a new first message. */
  parent_message_id: v.optional(v.nullable(integer), -1),
  /** Session to continue; null or blank creates a new session. */
  chat_session_id: uuidOrBlank,
  /** Settings of the new session. */
  chat_session_info: orNull(chatSessionCreationSchema),
  /** Whether the answer is streamed as packets. */
  stream: v.nullish(boolean, true),
  /** Whether the answer contains citation links. */
  include_citations: v.nullish(boolean, true),
  /** Additional context for this message only; never stored. */
  additional_context: orNull(text),
  /** Whether the `stop` packet contains the token usage. */
  include_usage: v.nullish(boolean, false),
  /**
   * Decisions about all calls that wait in the answer `parent_message_id`, the newest one of its session. The answer to
   * this message makes the approved ones, with the arguments of their request, and goes on. `message` may be empty. The
   * same decisions may be sent again; others get `CONFLICT`.
   */
  tool_approvals: orNull(shortList(toolApprovalSchema)),
})

/** Body of `POST /chat/send-chat-message` with all defaults applied. */
export type SendMessageRequest = Wire<typeof sendMessageFields>

/** Request body of a chat message; only `message` is required. */
export type SendMessageInput = Sent<typeof sendMessageFields>

export const sendMessageRequestSchema: WireSchema<SendMessageRequest, SendMessageInput> = v.pipe(
  sendMessageFields,
  rule(
    'value_error',
    'takes chat_session_id or chat_session_info, not both',
    (request: v.InferOutput<typeof sendMessageFields>) =>
      request.chat_session_id === null || request.chat_session_info === null,
  ),
)

export const chatSessionCreatedSchema = model('ChatSessionCreated', {
  /** Id of the new session. */
  chat_session_id: uuid,
  /** Whether the session leaves no trace. */
  incognito: boolean,
})

/** Answer of `POST /chat/create-chat-session`. */
export type ChatSessionCreated = Wire<typeof chatSessionCreatedSchema>

export const confirmationSchema = model('Confirmation', {
  /** Confirmation as text. */
  message: v.string(),
})

/** Answer of endpoints that only confirm an action, such as `POST /chat/stop-chat-session/{id}`. */
export type Confirmation = Wire<typeof confirmationSchema>
