import type {
  AgentLimits,
  FailureContext,
  HostAction,
  HostAgent,
  InstructedAgent,
  Instructions,
  ModelProvider,
  ResearchOptions,
  SearchHelp,
  ToolApprovalPolicy,
  TurnHooks,
} from '@inlay/agent'
import type { BlobStorage, FileLimits, FileReader } from '@inlay/conversations'
import type {
  DocumentLimits,
  DocumentHooks,
  Embedder,
  ImageDescriber,
  ImageReader,
  RankingOptions,
  Reranker,
  Summarizer,
  VectorIndex,
  WorkerOptions,
} from '@inlay/knowledge'
import type { EmbeddingModelObject } from '@inlay/drivers/ai-sdk-embedder'
import type { CallerLimits } from '@inlay/protocol'
import type { Authenticator, ServerOptions } from '@inlay/server'
import type { Dialect } from 'kysely'
import type { LogEntry } from '../log.ts'
import type { Retriever } from './retrievers.ts'
import type { engineAddresses, EngineOptions } from './engines.ts'
import type { SearchHooks } from './search-hooks.ts'
import type { EventHooks, WebhookOptions } from './event-options.ts'
import type { EmbeddingModel, LanguageModelChoice } from './model-options.ts'
import type { RetentionOptions } from './retention-options.ts'
import type { PythonOptions, ToolOptions, WebOptions } from './tool-options.ts'

/** Refuses the old names also where no literal is checked for members that are not there. */
type Renamed = { readonly [Name in keyof typeof renamed]?: (typeof renamed)[Name] }

/** Optional members that also accept `undefined`, even with `exactOptionalPropertyTypes`. */
type Lenient<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined }

/** Options that had another name, and what they are now. */
export const renamed = {
  models: 'is now `model`: hand in the provider of models there',
  dialect: 'is now `database`: it takes an address of PostgreSQL, settings or a Kysely dialect',
  storage: 'is now `files`: it takes a bucket (s3://bucket/path) or an unstorage Storage',
  engines: 'is now `database`, `index`, `files`, `sharedRuns` (redis), `s3` and `enginePrefix`, options of their own',
  embedding: 'is now `embedder`: it takes a name, settings, a model object of the AI SDK or an embedder of your own',
  codeRunner: 'is now `python`: it takes limits of Pyodide, a code runner of your own, or null',
  pageHosts: 'is now `pageReader: { onlyHosts }`',
} as const

/** Callbacks of the host around turns, tool calls and documents, and for events. */
export interface Hooks extends TurnHooks, SearchHooks, DocumentHooks, EventHooks {}

