import type { ModelProvider } from '@inlay/agent'
import type { EmbeddingModelObject } from '@inlay/drivers/ai-sdk-embedder'
import type { ModelObject, ModelSpec } from '@inlay/drivers/model-providers'
import { isModelObject, needsKey, officialForms, officialPrefixes, providerIn } from '@inlay/drivers/official-providers'
import type { Embedder } from '@inlay/knowledge'
import * as v from 'valibot'
import {
  anyText,
  decimal,
  hasMethod,
  httpAddress,
  httpHeaders,
  integer,
  jsonObject,
  oneOf,
  onOff,
  seconds,
  sdkModelOr,
  wholeNumber,
  only,
  text,
  withMethods,
  type JsonKind,
  type Kind,
} from './kinds.ts'
import { readModelEntries } from './model-entries.ts'
import { checksOf, group, option, setting, type ModelRow, type Row, type Rows, type SettingFlags } from './rows.ts'
import type { SettingName } from './setting-words.ts'

/**
 * A language model: `extractive` (built in), a provider and its model such as `deepseek/deepseek-chat`, with a base URL its
 * name on an OpenAI-compatible server, or a model object of the AI SDK such as `openai('gpt-5')`.
 */
export type LanguageModelChoice = string | ModelSpec | ModelObject

export type ModelOption = LanguageModelChoice | readonly LanguageModelChoice[] | ModelProvider

export const isProvider = (value: unknown): value is ModelProvider => hasMethod(value, 'resolve')

function modelOption<Value>(
  field: string,
  kind: JsonKind<Value>,
  name?: SettingName,
  flags?: SettingFlags,
): ModelRow<Value> {
  return { ...option(kind, name, flags), field, fromJson: kind.fromJson }
}

export const modelRows: { readonly [Name in keyof ModelSpec]-?: ModelRow<NonNullable<ModelSpec[Name]>> } = {
  name: modelOption(
    'name',
    anyText(`extractive, ${officialForms.replaceAll('"', '')}, or any model name together with INLAY_MODEL_BASE_URL`),
    'INLAY_MODEL',
    { isBasic: true },
  ),
  baseUrl: modelOption(
    'base_url',
    httpAddress(' with its version, such as http://localhost:11434/v1'),
    'INLAY_MODEL_BASE_URL',
    { isBasic: true },
  ),
  apiKey: modelOption('api_key', anyText('a key'), 'INLAY_MODEL_API_KEY', { isBasic: true, isSecret: true }),
  contextTokens: modelOption('context_tokens', integer(1000, 100_000_000), 'INLAY_MODEL_CONTEXT_TOKENS', {
    isBasic: true,
  }),
  takesImages: modelOption('images', onOff, 'INLAY_MODEL_IMAGES'),
  reasons: modelOption('reasoning', onOff, 'INLAY_MODEL_REASONING'),
  maxOutputTokens: modelOption('output_tokens', integer(1, 1_000_000), 'INLAY_MODEL_OUTPUT_TOKENS'),
  temperature: modelOption('temperature', decimal(0, 2), 'INLAY_MODEL_TEMPERATURE'),
  firstTokenTimeoutMs: modelOption('first_token_seconds', seconds(1, 86_400), 'INLAY_MODEL_FIRST_TOKEN_SECONDS'),
  idleTimeoutMs: modelOption('silence_seconds', seconds(1, 86_400), 'INLAY_MODEL_SILENCE_SECONDS'),
  grounding: modelOption('grounding', oneOf('auto', 'tools', 'search-first'), 'INLAY_MODEL_GROUNDING'),
  comparesCitations: modelOption('compared_citations', onOff, 'INLAY_COMPARED_CITATIONS'),
  api: modelOption('api', oneOf('openai-compatible', ...officialPrefixes), 'INLAY_MODEL_API'),
  headers: modelOption('headers', httpHeaders, 'INLAY_MODEL_HEADERS', { isSecret: true }),
  providerOptions: modelOption(
    'provider_options',
    jsonObject('a JSON object', () => true),
    'INLAY_MODEL_PROVIDER_OPTIONS',
  ),
  provider: modelOption('provider', anyText('a name')),
  displayName: modelOption('display_name', anyText('a text')),
  model: {
    check: v.custom(isModelObject, 'must be a language model of the AI SDK'),
    field: '',
    fromJson: () => undefined,
  },
}

