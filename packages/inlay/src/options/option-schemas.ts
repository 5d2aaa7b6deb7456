import type { AgentLimits, ResearchLimits, ResearchOptions, SearchHelp } from '@inlay/agent'
import type { FileLimits } from '@inlay/conversations'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { RankingOptions, WorkerOptions } from '@inlay/knowledge'
import { limitNames, type LlmOverride } from '@inlay/protocol'
import type { PyodideOptions } from '@inlay/python'
import type { ServerOptions } from '@inlay/server'
import * as v from 'valibot'
import {
  indexPlaceOf,
  isBucketAddress,
  isBucketServer,
  isDatabaseAddress,
  isEnginePrefix,
  isRedisAddress,
} from './engines.ts'
import type { InlayOptions } from './inlay-options.ts'
import { maxRetentionDays, retentionNames, webSearchServices } from './part-options.ts'

const text = v.pipe(v.string('must be a text'), v.trim(), v.nonEmpty('is empty'))
const address = v.pipe(
  text,
  v.check(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
    'must be an http or https address with its version, such as http://localhost:11434/v1',
  ),
)
const yesOrNo = v.boolean('must be true or false')
const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER): v.GenericSchema => {
  const allowed = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`
  const message = `must be a whole number, ${allowed}`
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message))
}
const texts = v.array(text, 'must be a list of texts')
const anyFunction = v.function('must be a function')

/** An object with these methods. Only the names are checked, so lazy components and host classes are accepted too. */
function withMethods(what: string, ...methods: readonly string[]): v.GenericSchema {
  return v.custom(
    (value) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
      return methods.every((method) => typeof Reflect.get(value, method) === 'function')
    },
    `must be ${what}, with ${methods.map((method) => `${method}()`).join(', ')}`,
  )
}

/** An object with only these fields; reports each issue. */
const only = <Entries extends v.ObjectEntries>(form: string, entries: Entries) =>
  v.objectWithRest(entries, v.never(`is no field here: there are ${Object.keys(entries).join(', ')}`), (issue) =>
    issue.expected === 'Object' ? `must be ${form}` : 'is missing',
  )

/** An object with only optional fields, with a schema for each field of a type. */
const optionalFields = <Options extends object>(
  form: string,
  fields: Readonly<Record<keyof Options & string, v.GenericSchema>>,
): v.GenericSchema =>
  only(
    form,
    Object.fromEntries(Object.entries<v.GenericSchema>(fields).map(([name, schema]) => [name, v.optional(schema)])),
  )

const amount = v.pipe(v.number('must be a number, 0 or more'), v.minValue(0, 'must be a number, 0 or more'))

const usageLimits = only(
  'an object of limits',
  Object.fromEntries(limitNames.map((name) => [name, v.optional(wholeNumber(0))])),
)

const textLike = (isAllowed: (value: string) => boolean, form: string): v.GenericSchema =>
  v.optional(v.pipe(text, v.check(isAllowed, `must be ${form}`)))

const engines = only('an object of addresses: { database, index, redis, files }', {
  database: textLike(isDatabaseAddress, 'postgres://user:password@host:port/database'),
  databaseConnections: v.optional(wholeNumber(1)),
  index: textLike(
    (value) => indexPlaceOf(value) !== undefined,
    'addresses of OpenSearch nodes, postgres://…, s3://bucket/path or "folder"',
  ),
  indexShards: v.optional(wholeNumber(1)),
  indexReplicas: v.optional(wholeNumber(0)),
  redis: textLike(isRedisAddress, 'redis://user:password@host:port, or rediss:// for TLS'),
  files: textLike(isBucketAddress, 's3://bucket/path'),
  s3: v.optional(
    only('{ endpoint, region, accessKeyId, secretAccessKey }', {
      endpoint: textLike(isBucketServer, 'an http or https address without user and password'),
      region: v.optional(text),
      accessKeyId: v.optional(text),
      secretAccessKey: v.optional(text),
      sessionToken: v.optional(text),
    }),
  ),
  prefix: textLike(isEnginePrefix, 'lower-case letters, digits and _, at most 40, a letter first'),
})

const modelForms = '"extractive", "openai/<model>" or "anthropic/<model>"'
const unknownModel = (name: string): string =>
  `"${name.slice(0, 100)}" is not known; use ${modelForms}, or { name, baseUrl } for a model behind an OpenAI-compatible API`
const isProviderModel = (name: string): boolean => /^(openai|anthropic)\/.+/.test(name)

const modelName = v.pipe(
  text,
  v.check(
    (name) => name === 'extractive' || isProviderModel(name),
    (issue) => unknownModel(issue.input),
  ),
  v.check(
    (name) => !isProviderModel(name),
    (issue) => `"${issue.input}" needs a key of its provider; use { name: "${issue.input}", apiKey }`,
  ),
)
const oneModel = (value: unknown): v.GenericSchema => (typeof value === 'string' ? modelName : modelAccess)
const modelAccess = v.pipe(
  only('a name, or an object: { name, baseUrl, apiKey }', {
    name: text,
    baseUrl: v.optional(address),
    apiKey: v.optional(text),
    contextTokens: v.optional(wholeNumber(1000)),
    takesImages: v.optional(v.boolean('must be true or false')),
    outputTokens: v.optional(wholeNumber(1)),
    firstTokenMs: v.optional(wholeNumber(1)),
    silenceMs: v.optional(wholeNumber(1)),
    grounding: v.optional(v.picklist(['auto', 'tools', 'search-first'], 'must be "auto", "tools" or "search-first"')),
    comparesCitations: v.optional(v.boolean('must be true or false')),
    provider: v.optional(text),
    displayName: v.optional(text),
  }),
  v.check(
    ({ name, baseUrl }) => baseUrl !== undefined || name === 'extractive' || isProviderModel(name),
    (issue) => `${unknownModel(issue.input.name)}`,
  ),
  v.check(
    ({ name, baseUrl, apiKey }) => baseUrl !== undefined || apiKey !== undefined || !isProviderModel(name),
    (issue) => `"${issue.input.name}" needs a key of its provider; add apiKey`,
  ),
)
const severalModels = v.pipe(v.array(v.lazy(oneModel)), v.minLength(1, 'must name at least one model'))

/** Apps and browser extensions have origins with other schemes, such as `capacitor://localhost`. */
const isOrigin = (value: unknown): boolean => {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { origin, protocol } = new URL(value)
  return origin === value || (!/^(?:https?|ftp|wss?|file|blob):$/.test(protocol) && /^[^:]+:\/\/[^\s/?#]+$/.test(value))
}

const hookNames = ['before', 'after', 'beforeToolCall', 'afterToolCall', 'beforeDocument', 'afterDocument']
const hookFields = Object.fromEntries(hookNames.map((name) => [name, v.optional(anyFunction)]))
const hookForm = `must be { ${hookNames.join(', ')} }`

/** Whether it is a plain object; an instance of a host's class may have fields of its own. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

const webSearchService = v.pipe(
  only(`{ service, apiKey, baseUrl } with a service of ${webSearchServices.join(', ')}, or a function`, {
    service: v.picklist(webSearchServices, `must be one of ${webSearchServices.join(', ')}`),
    apiKey: v.optional(text),
    baseUrl: v.optional(address),
  }),
  v.check(({ service, apiKey }) => service === 'searxng' || apiKey !== undefined, 'needs an apiKey'),
  v.check(({ service, baseUrl }) => service !== 'searxng' || baseUrl !== undefined, 'needs a baseUrl'),
)

/** Schema of each option of `createInlay`. */
export const optionSchemas: Readonly<Record<keyof InlayOptions, v.GenericSchema>> = {
  dataFolder: text,
  basePath: v.pipe(
    v.string('must be a path, such as "/api"'),
    v.regex(/^\/?[\w./~-]*$/, 'must be a path, such as "/api"'),
  ),
  streamFormat: v.picklist(['sse', 'lines'], 'must be "sse" or "lines"'),
  corsOrigins: v.custom(
    (value) => value === '*' || (Array.isArray(value) && value.every(isOrigin)),
    'must be a list of origins, such as ["https://app.example.com"], or "*"',
  ),
  ingestionWaitMs: wholeNumber(0),
  waitingCalls: v.union([v.literal(Infinity), wholeNumber(0)], 'must be a whole number, 0 or more'),
  passHeaders: texts,
  apiKey: v.pipe(
    v.string('must be a text'),
    v.regex(/^[\x21-\x7e]{8,512}$/, 'must be 8 to 512 visible ASCII characters without spaces'),
  ),
  authenticate: anyFunction,
  dialect: withMethods('a Kysely dialect', 'createDriver', 'createQueryCompiler'),
  engines,
  sharedRuns: withMethods('a store of shared runs', 'open', 'append', 'read', 'takeAbandoned'),
  index: withMethods('a vector index', 'open', 'append', 'search'),
  storage: withMethods('an unstorage Storage', 'getItemRaw', 'setItemRaw'),
  readFile: anyFunction,
  model: v.lazy((value) => (Array.isArray(value) ? severalModels : oneModel(value))),
  models: withMethods('a provider of models', 'resolve', 'list'),
  localModels: yesOrNo,
  embedding: only('an embedding model: { name, baseUrl, dimensions }', {
    name: text,
    baseUrl: address,
    apiKey: v.optional(text),
    dimensions: wholeNumber(1, 8192),
    prefixes: v.optional(
      v.strictObject(
        { document: v.optional(v.string('must be a text')), query: v.optional(v.string('must be a text')) },
        'must be { document, query }',
      ),
    ),
    batch: v.optional(wholeNumber(1)),
    timeoutMs: v.optional(wholeNumber(1)),
    queryTimeoutMs: v.optional(wholeNumber(1)),
  }),
  embedder: v.pipe(
    withMethods('an embedder', 'embed'),
    v.looseObject({
      id: v.pipe(v.string('must name the model and its vectors, such as "acme/e5@384"'), v.nonEmpty('is empty')),
      dimensions: wholeNumber(1, 8192),
      batch: wholeNumber(1),
    }),
  ),
  reranker: withMethods('a reranker', 'rerank'),
  ranking: optionalFields<RankingOptions>('{ rerankedHits, rerankTimeoutMs, recency }', {
    rerankedHits: wholeNumber(1),
    rerankTimeoutMs: amount,
    recency: v.looseObject({}, 'must be an object'),
  }),
  describeImage: v.nullable(anyFunction),
  summarize: v.union([v.literal('model'), anyFunction], 'must be "model" or a function'),
  actions: v.array(v.any(), 'must be a list of actions, see defineAction'),
  agents: v.array(withMethods('an agent, see mastraAgent', 'respond'), 'must be a list of agents, see mastraAgent'),
  actionSources: v.array(withMethods('a source of actions', 'list', 'holds'), 'must be a list'),
  mcpServers: v.union(
    [
      anyFunction,
      v.array(v.looseObject({ name: text, url: address, transport: v.optional(v.picklist(['http', 'sse'])) })),
    ],
    'must be a list of { name, url }, transport "http" or "sse", or a function that gives one',
  ),
  hooks: v.lazy((value) => (isPlain(value) ? v.strictObject(hookFields, hookForm) : v.object(hookFields, hookForm))),
  memories: yesOrNo,
  sessionNames: v.picklist(['model', 'question', 'off'], 'must be "model", "question" or "off"'),
  systemPrompt: v.string('must be a text'),
  research: optionalFields<ResearchOptions>('{ limits, priceOf, policy }', {
    limits: optionalFields<ResearchLimits>('an object of limits', {
      tokens: amount,
      cost: amount,
      timeMs: amount,
      cycles: amount,
      agents: amount,
      parallelAgents: amount,
      agentCycles: amount,
      agentTimeMs: amount,
      agentHardMs: amount,
      clarifies: yesOrNo,
    }),
    priceOf: anyFunction,
    policy: anyFunction,
  }),
  questionModel: optionalFields<LlmOverride>('{ model_provider, model_version, temperature }', {
    model_configuration_id: v.nullable(wholeNumber(0)),
    model_provider: v.nullable(text),
    model_version: v.nullable(text),
    temperature: v.nullable(amount),
    display_name: v.nullable(text),
  }),
  searchHelp: optionalFields<SearchHelp>('{ expand, choose, limitMs }', {
    expand: yesOrNo,
    choose: yesOrNo,
    limitMs: amount,
  }),
  callerLimits: usageLimits,
  tenantLimits: usageLimits,
  retention: only(
    'an object of days',
    Object.fromEntries(retentionNames.map((name) => [name, v.optional(wholeNumber(1, maxRetentionDays))])),
  ),
  limits: optionalFields<AgentLimits & FileLimits>('an object of limits', {
    fileBytes: amount,
    fileTokens: amount,
    uploadWaitMs: amount,
    cycles: amount,
    actionMs: amount,
    callerRuns: amount,
    resumableMs: amount,
    runBytes: amount,
    finishedBytes: amount,
    modelTries: amount,
    leaseMs: amount,
    contextWaitMs: amount,
  }),
  bodyLimits: optionalFields<NonNullable<ServerOptions['limits']>>('an object of limits', {
    chatBytes: amount,
    ingestionBytes: amount,
    uploadBytes: amount,
    otherBytes: amount,
  }),
  worker: optionalFields<WorkerOptions>('an object', {
    owner: text,
    isGone: anyFunction,
    leaseMs: amount,
    lingerMs: amount,
    pollMs: amount,
    claimDocuments: wholeNumber(1),
    attemptLimit: wholeNumber(1),
    outageAttemptLimit: wholeNumber(1),
    embedTimeoutMs: amount,
    closeMs: amount,
    indexes: yesOrNo,
  }),
  webSearch: v.lazy((value) => (typeof value === 'function' ? anyFunction : webSearchService)),
  pageReader: v.nullable(anyFunction),
  pageHosts: texts,
  imageGenerator: v.lazy((value) =>
    typeof value === 'function'
      ? anyFunction
      : only('{ name, baseUrl, apiKey }, or a function', {
          name: text,
          baseUrl: v.optional(address),
          apiKey: v.optional(text),
        }),
  ),
  egress: optionalFields<EgressOptions>('{ allowHosts, onlyHosts }', {
    allowHosts: texts,
    onlyHosts: texts,
    timeoutMs: amount,
    limitBytes: amount,
    maxRedirects: amount,
    userAgent: text,
    resolve: anyFunction,
  }),
  codeRunner: v.nullable(withMethods('what runs programs', 'run')),
  python: optionalFields<PyodideOptions>('{ wheelsFolder, timeLimitMs, memoryLimitBytes }', {
    wheelsFolder: text,
    timeLimitMs: amount,
    memoryLimitBytes: amount,
    processes: wholeNumber(1),
    queueLimit: amount,
    node: text,
    packageFolder: text,
    workerUrl: v.any(),
  }),
  telemetry: yesOrNo,
  log: anyFunction,
  now: anyFunction,
  onError: anyFunction,
}