/** Options of {@link createInlay}. All are optional: `createInlay()` runs without a key, a service or a network. */
export interface InlayOptions
  extends
    Renamed,
    EngineOptions,
    Lenient<WebOptions>,
    Lenient<PythonOptions>,
    Lenient<ToolOptions>,
    Lenient<
      Pick<
        ServerOptions,
        'basePath' | 'serves' | 'streamFormat' | 'corsOrigins' | 'ingestionWaitMs' | 'maxWaitingCalls' | 'passHeaders'
      >
    > {
  /** Folder of the default database and index, created if missing. Default: `.inlay` in the working directory. */
  readonly dataFolder?: string | undefined
  /** Whether clients of OpenAI's API are served at `/v1`: chat, responses, embeddings, files, vector stores. Default: true. */
  readonly openaiApi?: boolean | undefined
  /** Extracts the text of uploaded files. Default: PDF, Office, HTML, mail and text, in a worker thread. */
  readonly readFile?: FileReader | undefined
  /**
   * Reads the text of scanned pages and pictures of files: `tesseract`, `tesseract/eng+deu` with the codes of languages,
   * `model` for the default language model, which has to accept images, or a reader of your own, see `tesseractReader`.
   * Default: none; a scan is refused.
   */
  readonly ocr?: ImageReader | string | undefined
  /**
   * The language model: a name, settings, a model object of the AI SDK, or a list of them, of which the first is the default
   * and requests can select the others; or a provider of models of your own. Default: the built-in extractive model.
   */
  readonly model?: LanguageModelChoice | readonly LanguageModelChoice[] | ModelProvider | undefined
  /**
   * Let administrators select a model served locally by Ollama, LM Studio or llama.cpp. Used only when `model` is not set.
   * Default: false.
   */
  readonly localModels?: boolean | undefined
  /**
   * Encrypts the keys of models and MCP servers that administrators add: at least 16 characters, random, and the same in all
   * processes. Default: none; what needs a key cannot be added.
   */
  readonly secretKey?: string | undefined
  /**
   * Embedding model for hybrid search: a name such as `local/multilingual-e5-small`, settings, a model object of the AI SDK,
   * or an embedder of your own. Default: none, keyword search only.
   */
  readonly embedder?: string | EmbeddingModel | EmbeddingModelObject | Embedder | undefined
  /**
   * Reorders the best results of each search: `httpReranker`, or `local/<name>` for a cross-encoder in this process, see
   * `localReranker`. Default: none.
   */
  readonly reranker?: Reranker | string | undefined
  /** Weight of the vectors in searches that also have text, 0 to 1. Default: estimated for each query. */
  readonly vectorShare?: number | undefined
  /**
   * Folder of the weights of local models, filled at their first use; a prepared folder needs no network. Default: `models`
   * in the data folder.
   */
  readonly modelFolder?: string | undefined
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
  /** Searches of your own beside the built-in one, with passages that are cited like documents. Default: none. */
  readonly retrievers?: readonly Retriever[] | undefined
  /** Custom tools for the model: see `defineAction`, and `mastraTools` of `@inlay/mastra`. Default: none. */
  readonly actions?: readonly HostAction[] | undefined
  /**
   * Which tool calls a person has to approve, besides those of actions with `needsApproval`: `'writes'`, those of MCP tools
   * without `readOnlyHint` and of OpenAPI operations other than GET and HEAD; `'always'`, all but built-in ones. An agent
   * can be stricter, with `tool_approval`. Default: `'never'`.
   */
  readonly toolApproval?: ToolApprovalPolicy | undefined
  /** Agents that users can select: `{ name, instructions }`, or see `mastraAgent` of `@inlay/mastra`. Default: none. */
  readonly agents?: readonly (HostAgent | InstructedAgent)[] | undefined
  /** Callbacks around turns, tool calls and documents: refuse a message, add context, hear of events. Default: none. */
  readonly hooks?: Hooks | undefined
  /**
   * Addresses that get signed events: a document indexed or failed, an answer finished, feedback given, an approval
   * asked. Events wait in the database until they are taken, for three days. Default: none.
   */
  readonly webhooks?: readonly WebhookOptions[] | undefined
  /** Whether facts about people are remembered across conversations. Default: true; each person can turn it off. */
  readonly memories?: boolean | undefined
  /**
   * How a chat session gets its name after the first answer: `'model'` with a short model call if people will see it
   * (`origin` is `webapp`, `widget`, `mobile` or `chrome_extension`), from its first `'question'`, or `'off'`.
   * Default: `'model'`; without a language model, `'question'`.
   */
  readonly sessionNames?: 'model' | 'question' | 'off' | undefined
  /** Authenticates the caller of a request. Tried before API keys, which stay valid. Default: API keys only. */
  readonly authenticate?: Authenticator | undefined
  /**
   * A fixed key with every scope, in addition to stored keys; its caller is `operator`. If it is undefined, as with an
   * unset variable, and there is no `authenticate`, `onError` is called. Default: none.
   */
  readonly apiKey?: string | undefined
  /** Instructions that replace the built-in ones: a text, or a function of each message and its caller. */
  readonly systemPrompt?: Instructions | undefined
  /** Limits, prices and policy of deep research. */
  readonly research?: ResearchOptions | undefined
  /**
   * Model for auxiliary questions of actions and searches, e.g. a faster one, in the forms of `model`. Default: the model
   * that answers.
   */
  readonly questionModel?: LanguageModelChoice | readonly LanguageModelChoice[] | ModelProvider | undefined
  /** Whether the language model adds search queries to a follow-up question. Default: it does, if it is capable. */
  readonly searchHelp?: SearchHelp | undefined
  /** Limits of each caller per minute or day; keys can have their own limits. Default: no limits. */
  readonly callerLimits?: CallerLimits | undefined
  /** Limits of all callers together: with `createTenants`, of each tenant. Default: no limits. */
  readonly tenantLimits?: CallerLimits | undefined
  /** Days after which sessions, deleted sessions, deleted agents, unused uploads and audit entries are erased. Default: never. */
  readonly retention?: RetentionOptions | undefined
  /** Limits of answers, files and documents: model calls, timeouts, concurrent runs, memory, sizes, what is stored. */
  readonly limits?: (AgentLimits & FileLimits & DocumentLimits) | undefined
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
  readonly onError?: ((error: unknown, context?: FailureContext) => void) | undefined
}

/** Options whose parts are opened; absent: in the data folder. */
export interface OpenOptions extends InlayOptions {
  /** Where the parts were given by address. */
  readonly addresses: ReturnType<typeof engineAddresses>
  readonly database?: Dialect | undefined
  readonly index?: VectorIndex | undefined
  readonly files?: BlobStorage | undefined
}
