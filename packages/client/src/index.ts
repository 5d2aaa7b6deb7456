export type { AgentsClient } from './agents.ts'
export type { Answer } from './answer.ts'
export type { OnConnectionChange, ResumeOptions } from './reconnect.ts'
export type { BatchOptions } from './batch.ts'
export type { CallOptions } from './call.ts'
export { createClient } from './client.ts'
export type { Client, ClientOptions, SendOptions, StreamOptions } from './client.ts'
export type { DocumentsClient, DocumentsPage, DocumentsQuery, IngestFileOptions, IngestOptions } from './documents.ts'
export type { FilesClient, FileToUpload, UploadOptions } from './files.ts'
export { exchangesOf } from './exchanges.ts'
export { toError } from './failures.ts'
export type { Exchange } from './exchanges.ts'
export type { MemoriesClient } from './memories.ts'
export type { ProjectChange, ProjectsClient } from './projects.ts'
export type {
  AnswerRating,
  SessionPins,
  SessionRemoval,
  SessionsClient,
  SessionSearch,
  SessionsQuery,
} from './sessions.ts'
export type { Fetch, TransportOptions } from './transport.ts'
