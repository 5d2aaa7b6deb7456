import {
  type BatchLine,
  type ChatFullResponse,
  chatFullResponseSchema,
  type DocMinimalInfo,
  documentListingSchema,
  type DocumentSetSummary,
  documentSetSummarySchema,
  type DocumentStateName,
  type IngestionDocumentInput,
  type IngestionFigures,
  ingestionFiguresSchema,
  type IngestionResponse,
  ingestionResponseSchema,
  type IngestionState,
  ingestionStateSchema,
  type LlmProviders,
  llmProvidersSchema,
  requeuedSchema,
  type SearchInput,
  type SearchResponse,
  searchResponseSchema,
  type SendMessageInput,
  type SourceValue,
  type ToolSnapshot,
  toolSnapshotSchema,
} from '@inlay/protocol'
import { type AgentsClient, createAgentsClient } from './agents.ts'
import { type Answer, createAnswer, type ResumeOptions, resumeOptions } from './answer.ts'
import { type BatchOptions, sendBatch } from './batch.ts'
import { bodyOf, type CallOptions, queryOf, read, readList, tell } from './call.ts'
import { createFilesClient, type FilesClient, type FileToUpload } from './files.ts'
import { createMemoriesClient, type MemoriesClient } from './memories.ts'
import { createProjectsClient, type ProjectsClient } from './projects.ts'
import { createSessionsClient, type SessionsClient } from './sessions.ts'
import { createTransport, type Transport, type TransportOptions } from './transport.ts'

/** What a client is made of. */
export interface ClientOptions extends TransportOptions {
  readonly resume?: ResumeOptions
}

/** What goes with a message. */
export interface SendOptions extends CallOptions {
  /** Makes a repetition harmless: within 24 hours the same message with the same key is answered once. Default: a fresh one. */
  readonly idempotencyKey?: string
}

/** What goes with a document. */
export interface IngestOptions extends CallOptions {
  /** Connector/credential pair; default the public one. */
  readonly ccPairId?: number
  /** Seconds to wait until the document is searchable or failed; default 0. */
  readonly waitSeconds?: number
}

/** What goes with a file that becomes a document. */
export interface IngestFileOptions extends CallOptions {
  /** Id of the document. Default: made from the name of the file. */
  readonly id?: string
  /** Default: what the file calls itself, else its name. */
  readonly title?: string
  /** Where people open the document. */
  readonly link?: string
  /** Connector/credential pair; default the public one. */
  readonly ccPairId?: number
}

/** What narrows a listing of documents. */
export interface DocumentsQuery extends CallOptions {
  readonly state?: DocumentStateName
  readonly ccPairId?: number
  readonly source?: SourceValue
  /** 1 to 1000; default 100. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
  /** By id, or the last accepted first. Default `id`. */
  readonly order?: 'id' | 'newest'
  /** Part of the title or the id, in any case. */
  readonly match?: string
}

/** A page of documents. */
export interface DocumentsPage {
  readonly documents: readonly DocMinimalInfo[]
  /** Where the next page begins; null on the last. */
  readonly next: string | null
}

