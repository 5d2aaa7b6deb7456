import type {
  AgentLimits,
  FailureContext,
  HostAction,
  HostAgent,
  InstructedAgent,
  Instructions,
  ModelProvider,
  ResearchLimits,
  ResearchOptions,
  SearchHelp,
  ToolApprovalPolicy,
  TurnHooks,
} from '@inlay/agent'
import type { BlobStorage, FileLimits, FileReader } from '@inlay/conversations'
import type {
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
import * as v from 'valibot'
import { writeJsonLine, type LogEntry } from '../log.ts'
import type { Retriever } from './retrievers.ts'
import { engineRows, type engineAddresses, type EngineOptions } from './engines.ts'
import type { SearchHooks } from './search-hooks.ts'
import { webhooksRow, type EventHooks, type WebhookOptions } from './event-options.ts'
import {
  amount,
  anyFunction,
  anyText,
  asDefault,
  decimal,
  fieldsOf,
  offAs,
  oneOf,
  onOff,
  positive,
  seconds,
  text,
  textLike,
  texts,
  usageLimits,
  wholeNumber,
  withMethods,
  yesOrNo,
  type Kind,
} from './kinds.ts'
import { embedderRow, isLocalName, modelRow, type EmbeddingModel, type LanguageModelChoice } from './model-options.ts'
import { retentionRow, type RetentionOptions } from './retention-options.ts'
import { option, setting, type Rows } from './rows.ts'
import { pythonRows, toolRows, webRows, type PythonOptions, type ToolOptions, type WebOptions } from './tool-options.ts'

const ocrNames = 'tesseract, tesseract/<languages> such as tesseract/eng+deu, or model'
const isOcrName = (name: string): boolean =>
  /^(?:model|tesseract(?:\/[A-Za-z][\w-]{1,40}(?:\+[A-Za-z][\w-]{1,40})*)?)$/.test(name)

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
  /** Days after which sessions, deleted sessions, deleted agents and audit entries are erased. Default: never. */
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

const basePathForm = /^\/?[\w./~-]*$/

/** Apps and browser extensions have origins with other schemes, such as `capacitor://localhost`. */
const isOrigin = (value: unknown): boolean => {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { origin, protocol } = new URL(value)
  return origin === value || (!/^(?:https?|ftp|wss?|file|blob):$/.test(protocol) && /^[^:]+:\/\/[^\s/?#]+$/.test(value))
}

const corsOrigins: Kind<readonly string[] | '*'> = {
  allowed: 'origins such as https://app.example.com, separated by commas, or *',
  read: (given) => {
    if (given === '*') return '*'
    const origins = given.split(/[\s,]+/).filter((item) => item !== '')
    return origins.every((item) => URL.canParse(item) && new URL(item).origin === item) ? origins : undefined
  },
  check: v.custom(
    (value) => value === '*' || (Array.isArray(value) && value.every(isOrigin)),
    'must be a list of origins, such as ["https://app.example.com"], or "*"',
  ),
}

const formats = oneOf('json', 'text')
const logFormat: Kind<(entry: LogEntry) => void> = {
  allowed: formats.allowed,
  read: (given) => {
    const format = formats.read(given)
    return format === 'json' ? writeJsonLine : format === 'text' ? asDefault : undefined
  },
  check: anyFunction,
}

const hookNames = [
  'before',
  'after',
  'beforeToolCall',
  'afterToolCall',
  'beforeSearch',
  'afterSearch',
  'beforeDocument',
  'afterDocument',
  'onEvent',
]
const hookFields = Object.fromEntries(hookNames.map((name) => [name, v.optional(anyFunction)]))
const hookForm = `must be { ${hookNames.join(', ')} }`

/** Whether it is a plain object; an instance of a host's class may have fields of its own. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

const hooksCheck = v.lazy((value) =>
  isPlain(value) ? v.strictObject(hookFields, hookForm) : v.object(hookFields, hookForm),
)

const instructions = v.union([v.string(), anyFunction], 'must be a text, or a function that returns one')

/** The options of `createInlay`: how each is checked, and its environment variables in the order of the settings page. */
export const optionRows: Rows<Omit<InlayOptions, keyof Renamed>> = {
  dataFolder: option(anyText('a path'), {
    name: 'INLAY_DATA',
    meaning: 'folder of the database and index',
    without: '.inlay',
    isBasic: true,
  }),
  apiKey: option(
    {
      ...textLike('from 8 to 512 visible ASCII characters without spaces', (given) =>
        /^[\x21-\x7e]{8,512}$/.test(given),
      ),
      check: v.pipe(
        v.string('must be a text'),
        v.regex(/^[\x21-\x7e]{8,512}$/, 'must be 8 to 512 visible ASCII characters without spaces'),
      ),
    },
    {
      name: 'INLAY_API_KEY',
      meaning: 'a fixed API key with all scopes',
      without: 'a key is generated',
      isBasic: true,
      isSecret: true,
    },
  ),
  basePath: option(
    {
      ...textLike('a path, such as /api', (given) => basePathForm.test(given)),
      check: v.pipe(
        v.string('must be a path, such as "/api"'),
        v.regex(basePathForm, 'must be a path, such as "/api"'),
      ),
    },
    { name: 'INLAY_BASE_PATH', meaning: 'base path of the API', without: '/api', isBasic: true },
  ),
  serves: { check: oneOf('everything', 'knowledge', 'search').check },
  streamFormat: option(oneOf('sse', 'lines'), {
    name: 'INLAY_STREAM_FORMAT',
    meaning: 'stream format for clients that request none',
    without: 'sse',
    isBasic: true,
  }),
  corsOrigins: option(corsOrigins, {
    name: 'INLAY_CORS_ORIGINS',
    meaning: 'origins whose pages may call the API',
    without: 'none',
    isBasic: true,
  }),
  ingestionWaitMs: option(seconds(0, 600), {
    name: 'INLAY_INGESTION_WAIT',
    meaning: 'seconds that an ingestion request waits for its document to become searchable',
    without: '0, the response is sent once the document is stored',
  }),
  maxWaitingCalls: { check: v.union([v.literal(Infinity), wholeNumber(0)], 'must be a whole number, 0 or more') },
  passHeaders: { check: texts },
  callerLimits: option(usageLimits, {
    name: 'INLAY_CALLER_LIMITS',
    meaning: 'limits of each caller; keys can have their own limits',
    without: 'no limits',
  }),
  tenantLimits: option(usageLimits, {
    name: 'INLAY_TENANT_LIMITS',
    meaning: 'limits of all callers together',
    without: 'no limits',
  }),
  retention: retentionRow,
  telemetry: option(onOff, {
    name: 'INLAY_TELEMETRY',
    meaning: 'whether to expose Prometheus metrics at /metrics',
    without: 'on for npm start and inlay serve',
  }),
  log: option(logFormat, {
    name: 'INLAY_LOG',
    meaning:
      'log format on standard error: json writes a line for each request, answer and failure; text writes failures only',
    without: 'text',
  }),
  authenticate: { check: anyFunction },
  ...engineRows,
  readFile: { check: anyFunction },
  model: modelRow,
  embedder: embedderRow,
  openaiApi: option(onOff, {
    name: 'INLAY_OPENAI_API',
    meaning: 'whether clients of OpenAI’s API are served at `/v1`',
    without: 'on; the addresses below `/v1` are served',
  }),
  localModels: option(onOff, {
    name: 'INLAY_LOCAL_MODELS',
    meaning:
      'whether to look for Ollama, LM Studio and llama.cpp on this machine when starting without a model, and print what was found',
    without: 'on; a model found is never used automatically',
  }),
  secretKey: option(
    textLike('a random text of at least 16 characters', (given) => given.length >= 16),
    {
      name: 'INLAY_SECRET_KEY',
      meaning: 'encrypts the keys of models and MCP servers that administrators add; the same in all processes',
      without: 'none: what needs a key is only added by settings',
      isSecret: true,
    },
  ),
  searchHelp: option(
    offAs({ expand: false }, fieldsOf<SearchHelp>('{ expand, timeoutMs }', { expand: yesOrNo, timeoutMs: positive })),
    {
      name: 'INLAY_SEARCH_HELP',
      meaning: 'whether searches use the language model to add queries',
      without: 'on, if the model is capable',
    },
  ),
  memories: option(offAs(false, yesOrNo), {
    name: 'INLAY_MEMORIES',
    meaning: 'whether models can remember facts about people for later conversations',
    without: 'on; each person can turn it off',
  }),
  sessionNames: option(oneOf('model', 'question', 'off'), {
    name: 'INLAY_SESSION_NAMES',
    meaning:
      'how a chat session of the page, the chat element or an app gets its name after the first answer: from the language model with a short call, or from its first question, like those of programs',
    without: 'model; question without a language model',
  }),
  toolApproval: option(oneOf('never', 'writes', 'always'), {
    name: 'INLAY_TOOL_APPROVAL',
    meaning:
      'which tool calls a person has to approve: writes, those of MCP tools without readOnlyHint and of OpenAPI operations other than GET and HEAD; always, all but built-in ones',
    without: 'never',
  }),
  ...webRows,
  ...toolRows,
  ...pythonRows,
  reranker: {
    check: v.union([
      v.pipe(v.string(), v.check(isLocalName, 'must be local/ and the name of a model')),
      withMethods('a reranker', 'rerank'),
    ]),
    setting: setting(textLike('local/ and the name of a model', isLocalName), {
      name: 'INLAY_RERANKER',
      meaning:
        'cross-encoder that reorders the best results of each search in this process, such as local/ms-marco-minilm-l6-v2; needs the package @huggingface/transformers',
      without: 'none',
    }),
  },
  ocr: {
    check: v.union([
      v.pipe(v.string(), v.check(isOcrName, `must be ${ocrNames}`)),
      withMethods('a reader of images', 'read'),
    ]),
    setting: setting(textLike(ocrNames, isOcrName), {
      name: 'INLAY_OCR',
      meaning:
        'what reads the text of scanned pages and pictures: tesseract needs the package tesseract.js, model is the language model, which has to accept images',
      without: 'off; scans are refused',
    }),
  },
  vectorShare: option(decimal(0, 1), {
    name: 'INLAY_VECTOR_SHARE',
    meaning: 'weight of the vectors in searches that also have text',
    without: 'estimated for each query',
  }),
  modelFolder: option(anyText('a path'), {
    name: 'INLAY_MODEL_FOLDER',
    meaning: 'folder of the weights of local models, filled at their first use; a prepared folder needs no network',
    without: 'models in INLAY_DATA',
  }),
  ranking: {
    check: fieldsOf<RankingOptions>('{ maxRerankedHits, rerankTimeoutMs, recency }', {
      maxRerankedHits: wholeNumber(1),
      rerankTimeoutMs: positive,
      recency: v.looseObject({}, 'must be an object'),
    }),
  },
  describeImage: { check: v.nullable(anyFunction) },
  summarize: { check: v.union([v.literal('model'), anyFunction], 'must be "model" or a function') },
  retrievers: {
    check: v.array(v.pipe(withMethods('a retriever', 'retrieve'), v.looseObject({ name: text })), 'must be a list'),
  },
  actions: { check: v.array(v.any(), 'must be a list of actions, see defineAction') },
  agents: {
    check: v.array(
      v.pipe(
        v.union(
          [withMethods('an agent', 'respond'), v.looseObject({ instructions, respond: v.optional(v.undefined()) })],
          'must be { name, instructions }, or an agent with respond(), see mastraAgent',
        ),
        v.looseObject({
          name: text,
          id: v.optional(wholeNumber(1)),
          actions: v.optional(v.union([v.literal('all'), texts], 'must be a list of names of actions, or "all"')),
        }),
      ),
      'must be a list of agents, see mastraAgent',
    ),
  },
  hooks: { check: hooksCheck },
  webhooks: webhooksRow,
  systemPrompt: { check: instructions },
  research: {
    check: fieldsOf<ResearchOptions>('{ limits, priceOf, policy }', {
      limits: fieldsOf<ResearchLimits>('an object of limits', {
        maxTokens: positive,
        maxCost: amount,
        timeoutMs: positive,
        maxCycles: positive,
        maxAgents: positive,
        maxParallelAgents: positive,
        maxAgentCycles: positive,
        agentTimeoutMs: positive,
        agentHardTimeoutMs: positive,
        clarifies: yesOrNo,
      }),
      priceOf: anyFunction,
      policy: anyFunction,
    }),
  },
  questionModel: { check: modelRow.check },
  limits: {
    check: fieldsOf<AgentLimits & FileLimits>('an object of limits', {
      maxFileBytes: positive,
      maxFileTokens: positive,
      maxUploadWaitMs: amount,
      maxSteps: positive,
      actionTimeoutMs: positive,
      maxCallerRuns: positive,
      resumableMs: amount,
      maxRunBytes: positive,
      maxFinishedBytes: amount,
      maxModelAttempts: positive,
      leaseMs: positive,
      maxContextWaitMs: amount,
      approvalMs: positive,
    }),
  },
  bodyLimits: {
    check: fieldsOf<NonNullable<ServerOptions['limits']>>('an object of limits', {
      maxChatBytes: positive,
      maxIngestionBytes: positive,
      maxUploadBytes: positive,
      maxOtherBytes: positive,
    }),
  },
  worker: {
    check: fieldsOf<WorkerOptions>('an object', {
      owner: text,
      isGone: anyFunction,
      leaseMs: positive,
      lingerMs: amount,
      pollMs: amount,
      maxClaimDocuments: wholeNumber(1),
      maxAttempts: wholeNumber(1),
      maxOutageAttempts: wholeNumber(1),
      embedTimeoutMs: positive,
      closeTimeoutMs: amount,
      indexes: yesOrNo,
    }),
  },
  now: { check: anyFunction },
  onError: { check: anyFunction },
}
