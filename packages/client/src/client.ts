import {
  type ChatFullResponse,
  chatFullResponseSchema,
  type DocumentSetSummary,
  documentSetSummarySchema,
  type LlmProviders,
  llmProvidersSchema,
  type SearchInput,
  type SearchResponse,
  searchResponseSchema,
  type SendMessageInput,
  type ToolSnapshot,
  toolSnapshotSchema,
} from '@inlay/protocol'
import { type AgentsClient, createAgentsClient } from './agents.ts'
import { type Answer, createAnswer } from './answer.ts'
import { type ResumeOptions, resumeOptions } from './reconnect.ts'
import { type CallOptions, read, readList, submit } from './call.ts'
import { createDocumentsClient, type DocumentsClient } from './documents.ts'
import { createFilesClient, type FilesClient } from './files.ts'
import { createMemoriesClient, type MemoriesClient } from './memories.ts'
import { createProjectsClient, type ProjectsClient } from './projects.ts'
import { createSessionsClient, type SessionsClient } from './sessions.ts'
import { createTransport, type Transport, type TransportOptions } from './transport.ts'

/** Options of a client. */
export interface ClientOptions extends TransportOptions {
  readonly resume?: ResumeOptions
}

/** Options of a message. */
export interface SendOptions extends CallOptions {
  /** Makes a repetition harmless: within 24 hours the same message with the same key is answered once. Default: a fresh one. */
  readonly idempotencyKey?: string
}

/** An Inlay service, from a browser or a server. Every method throws an InlayError of the answer's code. */
export interface Client extends DocumentsClient {
  /** Sends a message; the answer streams, and resumes by itself when the connection drops. */
  send(message: SendMessageInput | string, options?: SendOptions): Answer
  /** Follows the newest answer of a session, such as after a reload. `after`: number of the last line seen. */
  resume(sessionId: string, options?: CallOptions & { readonly after?: number }): Answer
  /** Sends a message and waits for its whole answer in one response. */
  ask(message: SendMessageInput | string, options?: SendOptions): Promise<ChatFullResponse>
  /** Ends what runs in a session; what was said is kept. */
  stop(sessionId: string, options?: CallOptions): Promise<void>
  /** Finds passages without an answer; best first. */
  search(query: SearchInput | string, options?: CallOptions): Promise<SearchResponse>
  /** Chat sessions, their branches and what was thought of answers. */
  readonly sessions: SessionsClient
  /** Files to send with messages. */
  readonly files: FilesClient
  /** Files and instructions that chats share. */
  readonly projects: ProjectsClient
  readonly agents: AgentsClient
  /** Memories about the caller. */
  readonly memories: MemoriesClient
  /** The models a message may choose by `llm_override`, and those taken when it does not. */
  models(options?: CallOptions): Promise<LlmProviders>
  /** The actions there are, for `allowed_tool_ids` and `forced_tool_id`. */
  tools(options?: CallOptions): Promise<readonly ToolSnapshot[]>
  /** The document sets a message or a search may be narrowed to. */
  documentSets(options?: CallOptions): Promise<readonly DocumentSetSummary[]>
}

const sessionPath = (sessionId: string): string => encodeURIComponent(sessionId)
const toMessage = (message: SendMessageInput | string): SendMessageInput =>
  typeof message === 'string' ? { message } : message

/** A fresh key. Not `randomUUID`: pages of plain HTTP do not have it. */
const newKey = (): string => [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-')

function createChat(transport: Transport, resume: Required<ResumeOptions>): Pick<Client, 'send' | 'resume'> {
  const reopen =
    (signal?: AbortSignal) =>
    (sessionId: string, after: number | undefined): Promise<Response> =>
      transport.send(`/chat/chat-session/${sessionPath(sessionId)}/resume-stream`, {
        headers: { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': String(after) }) },
        signal,
      })
  return {
    send(message, { signal, idempotencyKey = newKey() } = {}) {
      const json = { ...toMessage(message), stream: true }
      const start = (): Promise<Response> =>
        transport.send('/chat/send-chat-message', {
          method: 'POST',
          headers: { accept: 'text/event-stream', 'idempotency-key': idempotencyKey },
          json,
          signal,
        })
      const sessionId = json.chat_session_id?.trim() || null
      return createAnswer({ start, resume: reopen(signal), sessionId, options: resume, signal })
    },
    resume(sessionId, { signal, after } = {}) {
      return createAnswer({ resume: reopen(signal), sessionId, after, options: resume, signal })
    },
  }
}

/** Makes a client. It holds no connection and needs no closing. */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options)
  return {
    ...createChat(transport, resumeOptions(options.resume)),
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
    stop: (sessionId, { signal } = {}) =>
      submit(transport, `/chat/stop-chat-session/${sessionPath(sessionId)}`, { method: 'POST', signal }),
    search: (query, { signal } = {}) =>
      read(
        searchResponseSchema,
        transport.send('/search', {
          method: 'POST',
          json: typeof query === 'string' ? { query } : query,
          signal,
        }),
      ),
    sessions: createSessionsClient(transport),
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
