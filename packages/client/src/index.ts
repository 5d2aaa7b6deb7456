export type { Answer, ResumeOptions } from './answer.ts'
export type { BatchOptions } from './batch.ts'
export { createClient } from './client.ts'
export type {
  CallOptions,
  Client,
  ClientOptions,
  DocumentsPage,
  DocumentsQuery,
  IngestOptions,
  SendOptions,
} from './client.ts'
export type { Fetch, TransportOptions } from './transport.ts'
