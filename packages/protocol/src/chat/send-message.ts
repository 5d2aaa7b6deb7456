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
  type WireSchema,
} from '../fields.ts'
import { type BaseFilters, baseFiltersSchema, shortList } from './filters.ts'

/** Which model answers this request; an override that does not resolve fails it. */
export interface LlmOverride {
  /** Number of a model that `GET /llm/provider` lists. */
  readonly model_configuration_id?: number | null
  /** Configured name of the provider. */
  readonly model_provider?: string | null
  /** Name of the model. */
  readonly model_version?: string | null
  /** Temperature of this request. */
  readonly temperature?: number | null
  /** Label for clients when several models answer. */
  readonly display_name?: string | null
}

/** A file that goes with a message: named by the id of its upload. */
export interface FileDescriptor {
  /** `file_id` or `id` of the upload. */
  readonly id: string
  /** How the file is given to the model; absent: as its upload says. */
  readonly type?: FileKind | null
  /** Name to show; absent: as its upload says. */
  readonly name?: string | null
  /** `id` of the upload; not needed. */
  readonly user_file_id?: string | null
}

/** How a file is given to the model. */
export type FileKind = 'image' | 'document' | 'plain_text' | 'tabular'

/** Settings of a new session; what is absent or null takes its default. */
export interface ChatSessionCreationRequest {
  /** The agent; 0 is the default one. */
  readonly persona_id?: number | null
  /** Becomes the session's name. */
  readonly description?: string | null
  /** Project whose files and instructions the session has. */
  readonly project_id?: number | null
  /** Whether the session shall leave no trace. */
  readonly incognito?: boolean | null
  /** Id that an incognito session shall have. */
  readonly incognito_session_id?: string | null
}

/** Where messages say they come from. */
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

/** Body of `POST /chat/send-chat-message`, as read: every default applied. */
export interface SendMessageRequest {
  /** The message to the agent. */
  readonly message: string
  /** Model settings of this request alone. */
  readonly llm_override: LlmOverride | null
  /** Two or three entries make that many models answer side by side. */
  readonly llm_overrides: readonly LlmOverride[] | null
  /** Null: every action of the agent; a list binds without exception, an empty one forbids all. */
  readonly allowed_tool_ids: readonly number[] | null
  /** An action that runs in any case; others may too. */
  readonly forced_tool_id: number | null
  /** Files that go with the message. */
  readonly file_descriptors: readonly FileDescriptor[]
  /** What narrows the searches of this request. */
  readonly internal_search_filters: BaseFilters | null
  /** Whether research agents look into the question first; takes many more tokens. */
  readonly deep_research: boolean
  /** Headers passed on to MCP servers. */
  readonly mcp_headers: Readonly<Record<string, string>> | null
  /** Where the message comes from, for statistics. */
  readonly origin: Origin
  /** -1: after the last message; null: a new first message. */
  readonly parent_message_id: number | null
  /** The session to go on with; null or blank makes a new one. */
  readonly chat_session_id: string | null
  /** Settings of the new session. */
  readonly chat_session_info: ChatSessionCreationRequest | null
  /** Whether the answer comes as a stream of packets. */
  readonly stream: boolean
  /** Whether the answer holds citation links. */
  readonly include_citations: boolean
  /** Given to the model with this message alone, never stored. */
  readonly additional_context: string | null
  /** Whether `stop` tells what the run consumed. */
  readonly include_usage: boolean
}

type Nullish<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined }

/** What a client may send as a chat message: only `message` is needed. */
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

/** Schema of {@link ChatSessionCreationRequest}, body of `POST /chat/create-chat-session` too. */
export const chatSessionCreationSchema: WireSchema<ChatSessionCreation, ChatSessionCreationRequest> = model(
  'ChatSessionCreationRequest',
  {
    persona_id: v.nullish(integer, 0),
    description: orNull(sessionName),
    project_id: orNull(integer),
    incognito: v.nullish(boolean, false),
    incognito_session_id: uuidOrBlank,
  },
)

/** {@link ChatSessionCreationRequest} as read: every default applied. */
export interface ChatSessionCreation {
  /** The agent; 0 is the default one. */
  readonly persona_id: number
  /** Becomes the session's name. */
  readonly description: string | null
  /** Project whose files and instructions the session has. */
  readonly project_id: number | null
  /** Whether the session leaves no trace. */
  readonly incognito: boolean
  /** Id that an incognito session shall have. */
  readonly incognito_session_id: string | null
}

const sendMessageFields = model('SendMessageRequest', {
  message: text,
  llm_override: orNull(llmOverrideSchema),
  llm_overrides: orNull(v.array(llmOverrideSchema)),
  allowed_tool_ids: orNull(v.array(integer)),
  // Clients that have no choice to make send 0.
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

/** Answer of `POST /chat/create-chat-session`. */
export interface ChatSessionCreated {
  /** Id of the new session. */
  readonly chat_session_id: string
  /** Whether the session leaves no trace. */
  readonly incognito: boolean
}

export const chatSessionCreatedSchema: WireSchema<ChatSessionCreated> = model('ChatSessionCreated', {
  chat_session_id: uuid,
  incognito: boolean,
})

/** Answer of endpoints that only confirm, such as `POST /chat/stop-chat-session/{id}`. */
export interface Confirmation {
  /** A sentence that says what was done. */
  readonly message: string
}

export const confirmationSchema: WireSchema<Confirmation> = model('Confirmation', { message: v.string() })
