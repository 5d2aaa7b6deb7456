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
import type { BlobStorage, FileLimits, FileReader } from '@inlay/conversations'
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
import type { EngineOptions } from './engines.ts'
import type { PythonOptions, RetentionOptions, ToolOptions, WebOptions } from './part-options.ts'

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
  /**
   * Servers that keep records, index, files and running answers, by their addresses; `dialect`, `index`, `storage` and
   * `sharedRuns` win. Default: none.
   */
  readonly engines?: EngineOptions | undefined
  /** Database of the records, as a Kysely dialect. Default: SQLite, `inlay.db` in the data folder. */
  readonly dialect?: Dialect | undefined
  /** How processes share running answers, e.g. `redisRuns`. Default: through the database of the records. */
  readonly sharedRuns?: SharedRuns | undefined
  /** Stores and searches the chunks of documents. Default: LanceDB, `index` in the data folder. */
  readonly index?: VectorIndex | undefined
  /** Keeps uploaded files and pictures: any unstorage `Storage`. Default: `files` in the data folder. */
  readonly storage?: BlobStorage | undefined
  /** Extracts the text of uploaded files. Default: PDF, Office, HTML, mail and text, in a worker thread. */
  readonly readFile?: FileReader | undefined
  /** Which language model answers, or several: the first answers unless a request names another. Default: the built-in extractive one. */
  readonly model?: LanguageModelChoice | readonly LanguageModelChoice[] | undefined
  /** Your own provider of language models, in place of `model`. Default: made from `model`. */
  readonly models?: ModelProvider | undefined
  /**
   * Whether administrators may let a model of this machine answer that Ollama, LM Studio or llama.cpp offers; without
   * `model` and `models` alone. Default: false.
   */
  readonly localModels?: boolean | undefined
  /** Which embedding model makes search hybrid. Default: none, full-text search. */
  readonly embedding?: EmbeddingModel | undefined
  /** Your own embedder, in place of `embedding`. Default: none. */
  readonly embedder?: Embedder | undefined
  /** Reorders the best results of each search, e.g. `httpReranker`. Default: none. */
  readonly reranker?: Reranker | undefined
  /** How many results the reranker judges and for how long, and whether newer documents rank higher. Default: no preference. */
  readonly ranking?: RankingOptions | undefined
  /** Describes images of documents, so that search finds them; null leaves them out. Default: the default model, if it takes images. */
  readonly describeImage?: ImageDescriber | null | undefined
  /**
   * Summarises documents and chunks; search reads the summaries as well. `'model'` asks the default model once per chunk.
   * Default: no summaries.
   */
  readonly summarize?: 'model' | Summarizer | undefined
  /** Your own tools for the model: see `defineAction`, and `mastraTools` of `@inlay/mastra`. Default: none. */
  readonly actions?: readonly HostAction[] | undefined
  /** Agents of the host that people can choose: see `mastraAgent` of `@inlay/mastra`. Default: none. */
  readonly agents?: readonly HostAgent[] | undefined
  /** Your code around turns, tool calls and documents: refuse a message, add context, record answers. Default: none. */
  readonly hooks?: Hooks | undefined
  /** Whether facts about people are remembered across conversations. Default: true; each person can turn it off. */
  readonly memories?: boolean | undefined
  /**
   * Who names a chat session after its first answer: `'model'` with a short call, its first `'question'`, or `'off'`.
   * Default: `'model'`; without a language model, the question.
   */
  readonly sessionNames?: 'model' | 'question' | 'off' | undefined
  /** Identifies the caller of a request. Asked before API keys, which stay valid. Default: API keys only. */
  readonly authenticate?: Authenticator | undefined
  /**
   * A fixed key with every scope, beside the stored keys; its caller is `operator`. `undefined` without `authenticate`, as
   * of an unset variable, is told to `onError`. Default: none.
   */
  readonly apiKey?: string | undefined
  /** Instructions to the model, in place of the built-in ones. */
  readonly systemPrompt?: string | undefined
  /** Limits, prices and policy of deep research. */
  readonly research?: ResearchOptions | undefined
  /** Model for the helper questions of actions and searches, e.g. a faster one. Default: the one that answers. */
  readonly questionModel?: LlmOverride | undefined
  /** Whether the language model adds queries to searches and chooses among their results. Default: both, if it can. */
  readonly searchHelp?: SearchHelp | undefined
  /** What each caller may use in a minute or a day; keys may have limits of their own. Default: no limits. */
  readonly callerLimits?: CallerLimits | undefined
  /** What all callers together may use: with `createTenants`, the limits of a tenant. Default: no limits. */
  readonly tenantLimits?: CallerLimits | undefined
  /** After how many days sessions, deleted sessions, deleted agents and audit entries are erased. Default: nothing is. */
  readonly retention?: RetentionOptions | undefined
  /** Limits of answers and files: model calls, time of a tool call, runs at once, memory, size of a file. */
  readonly limits?: (AgentLimits & FileLimits) | undefined
  /** Largest request bodies, in bytes. */
  readonly bodyLimits?: ServerOptions['limits'] | undefined
  /** Batches, leases and retries of the indexing worker. */
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
  /** Receives every unexpected failure, with stack and cause. Default: written to standard error. */
  readonly onError?: ((error: unknown, context?: { readonly requestId?: string }) => void) | undefined
}
