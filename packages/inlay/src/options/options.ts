import type {
  AgentLimits,
  Grounding,
  HostAction,
  HostAgent,
  ModelProvider,
  ResearchOptions,
  SearchHelp,
  SharedRuns,
  TurnHooks,
} from '@inlay/agent'
import type { BlobStorage, FileReader } from '@inlay/conversations'
import type {
  DocumentHooks,
  Embedder,
  ImageDescriber,
  RankingOptions,
  Reranker,
  Summarizer,
  VectorIndex,
  WorkerOptions,
} from '@inlay/knowledge'
import type { CallerLimits, LlmOverride } from '@inlay/protocol'
import type { Authenticator, ServerOptions } from '@inlay/server'
import type { Dialect } from 'kysely'
import type { LogEntry } from '../log.ts'
import type { PythonOptions, ToolOptions, WebOptions } from './part-options.ts'

/**
 * A language model by name: `extractive` (built in), `openai/<model>`, `anthropic/<model>`, or, with a base URL, the
 * name an OpenAI-compatible server knows it by.
 */
export type LanguageModelChoice =
  | string
  | {
      /** As its provider or server calls it. */
      readonly name: string
      /** Address of the API with its version. */
      readonly baseUrl?: string | undefined
      /** Sent as the service wants it. Default: none is sent. */
      readonly apiKey?: string | undefined
      /** Tokens of prompt and answer together, when the model is not a well-known one. */
      readonly contextTokens?: number | undefined
      /** Whether it takes images. Default: what is known of well-known models, else false. */
      readonly takesImages?: boolean | undefined
      /** Most tokens of an answer. Default: what its server allows. */
      readonly outputTokens?: number | undefined
      /** Longest wait for the beginning of an answer, in milliseconds. Default 300 000; behind a base URL 1 800 000. */
      readonly firstTokenMs?: number | undefined
      /** Longest silence of an answer that has begun, in milliseconds. Default 300 000. */
      readonly silenceMs?: number | undefined
      /**
       * How it comes by documents: `tools` lets it search, `search-first` searches for it. Default `auto`: by tools, unless
       * its server refuses them or it was seen to answer without a search.
       */
      readonly grounding?: Grounding | undefined
      /** Whether sentences it leaves uncited are compared with what it read, and cited where they stand. Default true. */
      readonly comparesCitations?: boolean | undefined
      /** How clients name its provider in `llm_override`. Default: `openai` or `anthropic`, `custom` behind a base URL. */
      readonly provider?: string | undefined
      /** What a person reads. Default: the name. */
      readonly displayName?: string | undefined
    }

/** An embedding model behind an OpenAI-compatible API. */
export interface EmbeddingModel {
  /** As its server calls it. */
  readonly name: string
  /** Address of the API with its version. */
  readonly baseUrl: string
  /** Sent as the service wants it. Default: none is sent. */
  readonly apiKey?: string | undefined
  /** Length of its vectors. */
  readonly dimensions: number
  /** Put before texts of documents and queries. Default: what is known of the model by its name, mostly nothing. */
  readonly prefixes?: { readonly document?: string; readonly query?: string } | undefined
  /** Most texts in one request. Default 96. */
  readonly batch?: number | undefined
  /** Longest time a request may take, in milliseconds; the next one carries half as many texts. Default 60 000. */
  readonly timeoutMs?: number | undefined
  /** Longest wait for the vector of a query, in milliseconds; then words alone answer it. Default 300. */
  readonly queryTimeoutMs?: number | undefined
}

/** Optional members that may also be given as `undefined`, whatever `exactOptionalPropertyTypes` says. */
type Lenient<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }

/** What a host does around turns, tool calls and documents. */
export interface Hooks extends TurnHooks, DocumentHooks {}