/** An Inlay service, from a browser or a server. Every method throws an InlayError of the answer's code. */
export interface Client {
  /** Sends a message; the answer streams, and resumes by itself when the connection drops. */
  send(message: SendMessageInput | string, options?: SendOptions): Answer
  /** Follows the newest answer of a session, such as after a reload. `after`: number of the last line seen. */
  resume(sessionId: string, options?: CallOptions & { readonly after?: number }): Answer
  /** Sends a message and waits for its whole answer in one response. */
  ask(message: SendMessageInput | string, options?: SendOptions): Promise<ChatFullResponse>
  /** Ends what runs in a session; what was said is kept. */
  stop(sessionId: string, options?: CallOptions): Promise<void>
  /** Adds or updates a document; it becomes searchable a moment later. */
  ingest(document: IngestionDocumentInput, options?: IngestOptions): Promise<IngestionResponse>
  /** Adds or updates a document from a file: PDF, Office, HTML, mail, CSV, Markdown or text. INVALID_INPUT (file) */
  ingestFile(file: FileToUpload, options?: IngestFileOptions): Promise<IngestionResponse>
  /** Puts failed documents back into the queue, one or all that the caller may see; answers how many. */
  requeue(documentId?: string, options?: CallOptions): Promise<number>
  /** Adds or updates many; one answer each, in their order, numbered from 1. A faulty one holds up no other. */
  ingestBatch(
    documents: Iterable<IngestionDocumentInput> | AsyncIterable<IngestionDocumentInput>,
    options?: BatchOptions,
  ): AsyncIterable<BatchLine>
  /** Where a document stands. DOCUMENT_NOT_FOUND */
  documentState(documentId: string, options?: CallOptions): Promise<IngestionState>
  /** Takes a document out at once. DOCUMENT_NOT_FOUND */
  deleteDocument(documentId: string, options?: CallOptions): Promise<void>
  /** Lists documents page by page, in the order of the service. */
  documents(query?: DocumentsQuery): Promise<DocumentsPage>
  /** How many documents are in which state, and how long the queue is; needs the scope `admin`. */
  figures(options?: CallOptions): Promise<IngestionFigures>
  /** Finds passages without an answer; best first. */
  search(query: SearchInput | string, options?: CallOptions): Promise<SearchResponse>
  /** Chat sessions, their branches and what was thought of answers. */
  readonly sessions: SessionsClient
  /** Files to send with messages. */
  readonly files: FilesClient
  /** Files and instructions that chats share. */
  readonly projects: ProjectsClient
  readonly agents: AgentsClient
  /** What is remembered about the caller. */
  readonly memories: MemoriesClient
  /** The models a message may choose by `llm_override`, and those taken when it does not. */
  models(options?: CallOptions): Promise<LlmProviders>
  /** The actions there are, for `allowed_tool_ids` and `forced_tool_id`. */
  tools(options?: CallOptions): Promise<readonly ToolSnapshot[]>
  /** The document sets a message or a search may be narrowed to. */
  documentSets(options?: CallOptions): Promise<readonly DocumentSetSummary[]>
}

const sessionPath = (sessionId: string): string => encodeURIComponent(sessionId)
const documentPath = (documentId: string): string => `/service-api/ingestion/${encodeURIComponent(documentId)}`
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

/** Address of the next page, as the `link` header tells it: only what stands behind `after` counts. */
function nextOf(response: Response): string | null {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1]
  return next === undefined ? null : new URLSearchParams(next.slice(next.indexOf('?') + 1)).get('after')
}

function fileForm(file: FileToUpload, fields: Readonly<Record<string, string | number | undefined>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value))
  form.append('file', 'content' in file ? file.content : file, file.name)
  return form
}

async function listDocuments(transport: Transport, { signal, ...query }: DocumentsQuery = {}): Promise<DocumentsPage> {
  const { ccPairId, ...named } = query
  const response = await transport.send(`/service-api/ingestion${queryOf({ ...named, cc_pair_id: ccPairId })}`, {
    signal,
  })
  return { documents: await bodyOf(documentListingSchema, response), next: nextOf(response) }
}

/** Makes a client. It holds no connection and needs no closing. */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options)
  return {
    ...createChat(transport, resumeOptions(options.resume)),
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
      tell(transport, `/chat/stop-chat-session/${sessionPath(sessionId)}`, { method: 'POST', signal }),
    ingest: (document, { ccPairId, waitSeconds = 0, signal } = {}) =>
      read(
        ingestionResponseSchema,
        transport.send('/service-api/ingestion', {
          method: 'POST',
          headers: { ...(waitSeconds > 0 && { prefer: `wait=${waitSeconds}` }) },
          json: { document, cc_pair_id: ccPairId ?? null },
          signal,
        }),
      ),
    ingestFile: (file, { signal, ccPairId, ...named } = {}) =>
      read(
        ingestionResponseSchema,
        transport.send('/service-api/ingestion/file', {
          method: 'POST',
          body: fileForm(file, { ...named, cc_pair_id: ccPairId }),
          signal,
        }),
      ),
    requeue: async (documentId, { signal } = {}) => {
      const path = documentId === undefined ? '/service-api/ingestion' : documentPath(documentId)
      return (await read(requeuedSchema, transport.send(`${path}/requeue`, { method: 'POST', signal }))).requeued
    },
    ingestBatch: (documents, batch = {}) => sendBatch(transport, documents, batch),
    documentState: (documentId, { signal } = {}) =>
      read(ingestionStateSchema, transport.send(documentPath(documentId), { signal })),
    deleteDocument: (documentId, { signal } = {}) =>
      tell(transport, documentPath(documentId), { method: 'DELETE', signal }),
    documents: (query) => listDocuments(transport, query),
    figures: ({ signal } = {}) =>
      read(ingestionFiguresSchema, transport.send('/service-api/ingestion-figures', { signal })),
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