const unknownModel = (name: string): string =>
  `"${name.slice(0, 100)}" is not known; use "extractive", ${officialForms}, or { name, baseUrl } for a model behind an OpenAI-compatible API`

/** What a model lacks; undefined if it can be called. */
function lackOf({ name, baseUrl, apiKey, api, model }: ModelSpec): 'provider' | 'key' | undefined {
  if (baseUrl !== undefined || model !== undefined || name === 'extractive') return undefined
  const provider = api ?? providerIn(name)
  if (provider === undefined || provider === 'openai-compatible') return 'provider'
  return apiKey === undefined && needsKey(provider) ? 'key' : undefined
}

const modelName = v.pipe(
  v.string(),
  v.check(
    (name) => lackOf({ name }) !== 'provider',
    (issue) => unknownModel(issue.input),
  ),
  v.check(
    (name) => lackOf({ name }) !== 'key',
    (issue) => `"${issue.input}" needs a key of its provider; use { name: "${issue.input}", apiKey }`,
  ),
)

const modelAccess = v.pipe(
  only('a name, or an object: { name, baseUrl, apiKey }', checksOf(modelRows), ['name']) as v.GenericSchema<ModelSpec>,
  v.check(
    (spec) => lackOf(spec) !== 'provider',
    (issue) => unknownModel(issue.input.name),
  ),
  v.check(
    (spec) => lackOf(spec) !== 'key',
    (issue) => `"${issue.input.name}" needs a key of its provider; add apiKey`,
  ),
)
const modelObject = sdkModelOr(
  'hand in a language model of its specification v2, v3 or v4, or a name and a key, such as { name: "openai/gpt-5", apiKey }',
  modelAccess,
)
const oneModel = (value: unknown): v.GenericSchema =>
  isModelObject(value) ? v.any() : typeof value === 'string' ? v.pipe(text, modelName) : modelObject
const listedProvider = v.custom(() => false, 'is a provider of models, which stands alone: it lists its models itself')
const severalModels = v.pipe(
  v.array(v.lazy((value) => (isProvider(value) ? listedProvider : oneModel(value)))),
  v.minLength(1, 'must name at least one model'),
)
const provider = withMethods('a provider of models', 'resolve', 'list')

const fieldNames = Object.values<ModelRow<unknown>>(modelRows).flatMap(({ field }) => field || [])
const entryFields = fieldNames
  .slice(1, -1)
  .map((field) => (field === 'api_key' ? 'api_key, api_key_env (name of the variable that holds the key)' : field))
  .concat(`and ${fieldNames.at(-1)}`)
  .join(', ')
  .replace(', and ', ' and ')

export const modelRow: Row<ModelOption> = {
  check: v.lazy((value) => (isProvider(value) ? provider : Array.isArray(value) ? severalModels : oneModel(value))),
  fields: {
    ...modelRows,
    list: {
      check: v.any(),
      setting: setting(
        {
          allowed: `a JSON list of objects with name and, as needed, ${entryFields}`,
          read: (given) => readModelEntries(given, modelRows),
        },
        'INLAY_MODELS',
        { isSecret: true },
      ),
    },
  },
}

/** An embedding model behind an OpenAI-compatible API, or in this process. */
export interface EmbeddingModel {
  /** Name of the model on its server; `openai/<name>` at OpenAI; `local/<name>` in this process, see `localEmbedder`. */
  readonly name: string
  /** URL of the API, including its version. Required unless the name says where the model is. */
  readonly baseUrl?: string | undefined
  /** API key. Default: none. */
  readonly apiKey?: string | undefined
  /** Dimension of its vectors. Default: as the model answers when first asked; required for a local one that is not known. */
  readonly dimensions?: number | undefined
  /** Prefixes for the texts of documents and queries. Default: as known for the model, usually none. */
  readonly prefixes?: { readonly document?: string; readonly query?: string } | undefined
  /** Maximum number of texts per request. Default 96. */
  readonly maxBatchSize?: number | undefined
  /** Timeout of a request, in milliseconds; the next request contains half as many texts. Default 60 000. */
  readonly timeoutMs?: number | undefined
  /** Maximum wait for the vector of a query, in milliseconds; after that the search uses keywords only. Default 300. */
  readonly queryTimeoutMs?: number | undefined
}

