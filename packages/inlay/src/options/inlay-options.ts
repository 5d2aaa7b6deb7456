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
 * A language model: `extractive` (built in), `openai/<model>`, `anthropic/<model>`, or, with a base URL, its name on an
 * OpenAI-compatible server.
 */
export type LanguageModelChoice =
  | string
  | {
      /** Name of the model at its provider or server. */
      readonly name: string
      /** URL of the API, including its version. */
      readonly baseUrl?: string | undefined
      /** API key. Default: none. */
      readonly apiKey?: string | undefined
      /** Context window: tokens of prompt and answer together. Needed only for models that Inlay does not know. */
      readonly contextTokens?: number | undefined
      /** Whether the model accepts images. Default: as known for well-known models, otherwise false. */
      readonly takesImages?: boolean | undefined
      /** Maximum number of tokens in an answer. Default: the server's limit. */
      readonly outputTokens?: number | undefined
      /** Maximum wait for the first token, in milliseconds. Default 300 000; with a base URL 1 800 000. */
      readonly firstTokenMs?: number | undefined
      /** Maximum pause within an answer, in milliseconds. Default 300 000. */
      readonly silenceMs?: number | undefined
      /**
       * How the model gets documents: `tools` lets it call the search, `search-first` searches before asking it.
       * Default `auto`: `tools`, unless its server refuses tools or the model answered without searching.
       */
      readonly grounding?: Grounding | undefined
      /**
       * Whether uncited sentences are compared with the documents the model read, and cited where they match. Default
       * true.
       */
      readonly comparesCitations?: boolean | undefined
      /** Name of the provider in `llm_override`. Default: `openai` or `anthropic`, `custom` with a base URL. */
      readonly provider?: string | undefined
      /** Display name. Default: the name. */
      readonly displayName?: string | undefined
    }

/** An embedding model behind an OpenAI-compatible API. */
export interface EmbeddingModel {
  /** Name of the model on its server. */
  readonly name: string
  /** URL of the API, including its version. */
  readonly baseUrl: string
  /** API key. Default: none. */
  readonly apiKey?: string | undefined
  /** Dimension of its vectors. */
  readonly dimensions: number
  /** Prefixes for the texts of documents and queries. Default: as known for the model, usually none. */
  readonly prefixes?: { readonly document?: string; readonly query?: string } | undefined
  /** Maximum number of texts per request. Default 96. */
  readonly batch?: number | undefined
  /** Timeout of a request, in milliseconds; the next request contains half as many texts. Default 60 000. */
  readonly timeoutMs?: number | undefined
  /** Maximum wait for the vector of a query, in milliseconds; after that the search uses keywords only. Default 300. */
  readonly queryTimeoutMs?: number | undefined
}

/** Optional members that also accept `undefined`, even with `exactOptionalPropertyTypes`. */
type Lenient<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }

/** Callbacks of the host around turns, tool calls and documents. */
export interface Hooks extends TurnHooks, DocumentHooks {}