/** Options of {@link createInlay}. Each has a default: `createInlay()` runs without a key, a service or a network. */
export interface InlayOptions
  extends
    Lenient<WebOptions>,
    Lenient<PythonOptions>,
    Lenient<ToolOptions>,
    Lenient<
      Pick<
        ServerOptions,
        'basePath' | 'streamFormat' | 'corsOrigins' | 'ingestionWaitMs' | 'waitingCalls' | 'passHeaders'
      >
    > {
  /** Folder of the default database and index, made when missing. Default `.inlay` in the working folder. */
  readonly dataFolder?: string | undefined
  /** Where records are kept. Default: SQLite, `inlay.db` in the data folder. */
  readonly dialect?: Dialect | undefined
  /** How processes share running answers, e.g. `redisRuns`. Default: through the database of the records. */
  readonly sharedRuns?: SharedRuns | undefined
  /** Where chunks are searched. Default: LanceDB, `index` in the data folder. */
  readonly index?: VectorIndex | undefined
  /** Where uploaded files and pictures are kept: any unstorage `Storage`. Default: `files` in the data folder. */
  readonly storage?: BlobStorage | undefined
  /** Reads uploaded files as text. Default: PDF, Office, HTML, mails and text, in a thread of its own. */
  readonly readFile?: FileReader | undefined
  /** Which language model answers, or several: the first answers unless a request names another. Default: the built-in extractive one. */
  readonly model?: LanguageModelChoice | readonly LanguageModelChoice[] | undefined
  /** Several or other language models; replaces `model`. */
  readonly models?: ModelProvider | undefined
  /**
   * Whether administrators may let a model of this machine answer that Ollama, LM Studio or llama.cpp offers; without
   * `model` and `models` alone. Default: false.
   */
  readonly localModels?: boolean | undefined
  /** Which embedding model makes search hybrid. Default: none, full-text search. */
  readonly embedding?: EmbeddingModel | undefined
  /** Any other maker of vectors; replaces `embedding`. */
  readonly embedder?: Embedder | undefined
  /** Judges what search found best, e.g. `httpReranker`. Default: none, the order of the index stands. */
  readonly reranker?: Reranker | undefined
  /** How much the reranker sees, and whether newer documents are preferred. */
  readonly ranking?: RankingOptions | undefined
  /** Says what images of documents show. Default: the default model, when it sees; null: they are not described. */
  readonly describeImage?: ImageDescriber | null | undefined
  /**
   * Says what documents and their chunks are about, which is then searched as well: `'model'` asks the default model, once
   * a chunk. Default: nothing is said.
   */
  readonly summarize?: 'model' | Summarizer | undefined
  /** The host's own actions, beside the built-in ones: see `defineAction`, and `mastraTools` of `@inlay/mastra`. */
  readonly actions?: readonly HostAction[] | undefined
  /** Agents of the host that people can choose: see `mastraAgent` of `@inlay/mastra`. Default: none. */
  readonly agents?: readonly HostAgent[] | undefined
  /** What the host does before and after each turn: refuse a message, tell the model more, take note of answers. */
  readonly hooks?: Hooks | undefined
  /** Whether anything is remembered about people beyond a conversation. Default: it is, unless they say otherwise. */
  readonly memories?: boolean | undefined
  /** Tells who calls; asked before the API keys are, which stay valid beside it. */
  readonly authenticate?: Authenticator | undefined
  /** A key that is accepted besides the stored ones, with every scope; its caller is `operator`. */
  readonly apiKey?: string | undefined
  /** Replaces the built-in instructions to the model. */
  readonly systemPrompt?: string | undefined
  /** How deep research is bounded. */
  readonly research?: ResearchOptions | undefined
  /** Names the model that actions and searches ask, e.g. a quicker one. Default: the one that answers. */
  readonly questionModel?: LlmOverride | undefined
  /** Where searches ask the language model for help. Default: wherever it can answer. */
  readonly searchHelp?: SearchHelp | undefined
  /** What each caller may use in a minute or a day; keys may have limits of their own. Default: no limits. */
  readonly callerLimits?: CallerLimits | undefined
  /** What all callers together may use: with `createTenants`, the limits of a tenant. Default: no limits. */
  readonly tenantLimits?: CallerLimits | undefined
  /** Bounds of runs. */
  readonly limits?: AgentLimits | undefined
  /** Most bytes of request bodies. */
  readonly bodyLimits?: ServerOptions['limits'] | undefined
  /** How documents are taken from the queue. */
  readonly worker?: WorkerOptions | undefined
  /**
   * Whether `/metrics` tells Prometheus what the assistant does, and the OpenTelemetry SDK of the host gets traces and
   * metrics. Neither holds what people or documents say. Default: false.
   */
  readonly telemetry?: boolean | undefined
  /**
   * Receives an entry for each answered request, each finished answer and, without `onError`, each failure. What
   * it throws is a failure too. Default: none; failures are written to standard error.
   */
  readonly log?: ((entry: LogEntry) => void) | undefined
  /** Milliseconds since 1970 UTC. Default: the clock. */
  readonly now?: (() => number) | undefined
  /** Receives what was not expected, whole. Default: written to standard error. */
  readonly onError?: ((error: unknown, context?: { readonly requestId?: string }) => void) | undefined
}
