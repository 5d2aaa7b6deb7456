import type { AgentLimits, HostAction, ModelProvider, ResearchOptions, SearchHelp, TurnHooks } from '@inlay/agent'
import type { BlobStorage, FileReader } from '@inlay/conversations'
import type {
  Embedder,
  ImageDescriber,
  RankingOptions,
  Reranker,
  Summarizer,
  VectorIndex,
  WorkerOptions,
} from '@inlay/knowledge'
import type { LlmOverride } from '@inlay/protocol'
import type { Authenticator, ServerOptions } from '@inlay/server'
import type { Dialect } from 'kysely'
import type { ToolOptions } from './parts/tool-parts.ts'
import type { PythonOptions } from './parts/python-parts.ts'
import type { WebOptions } from './parts/web-parts.ts'

/**
 * A language model by name: `extractive` (built in), `openai/<model>`, `anthropic/<model>`, or, with a base URL, the
 * name an OpenAI-compatible server knows it by.
 */
export type LanguageModelChoice =
  | string
  | {
      readonly name: string
      /** Address of the API with its version. */
      readonly baseUrl?: string
      readonly apiKey?: string
      /** Tokens of prompt and answer together, when the model is not a well-known one. */
      readonly contextTokens?: number
    }

/** An embedding model behind an OpenAI-compatible API. */
export interface EmbeddingModel {
  readonly name: string
  /** Address of the API with its version. */
  readonly baseUrl: string
  readonly apiKey?: string
  /** Length of its vectors. */
  readonly dimensions: number
}

/** How an Inlay is made; every option has a default, so that `createInlay()` runs without a key, a service or a network. */
export interface InlayOptions
  extends
    WebOptions,
    PythonOptions,
    ToolOptions,
    Pick<
      ServerOptions,
      'basePath' | 'streamFormat' | 'corsOrigins' | 'ingestionWaitMs' | 'waitingCalls' | 'passHeaders'
    > {
  /** Folder of the default database and index, made when missing. Default `.inlay` in the working folder. */
  readonly dataFolder?: string
  /** Where records are kept. Default: SQLite, `inlay.db` in the data folder. */
  readonly dialect?: Dialect
  /** Where chunks are searched. Default: LanceDB, `index` in the data folder. */
  readonly index?: VectorIndex
  /** Where uploaded files and pictures are kept: any unstorage `Storage`. Default: `files` in the data folder. */
  readonly storage?: BlobStorage
  /** Reads uploaded files as text. Default: PDF, Office, HTML, mails and text, in a thread of its own. */
  readonly readFile?: FileReader
  /** Which language model answers. Default: the built-in extractive one. */
  readonly model?: LanguageModelChoice
  /** Several or other language models; replaces `model`. */
  readonly models?: ModelProvider
  /** Which embedding model makes search hybrid. Default: none, full-text search. */
  readonly embedding?: EmbeddingModel
  /** Any other maker of vectors; replaces `embedding`. */
  readonly embedder?: Embedder
  /** Judges what search found best, e.g. `httpReranker`. Default: none, the order of the index stands. */
  readonly reranker?: Reranker
  /** How much the reranker sees, and whether newer documents are preferred. */
  readonly ranking?: RankingOptions
  /** Says what images of documents show. Default: the default model, when it sees; null: they are not described. */
  readonly describeImage?: ImageDescriber | null
  /**
   * Says what documents and their chunks are about, which is then searched as well: `'model'` asks the default model, once
   * a chunk. Default: nothing is said.
   */
  readonly summarize?: 'model' | Summarizer
  /** The host's own actions, beside the built-in ones: see `defineAction`, and `mastraTools` of `@inlay/mastra`. */
  readonly actions?: readonly HostAction[]
  /** What the host does before and after each turn: refuse a message, tell the model more, take note of answers. */
  readonly hooks?: TurnHooks
  /** Whether anything is remembered about people beyond a conversation. Default: it is, unless they say otherwise. */
  readonly memories?: boolean
  /** Tells who calls; asked before the API keys are, which stay valid beside it. */
  readonly authenticate?: Authenticator
  /** A key that is accepted besides the stored ones, with every scope; its caller is `operator`. */
  readonly apiKey?: string
  /** Replaces the built-in instructions to the model. */
  readonly systemPrompt?: string
  /** How deep research is bounded. */
  readonly research?: ResearchOptions
  /** Names the model that actions and searches ask, e.g. a quicker one. Default: the one that answers. */
  readonly questionModel?: LlmOverride
  /** Where searches ask the language model for help. Default: wherever it can answer. */
  readonly searchHelp?: SearchHelp
  /** Bounds of runs. */
  readonly limits?: AgentLimits
  /** Most bytes of request bodies. */
  readonly bodyLimits?: ServerOptions['limits']
  /** How documents are taken from the queue. */
  readonly worker?: WorkerOptions
  /** Milliseconds since 1970 UTC. Default: the clock. */
  readonly now?: () => number
  /** Receives what was not expected, whole. Default: written to standard error. */
  readonly onError?: (error: unknown, context?: { readonly requestId?: string }) => void
}
