import {
  type ChatFullResponse,
  chatFullResponseSchema,
  type DocumentSetSummary,
  documentSetSummarySchema,
  type LlmProviders,
  llmProvidersSchema,
  type SearchInput,
  type SearchResponse,
  refuseOptions,
  searchResponseSchema,
  type SendMessageInput,
  type ToolSnapshot,
  toolSnapshotSchema,
  unknownOptions,
} from '@inlay/protocol'
import { type AgentsClient, createAgentsClient } from './agents.ts'
import { type Answer, createAnswer } from './answer.ts'
import { type OnConnectionChange, type ResumeOptions, resumeOptions } from './reconnect.ts'
import { type CallOptions, read, readList, submit } from './call.ts'
import { createDocumentsClient, type DocumentsClient } from './documents.ts'
import { createFilesClient, type FilesClient } from './files.ts'
import { createMemoriesClient, type MemoriesClient } from './memories.ts'
import { createProjectsClient, type ProjectsClient } from './projects.ts'
import { createSessionsClient, type SessionsClient } from './sessions.ts'
import { createTransport, type Transport, type TransportOptions } from './transport.ts'

export interface ClientOptions extends TransportOptions {
  readonly resume?: ResumeOptions
}

export interface StreamOptions extends CallOptions {
  readonly onConnectionChange?: OnConnectionChange | undefined
}

export interface SendOptions extends StreamOptions {
  /**
   * Makes retries safe: within 24 hours, the same message with the same key is answered once. Default: a random key.
   */
  readonly idempotencyKey?: string
}

/**
 * Client for an Inlay service, for browsers and servers. All methods throw InlayErrors with the code of the response.
 */
export interface Client extends DocumentsClient {
  /** Sends a message; the answer is streamed, and resumes automatically if the connection drops. */
  send(message: SendMessageInput | string, options?: SendOptions): Answer
  /**
   * Follows the latest answer of a session, for example after a page reload. `after`: number of the last line received.
   */
  resume(sessionId: string, options?: StreamOptions & { readonly after?: number }): Answer
  /** Sends a message and returns the complete answer. */
  ask(message: SendMessageInput | string, options?: SendOptions): Promise<ChatFullResponse>
  /** Stops the running answer of a session; its text so far is kept. */
  stop(sessionId: string, options?: CallOptions): Promise<void>
  /** Finds passages without an answer; best first. */
  search(query: SearchInput | string, options?: CallOptions): Promise<SearchResponse>
  /** Chat sessions, their branches and feedback on answers. */
  readonly sessions: SessionsClient
  /** Files to send with messages. */
  readonly files: FilesClient
  /** Files and instructions shared by chats. */
  readonly projects: ProjectsClient
  readonly agents: AgentsClient
  readonly memories: MemoriesClient
  /** The models that a message can select with `llm_override`, and the defaults. */
  models(options?: CallOptions): Promise<LlmProviders>
  /** The available actions, for `allowed_tool_ids` and `forced_tool_id`. */
  tools(options?: CallOptions): Promise<readonly ToolSnapshot[]>
  /** The document sets that a message or a search can be restricted to. */
  documentSets(options?: CallOptions): Promise<readonly DocumentSetSummary[]>
}

const toMessage = (message: SendMessageInput | string): SendMessageInput =>
  typeof message === 'string' ? { message } : message

/** A random key. Not `randomUUID`, which is missing in pages served over plain HTTP. */
const newKey = (): string => [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-')

export type ChatClient = Pick<Client, 'send' | 'resume' | 'stop' | 'sessions'>

/** Creates a client with the calls of a chat only, which takes less of a page. */
export function createChatClient(options: ClientOptions): ChatClient {
  return chatCalls(createTransport(options), options)
}

function chatCalls(transport: Transport, { resume }: ClientOptions): ChatClient {
  const every = { options: resumeOptions(resume), isLoopback: transport.isLoopback }
  const reopen =
    (signal?: AbortSignal) =>
    (sessionId: string, after: number | undefined): Promise<Response> =>
      transport.send(`/chat/chat-session/${encodeURIComponent(sessionId)}/resume-stream`, {
        headers: { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': String(after) }) },
        signal,
      })
  return {
    send(message, { signal, idempotencyKey = newKey(), onConnectionChange } = {}) {
      const json = { ...toMessage(message), stream: true }
      const start = (): Promise<Response> =>
        transport.send('/chat/send-chat-message', {
          method: 'POST',
          headers: { accept: 'text/event-stream', 'idempotency-key': idempotencyKey },
          json,
          signal,
        })
      const sessionId = json.chat_session_id?.trim() || null
      return createAnswer({ ...every, start, resume: reopen(signal), sessionId, signal, onConnectionChange })
    },
    resume(sessionId, { signal, after, onConnectionChange } = {}) {
      return createAnswer({ ...every, resume: reopen(signal), sessionId, after, signal, onConnectionChange })
    },
    stop: (sessionId, { signal } = {}) =>
      submit(transport, `/chat/stop-chat-session/${encodeURIComponent(sessionId)}`, { method: 'POST', signal }),
    sessions: createSessionsClient(transport),
  }
}

/** Creates a client. It holds no connection and does not have to be closed. */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options)
  refuseOptions('createClient', unknownOptions(options, ['baseUrl', 'apiKey', 'fetch', 'resume']))
  return {
    ...chatCalls(transport, options),
    ...createDocumentsClient(transport),
    ask: (message, { signal, idempotencyKey } = {}) =>
      read(
        chatFullResponseSchema,
        transport.send('/chat/send-chat-message', {
          method: 'POST',
          headers: { ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }) },
          json: { ...toMessage(message), stream: false },
          signal,
        }),
      ),
    search: (query, { signal } = {}) =>
      read(
        searchResponseSchema,
        transport.send('/search', {
          method: 'POST',
          json: typeof query === 'string' ? { query } : query,
          signal,
        }),
      ),
    files: createFilesClient(transport),
    projects: createProjectsClient(transport),
    agents: createAgentsClient(transport),
    memories: createMemoriesClient(transport),
    models: ({ signal } = {}) => read(llmProvidersSchema, transport.send('/llm/provider', { signal })),
    tools: ({ signal } = {}) => readList(toolSnapshotSchema, transport.send('/tool', { signal })),
    documentSets: ({ signal } = {}) =>
      readList(documentSetSummarySchema, transport.send('/manage/document-set', { signal })),
  }
}
