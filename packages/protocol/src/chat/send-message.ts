import * as v from 'valibot'
import {
  boolean,
  dictionary,
  float,
  integer,
  model,
  orNull,
  rule,
  sessionName,
  text,
  uuid,
  uuidOrBlank,
  type Wire,
  type WireSchema,
} from '../fields.ts'
import { type BaseFilters, baseFiltersSchema, shortList } from './filters.ts'

/** Selects the model for this request. The request fails if the model cannot be resolved. */
export interface LlmOverride {
  /** Number of a model that `GET /llm/provider` lists. */
  readonly model_configuration_id?: number | null
  /** Configured name of the provider. */
  readonly model_provider?: string | null
  /** Name of the model. */
  readonly model_version?: string | null
  /** Temperature of this request. */
  readonly temperature?: number | null
  /** Label that clients show when several models answer. */
  readonly display_name?: string | null
}

/** A file attached to a message, identified by its upload id. */
export interface FileDescriptor {
  /** `file_id` or `id` of the upload. */
  readonly id: string
  /** How the file is passed to the model; absent: as recorded at upload. */
  readonly type?: FileKind | null
  /** Display name; absent: the name of the upload. */
  readonly name?: string | null
  /** `id` of the upload; not needed. */
  readonly user_file_id?: string | null
}

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

/** One of {@link originValues}. */
export type Origin = (typeof originValues)[number]

/** Body of `POST /chat/send-chat-message` with all defaults applied. */
export interface SendMessageRequest {
  /** Text of the message. */
  readonly message: string
  /** Model settings for this request only. */
  readonly llm_override: LlmOverride | null
  /** Two or three entries: this many models answer in parallel. */
  readonly llm_overrides: readonly LlmOverride[] | null
  /** Actions the agent can use. Null: all actions of the agent; an empty list: none. */
  readonly allowed_tool_ids: readonly number[] | null
  /** An action that must run; others may run too. */
  readonly forced_tool_id: number | null
  /** Files attached to the message. */
  readonly file_descriptors: readonly FileDescriptor[]
  /** Filters for the searches of this request. */
  readonly internal_search_filters: BaseFilters | null
  /** Whether research agents investigate the question first. Uses many more tokens. */
  readonly deep_research: boolean
  /** Headers forwarded to MCP servers. */
  readonly mcp_headers: Readonly<Record<string, string>> | null
  /** Client that sent the message, for statistics. */
  readonly origin: Origin
  /** Id of the parent message. -1: append to the last message; null: start a new first message. */
  readonly parent_message_id: number | null
  /** Session to continue; null or blank creates a new session. */
  readonly chat_session_id: string | null
  /** Settings of the new session. */
  readonly chat_session_info: ChatSessionCreationRequest | null
  /** Whether the answer is streamed as packets. */
  readonly stream: boolean
  /** Whether the answer contains citation links. */
  readonly include_citations: boolean
  /** Additional context for this message only; never stored. */
  readonly additional_context: string | null
  /** Whether the `stop` packet contains the token usage. */
  readonly include_usage: boolean
  /**
   * Decisions about all calls that wait in the answer `parent_message_id`, the newest one of its session. The answer to
   * this message makes the approved ones, with the arguments of their request, and goes on. `message` may be empty. The
   * same decisions may be sent again; others get `CONFLICT`.
   */
  readonly tool_approvals: readonly ToolApproval[] | null
}

/** What a person decided about a call. */
export interface ToolApproval {
  /** Id of the call, from its `tool_approval_request`. */
  readonly tool_call_id: string
  /** Whether the call may run. */
  readonly approved: boolean
  /** Why, for the model to read. */
  readonly reason?: string | null
}

type Nullish<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined }

/** Request body of a chat message; only `message` is required. */
export type SendMessageInput = Pick<SendMessageRequest, 'message'> & Nullish<Omit<SendMessageRequest, 'message'>>

export const llmOverrideSchema: WireSchema<Required<LlmOverride>, LlmOverride> = model('LlmOverride', {
  model_configuration_id: orNull(integer),
  model_provider: orNull(text),
  model_version: orNull(text),
  temperature: orNull(float),
  display_name: orNull(text),
})

export const fileDescriptorSchema: WireSchema<Required<FileDescriptor>, FileDescriptor> = model('FileDescriptor', {
  id: text,
  type: orNull(v.picklist(['image', 'document', 'plain_text', 'tabular'])),
  name: orNull(text),
  user_file_id: orNull(text),
})

const creationFields = model('ChatSessionCreationRequest', {
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

/** {@link ChatSessionCreationRequest} with all defaults applied. */
export type ChatSessionCreation = Wire<typeof creationFields>

/** Settings of a new session. Absent and null fields take their defaults. */
export type ChatSessionCreationRequest = Nullish<ChatSessionCreation>

/** Schema of {@link ChatSessionCreationRequest}, also the body of `POST /chat/create-chat-session`. */
export const chatSessionCreationSchema: WireSchema<ChatSessionCreation, ChatSessionCreationRequest> = creationFields

const toolApprovalSchema: WireSchema<Required<ToolApproval>, ToolApproval> = model('ToolApproval', {
  // Gateways put signatures into ids, which are kept up to this length.
  tool_call_id: v.pipe(text, v.maxLength(20_000)),
  approved: boolean,
  reason: orNull(v.pipe(text, v.maxLength(2_000))),
})

const sendMessageFields = model('SendMessageRequest', {
  message: text,
  llm_override: orNull(llmOverrideSchema),
  llm_overrides: orNull(v.array(llmOverrideSchema)),
  allowed_tool_ids: orNull(v.array(integer)),
  // Existing clients send 0 for no forced action.
  forced_tool_id: v.pipe(
    orNull(integer),
    v.transform((id) => (id === 0 ? null : id)),
  ),
  file_descriptors: v.nullish(shortList(fileDescriptorSchema), () => []),
  internal_search_filters: orNull(baseFiltersSchema),
  deep_research: v.nullish(boolean, false),
  mcp_headers: orNull(dictionary(v.string())),
  origin: v.nullish(v.picklist(originValues), 'unset'),
  parent_message_id: v.optional(v.nullable(integer), -1),
  chat_session_id: uuidOrBlank,
  chat_session_info: orNull(chatSessionCreationSchema),
  stream: v.nullish(boolean, true),
  include_citations: v.nullish(boolean, true),
  additional_context: orNull(text),
  include_usage: v.nullish(boolean, false),
  tool_approvals: orNull(shortList(toolApprovalSchema)),
})

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