/** Options of {@link createInlay}. All are optional: `createInlay()` runs without a key, a service or a network. */
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
  /** Folder of the default database and index, created if missing. Default: `.inlay` in the working directory. */
  readonly dataFolder?: string | undefined
  /**
   * Servers for records, index, files and running answers. `dialect`, `index`, `storage` and `sharedRuns` take
   * precedence. Default: none.
   */
  readonly engines?: EngineOptions | undefined
  /** Kysely dialect of the database for records. Default: SQLite, `inlay.db` in the data folder. */
  readonly dialect?: Dialect | undefined
  /** Shares running answers between processes, e.g. `redisRuns`. Default: through the database of the records. */
  readonly sharedRuns?: SharedRuns | undefined
  /** Index that stores and searches document chunks. Default: LanceDB, `index` in the data folder. */
  readonly index?: VectorIndex | undefined
  /** Storage for uploaded files and images: any unstorage `Storage`. Default: `files` in the data folder. */
  readonly storage?: BlobStorage | undefined
  /** Extracts the text of uploaded files. Default: PDF, Office, HTML, mail and text, in a worker thread. */
  readonly readFile?: FileReader | undefined
  /**
   * The language model, or several: the first is the default, requests can select the others. Default: the built-in
   * extractive model.
   */
  readonly model?: LanguageModelChoice | readonly LanguageModelChoice[] | undefined
  /** A custom provider of language models, instead of `model`. Default: created from `model`. */
  readonly models?: ModelProvider | undefined
  /**
   * Let administrators select a model served locally by Ollama, LM Studio or llama.cpp. Used only when neither `model`
   * nor `models` is set. Default: false.
   */
  readonly localModels?: boolean | undefined
  /** Embedding model for hybrid search. Default: none, keyword search only. */
  readonly embedding?: EmbeddingModel | undefined
  /** A custom embedder, instead of `embedding`. Default: none. */
  readonly embedder?: Embedder | undefined
  /** Reorders the best results of each search, e.g. `httpReranker`. Default: none. */
  readonly reranker?: Reranker | undefined
  /**
   * Number of results to rerank, time limit of the reranker, and whether newer documents rank higher. Default: no
   * preference for newer documents.
   */
  readonly ranking?: RankingOptions | undefined
  /**
   * Describes images in documents, so that search finds them; null ignores images. Default: the default model, if it
   * accepts images.
   */
  readonly describeImage?: ImageDescriber | null | undefined
  /**
   * Summarises documents and chunks for search. `'model'` calls the default model once per chunk.
   * Default: no summaries.
   */
  readonly summarize?: 'model' | Summarizer | undefined
  /** Custom tools for the model: see `defineAction`, and `mastraTools` of `@inlay/mastra`. Default: none. */
  readonly actions?: readonly HostAction[] | undefined
  /** Custom agents that users can select: see `mastraAgent` of `@inlay/mastra`. Default: none. */
  readonly agents?: readonly HostAgent[] | undefined
  /** Callbacks around turns, tool calls and documents: refuse a message, add context, record answers. Default: none. */
  readonly hooks?: Hooks | undefined
  /** Whether facts about people are remembered across conversations. Default: true; each person can turn it off. */
  readonly memories?: boolean | undefined
  /**
   * How a chat session gets its name after the first answer: `'model'` with a short model call, from its first
   * `'question'`, or `'off'`.
   * Default: `'model'`; without a language model, `'question'`.
   */
  readonly sessionNames?: 'model' | 'question' | 'off' | undefined
  /** Authenticates the caller of a request. Tried before API keys, which stay valid. Default: API keys only. */
  readonly authenticate?: Authenticator | undefined
  /**
   * A fixed key with every scope, beside the stored keys; its caller is `operator`. `undefined` without `authenticate`, as
   * of an unset variable, is told to `onError`. Default: none.
   */
  readonly apiKey?: string | undefined
  /** Instructions for the model that replace the built-in ones. */
  readonly systemPrompt?: string | undefined
  /** Limits, prices and policy of deep research. */
  readonly research?: ResearchOptions | undefined
  /** Model for auxiliary questions of actions and searches, e.g. a faster one. Default: the model that answers. */
  readonly questionModel?: LlmOverride | undefined
  /** Whether the language model adds search queries and selects among the results. Default: both, if it is capable. */
  readonly searchHelp?: SearchHelp | undefined
  /** Limits of each caller per minute or day; keys can have their own limits. Default: no limits. */
  readonly callerLimits?: CallerLimits | undefined
  /** Limits of all callers together: with `createTenants`, of each tenant. Default: no limits. */
  readonly tenantLimits?: CallerLimits | undefined
  /** After how many days sessions, deleted sessions, deleted agents and audit entries are erased. Default: nothing is. */
  readonly retention?: RetentionOptions | undefined
  /** Limits of answers and files: model calls, tool call timeout, concurrent runs, memory, file size. */
  readonly limits?: (AgentLimits & FileLimits) | undefined
  /** Maximum sizes of request bodies, in bytes. */
  readonly bodyLimits?: ServerOptions['limits'] | undefined
  /** Batches, leases and retries of the indexing worker. */
  readonly worker?: WorkerOptions | undefined
  /**
   * Whether to expose Prometheus metrics at `/metrics` and to send traces and metrics to the host's OpenTelemetry SDK.
   * Neither contains text of users or documents. Default: false.
   */
  readonly telemetry?: boolean | undefined
  /**
   * Receives a log entry for each answered request, each finished answer and, without `onError`, each failure. Errors
   * it throws are handled as failures. Default: none; failures are written to standard error.
   */
  readonly log?: ((entry: LogEntry) => void) | undefined
  /** Clock in milliseconds since 1970 UTC. Default: the system clock. */
  readonly now?: (() => number) | undefined
  /** Receives every unexpected failure, with stack and cause. Default: written to standard error. */
  readonly onError?: ((error: unknown, context?: { readonly requestId?: string }) => void) | undefined
}
