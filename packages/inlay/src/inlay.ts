import type { Action, Agent, ModelProvider } from '@inlay/agent'
import type { Embedder, Knowledge, VectorIndex } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import type { Authenticator, Keys, Server, ServerOptions } from '@inlay/server'
import type { Dialect } from 'kysely'

/** How an Inlay is made; every option has a default, so that `createInlay()` runs without a key, a service or a network. */
export interface InlayOptions extends Pick<ServerOptions, 'basePath' | 'streamFormat' | 'corsOrigins'> {
  /** Folder of the default database and index, made when missing. Default `inlay-data` in the working folder. */
  readonly dataFolder?: string
  /** Where records are kept. Default: SQLite, `inlay.db` in the data folder. */
  readonly dialect?: Dialect
  /** Where chunks are searched. Default: LanceDB, `index` in the data folder. */
  readonly index?: VectorIndex
  /** Makes vectors, and search hybrid. Default: none, full-text search. */
  readonly embedder?: Embedder
  /** Language models. Default: the built-in extractive model. */
  readonly models?: ModelProvider
  /** The host's own actions, beside the built-in ones. */
  readonly actions?: readonly Action[]
  /** Tells who calls, asked before the API keys are. */
  readonly authenticate?: Authenticator
  /** A key that is accepted besides the stored ones, with every scope. */
  readonly apiKey?: string
  /** Replaces the built-in instructions to the model. */
  readonly systemPrompt?: string
  /** Milliseconds since 1970 UTC. Default: the clock. */
  readonly now?: () => number
  /** Receives what was not expected, whole. Default: written to standard error. */
  readonly onError?: (error: unknown) => void
}

/** An assistant ready to be mounted. */
export interface Inlay {
  /** Answers requests; the first one starts the rest. */
  readonly fetch: (request: Request) => Promise<Response>
  readonly agent: Agent
  readonly knowledge: Knowledge
  readonly keys: Keys
  readonly routes: Server['routes']
  /** Starts everything now rather than with the first request: database, index, worker. Idempotent. */
  start(): Promise<void>
  /** Stops runs and worker, closes index and database. Idempotent. */
  close(): Promise<void>
}

/** Makes an assistant. Nothing is opened or loaded before the first request, `start()`, or use of a part. */
export function createInlay(options: InlayOptions = {}): Inlay {
  void options
  throw new InlayError('NOT_IMPLEMENTED')
}