const prefix = (allowed: string): Kind<string> => ({
  allowed,
  read: (given) => (given === 'none' ? '' : `${given.replaceAll('\\n', '\n')} `),
  check: v.string('must be a text'),
})

const prefixRows: Rows<NonNullable<EmbeddingModel['prefixes']>> = {
  query: option(
    prefix('a text, followed by a space automatically; \\n for a line break; none for no prefix'),
    'INLAY_EMBEDDING_QUERY_PREFIX',
  ),
  document: option(prefix('as for queries'), 'INLAY_EMBEDDING_DOCUMENT_PREFIX'),
}

const embeddingRows: Rows<EmbeddingModel> = {
  name: option(anyText('the name of a model'), 'INLAY_EMBEDDING_MODEL', { isBasic: true }),
  baseUrl: option(httpAddress(' with its version, such as http://localhost:11434/v1'), 'INLAY_EMBEDDING_BASE_URL', {
    isBasic: true,
  }),
  apiKey: option(anyText('a key'), 'INLAY_EMBEDDING_API_KEY', { isBasic: true, isSecret: true }),
  dimensions: option(integer(1, 8192), 'INLAY_EMBEDDING_DIMENSIONS', { isBasic: true }),
  prefixes: group('{ document, query }', prefixRows),
  maxBatchSize: option(integer(1, 10_000), 'INLAY_EMBEDDING_BATCH'),
  timeoutMs: option(seconds(1, 3600), 'INLAY_EMBEDDING_TIMEOUT'),
  queryTimeoutMs: option(integer(1, 600_000), 'INLAY_EMBEDDING_QUERY_TIMEOUT'),
}

export const openaiBaseUrl = 'https://api.openai.com/v1'

export type EmbedderOption = string | EmbeddingModel | EmbeddingModelObject | Embedder

export const isEmbedder = (value: unknown): value is Embedder => hasMethod(value, 'embed')
export const isEmbeddingObject = (value: unknown): value is EmbeddingModelObject => hasMethod(value, 'doEmbed')

function faultOfEmbedding({ name, baseUrl, apiKey }: EmbeddingModel): string {
  if (baseUrl !== undefined || isLocalName(name)) return ''
  if (!name.startsWith('openai/'))
    return `"${name.slice(0, 100)}" is not known; use "local/<name>", { name: "openai/<name>", apiKey }, or { name, baseUrl } for a model behind an OpenAI-compatible API`
  return apiKey === undefined ? `"${name}" needs a key of its provider; use { name: "${name}", apiKey }` : ''
}

const embeddingName = v.pipe(
  text,
  v.check(
    (name) => faultOfEmbedding({ name }) === '',
    ({ input: name }) => faultOfEmbedding({ name }),
  ),
)
const embeddingGroup = group('a name, or an object: { name, baseUrl, apiKey }', embeddingRows, ['name'])
const embeddingSettings = v.pipe(
  embeddingGroup.check as v.GenericSchema<EmbeddingModel>,
  v.check(
    (settings) => faultOfEmbedding(settings) === '',
    (issue) => faultOfEmbedding(issue.input),
  ),
)
const notEmbedding =
  'hand in an embedding model, such as createOpenAI({ apiKey }).embeddingModel("text-embedding-3-small")'
/** Of an embedder of a host. */
const embedderCheck = v.looseObject({
  id: v.pipe(v.string('must name the model and its vectors, such as "acme/e5@384"'), v.nonEmpty('is empty')),
  dimensions: wholeNumber(1, 8192),
  maxBatchSize: wholeNumber(1),
})

export const embedderRow: Row<EmbedderOption> = {
  ...embeddingGroup,
  check: v.lazy((value) => {
    if (isEmbeddingObject(value)) return v.any()
    if (isEmbedder(value)) return embedderCheck
    return typeof value === 'string' ? embeddingName : sdkModelOr(notEmbedding, embeddingSettings)
  }),
}

/** Whether a model runs in this process: `local/multilingual-e5-small`. */
export const isLocalName = (name: string): boolean => name.startsWith('local/')
