import type { AgentLimits, ResearchLimits, ResearchOptions, SearchHelp } from '@inlay/agent'
import type { FileLimits } from '@inlay/conversations'
import type { DocumentLimits, RankingOptions, WorkerOptions } from '@inlay/knowledge'
import type { ServerOptions } from '@inlay/server'
import * as v from 'valibot'
import { writeJsonLine, type LogEntry } from '../log.ts'
import { engineRows } from './engines.ts'
import { webhooksRow } from './event-options.ts'
import type { InlayOptions, renamed } from './inlay-options.ts'
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
import { embedderRow, isLocalName, modelRow } from './model-options.ts'
import { retentionRow } from './retention-options.ts'
import { option, setting, type Rows } from './rows.ts'
import { pythonRows, toolRows, webRows } from './tool-options.ts'

const ocrNames = 'tesseract, tesseract/<languages> such as tesseract/eng+deu, or model'
const isOcrName = (name: string): boolean =>
  /^(?:model|tesseract(?:\/[A-Za-z][\w-]{1,40}(?:\+[A-Za-z][\w-]{1,40})*)?)$/.test(name)

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
export const optionRows: Rows<Omit<InlayOptions, keyof typeof renamed>> = {
  dataFolder: option(anyText('a path'), 'INLAY_DATA', { isBasic: true }),
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
    'INLAY_API_KEY',
    { isBasic: true, isSecret: true },
  ),
  basePath: option(
    {
      ...textLike('a path, such as /api', (given) => basePathForm.test(given)),
      check: v.pipe(
        v.string('must be a path, such as "/api"'),
        v.regex(basePathForm, 'must be a path, such as "/api"'),
      ),
    },
    'INLAY_BASE_PATH',
    { isBasic: true },
  ),
  serves: option(oneOf('everything', 'knowledge', 'search'), 'INLAY_SERVES'),
  streamFormat: option(oneOf('sse', 'lines'), 'INLAY_STREAM_FORMAT', { isBasic: true }),
  corsOrigins: option(corsOrigins, 'INLAY_CORS_ORIGINS', { isBasic: true }),
  ingestionWaitMs: option(seconds(0, 600), 'INLAY_INGESTION_WAIT'),
  maxWaitingCalls: { check: v.union([v.literal(Infinity), wholeNumber(0)], 'must be a whole number, 0 or more') },
  passHeaders: { check: texts },
  callerLimits: option(usageLimits, 'INLAY_CALLER_LIMITS'),
  tenantLimits: option(usageLimits, 'INLAY_TENANT_LIMITS'),
  retention: retentionRow,
  telemetry: option(onOff, 'INLAY_TELEMETRY'),
  log: option(logFormat, 'INLAY_LOG'),
  authenticate: { check: anyFunction },
  ...engineRows,
  readFile: { check: anyFunction },
  model: modelRow,
  embedder: embedderRow,
  openaiApi: option(onOff, 'INLAY_OPENAI_API'),
  localModels: option(onOff, 'INLAY_LOCAL_MODELS'),
  secretKey: option(
    textLike('a random text of at least 16 characters', (given) => given.length >= 16),
    'INLAY_SECRET_KEY',
    { isSecret: true },
  ),
  searchHelp: option(
    offAs({ expand: false }, fieldsOf<SearchHelp>('{ expand, timeoutMs }', { expand: yesOrNo, timeoutMs: positive })),
    'INLAY_SEARCH_HELP',
  ),
  memories: option(offAs(false, yesOrNo), 'INLAY_MEMORIES'),
  sessionNames: option(oneOf('model', 'question', 'off'), 'INLAY_SESSION_NAMES'),
  toolApproval: option(oneOf('never', 'writes', 'always'), 'INLAY_TOOL_APPROVAL'),
  ...webRows,
  ...toolRows,
  ...pythonRows,
  reranker: {
    check: v.union([
      v.pipe(v.string(), v.check(isLocalName, 'must be local/ and the name of a model')),
      withMethods('a reranker', 'rerank'),
    ]),
    setting: setting(textLike('local/ and the name of a model', isLocalName), 'INLAY_RERANKER'),
  },
  ocr: {
    check: v.union([
      v.pipe(v.string(), v.check(isOcrName, `must be ${ocrNames}`)),
      withMethods('a reader of images', 'read'),
    ]),
    setting: setting(textLike(ocrNames, isOcrName), 'INLAY_OCR'),
  },
  vectorShare: option(decimal(0, 1), 'INLAY_VECTOR_SHARE'),
  modelFolder: option(anyText('a path'), 'INLAY_MODEL_FOLDER'),
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
    check: fieldsOf<AgentLimits & FileLimits & DocumentLimits>('an object of limits', {
      maxDocuments: amount,
      maxDocumentCharacters: amount,
      maxStoredFileBytes: amount,
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
