import { InlayError } from '@inlay/protocol'
import type { EmbeddingModel, InlayOptions, LanguageModelChoice } from '../options/inlay-options.ts'
import { writeJsonLine } from '../log.ts'
import { enginesOf } from './engine-settings.ts'
import { modelsOf } from './model-entries.ts'
import { pythonOptionsOf } from './python-settings.ts'
import type { Environment } from './readers.ts'
import { settingTable } from './setting-table.ts'
import { mcpServersOf } from './tool-settings.ts'
import { webOptionsOf } from './web-settings.ts'
import { readTable, unknownSettings, wrongSetting, type Values } from './wrong-settings.ts'

/** Settings from the environment: where to listen, and options for `createInlay`. */
export interface Settings {
  /** Host name or address to listen on. Default `127.0.0.1`. */
  readonly host: string
  /** Port; 0 selects any free port. Default 3000. */
  readonly port: number
  /** Shutdown times of `inlay serve`; see `closeServer`. */
  readonly shutdown: { readonly noticeMs?: number; readonly drainMs?: number }
  /** Whether to look for local models at a start without a configured model. Default true. */
  readonly findsLocalModels: boolean
  readonly options: InlayOptions
  /** Warnings about variables without effect, such as misspelt names. */
  readonly warnings: readonly string[]
}

const openaiBaseUrl = 'https://api.openai.com/v1'

/**
 * Reads settings from environment variables; blank ones count as absent.
 * @throws INVALID_INPUT that lists every invalid variable, its value and the allowed values; secrets are not repeated
 * @example const { host, port, options } = readSettings(process.env)
 */
export function readSettings(env: Environment): Settings {
  const faults: string[] = []
  const values = readTable(env, faults)
  const model = values.models ? severalModels(values, env, faults) : modelOf(values, env, faults)
  const embedding = embeddingOf(values, env, faults)
  const engines = enginesOf(values, env, faults)
  const web = webOptionsOf(values, env, faults)
  const mcpServers = mcpServersOf(values, faults)
  const python = pythonOptionsOf(values, faults)
  if (faults.length > 0) throw new InlayError('INVALID_INPUT', { message: faults.join('\n') })
  const { data, apiKey, basePath, streamFormat, corsOrigins, ingestionWait, telemetry, log, searchHelp, memories } =
    values
  const { callerLimits, tenantLimits, retention } = values
  return {
    host: values.host ?? '127.0.0.1',
    port: values.port ?? 3000,
    shutdown: withoutAbsent({
      noticeMs: inMilliseconds(values.shutdownNotice),
      drainMs: inMilliseconds(values.shutdownDrain),
    }),
    findsLocalModels: values.localModels !== 'off',
    options: withoutAbsent({
      dataFolder: data,
      engines: engines && withoutAbsent(engines),
      apiKey,
      basePath,
      streamFormat,
      corsOrigins,
      ingestionWaitMs: ingestionWait === undefined ? undefined : ingestionWait * 1000,
      callerLimits,
      tenantLimits,
      retention,
      model,
      embedding,
      telemetry: telemetry === undefined ? undefined : telemetry === 'on',
      log: log === 'json' ? writeJsonLine : undefined,
      memories: memories === 'off' ? false : undefined,
      sessionNames: values.sessionNames,
      searchHelp: searchHelp === 'off' ? { expand: false, choose: false } : undefined,
      ...web,
      ...python,
      mcpServers: mcpServers.length > 0 ? mcpServers : undefined,
    }),
    warnings: unknownSettings(env),
  }
}

function modelOf(values: Values, env: Environment, faults: string[]): LanguageModelChoice | undefined {
  const { model: name, modelBaseUrl: baseUrl, modelContextTokens: contextTokens } = values
  const { model: setting, modelBaseUrl, modelApiKey } = settingTable
  if (name === undefined) {
    if (baseUrl !== undefined) faults.push(`${modelBaseUrl.name}: needs ${setting.name}, the name of the model there.`)
    return undefined
  }
  if (name === 'extractive') return name
  const provider = /^(openai|anthropic)\/.+/.exec(name)?.[1]
  if (provider === undefined && baseUrl === undefined) {
    faults.push(wrongSetting(setting, name))
    return undefined
  }
  const usualName = provider === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY'
  // Never sends a provider's key to another address.
  const usualKey = provider === undefined || baseUrl !== undefined ? undefined : env[usualName]?.trim() || undefined
  const apiKey = values.modelApiKey ?? usualKey
  if (provider !== undefined && baseUrl === undefined && apiKey === undefined) {
    faults.push(`${setting.name}: "${name}" needs a key; set ${modelApiKey.name} or ${usualName}.`)
  }
  const takesImages = values.modelImages === undefined ? undefined : values.modelImages === 'on'
  const { modelGrounding: grounding, modelOutputTokens: outputTokens } = values
  const firstTokenMs = inMilliseconds(values.modelFirstTokenSeconds)
  const silenceMs = inMilliseconds(values.modelSilenceSeconds)
  const limits = { outputTokens, firstTokenMs, silenceMs }
  const comparesCitations = values.comparedCitations === undefined ? undefined : values.comparedCitations === 'on'
  return withoutAbsent({ name, baseUrl, apiKey, contextTokens, takesImages, grounding, comparesCitations, ...limits })
}

const inMilliseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * 1000

function severalModels(values: Values, env: Environment, faults: string[]): readonly LanguageModelChoice[] {
  const { models, model } = settingTable
  if (values.model !== undefined) faults.push(`${models.name}: stands instead of ${model.name}; set one of them.`)
  return modelsOf(values.models ?? [], env, faults)
}

function embeddingOf(values: Values, env: Environment, faults: string[]): EmbeddingModel | undefined {
  const { embeddingModel: name, embeddingDimensions: dimensions, embeddingBaseUrl: givenUrl } = values
  const { embeddingModel, embeddingDimensions, embeddingBaseUrl, embeddingApiKey } = settingTable
  if (name === undefined) {
    const beside = [embeddingBaseUrl, embeddingApiKey, embeddingDimensions].find((setting) => env[setting.name]?.trim())
    if (beside !== undefined) faults.push(`${beside.name}: needs ${embeddingModel.name}, the name of the model.`)
    return undefined
  }
  if (dimensions === undefined) {
    if (!env[embeddingDimensions.name]?.trim()) {
      faults.push(
        `${embeddingDimensions.name}: is needed with ${embeddingModel.name}; use ${embeddingDimensions.allowed}.`,
      )
    }
    return undefined
  }
  const baseUrl = givenUrl ?? openaiBaseUrl
  const usualKey = baseUrl === openaiBaseUrl ? env['OPENAI_API_KEY']?.trim() || undefined : undefined
  const apiKey = values.embeddingApiKey ?? usualKey
  if (givenUrl === undefined && apiKey === undefined) {
    faults.push(
      `${embeddingModel.name}: needs ${embeddingBaseUrl.name}, or a key of OpenAI in ${embeddingApiKey.name} or OPENAI_API_KEY.`,
    )
  }
  const { embeddingDocumentPrefix: document, embeddingQueryPrefix: query, embeddingTimeout: seconds } = values
  return withoutAbsent({
    name,
    baseUrl,
    apiKey,
    dimensions,
    prefixes: document === undefined && query === undefined ? undefined : withoutAbsent({ document, query }),
    batch: values.embeddingBatch,
    timeoutMs: seconds === undefined ? undefined : seconds * 1000,
    queryTimeoutMs: values.embeddingQueryTimeout,
  })
}

/** Removes undefined members, since spread options must not hide a default. */
function withoutAbsent<Values extends object>(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values
}
