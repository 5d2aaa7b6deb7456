import type { ModelOptions } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { ModelConfig, ModelProvidersConfig, ProviderConfig } from './model-config.ts'
import { isOfficial, needsKey, officialForms, providerIn, type OfficialPrefix } from './official-providers.ts'

export interface ModelSpecOptions
  extends ModelOptions, Pick<ModelConfig, 'model' | 'providerOptions'>, Pick<ProviderConfig, 'headers'> {
  /**
   * URL of the API, including its version: OpenAI-compatible, for `anthropic/…` that of Anthropic. A query in it goes behind
   * the path. Blank means none.
   */
  readonly baseUrl?: string
  /** What the base URL speaks, if it is not OpenAI-compatible. Default: as the name says. */
  readonly api?: 'openai-compatible' | OfficialPrefix
  /** API key. Default: none. */
  readonly apiKey?: string
  /** Maximum wait for the first token, in milliseconds. Default 300 000; with a base URL 1 800 000. */
  readonly firstTokenTimeoutMs?: number
  /** Maximum pause within an answer, in milliseconds. Default 300 000. */
  readonly idleTimeoutMs?: number
  /** Name of the provider in `llm_override`. Default: as in front of the name; `custom` with a base URL. */
  readonly provider?: string
}

const forms = `Use "extractive", ${officialForms}, or any model name together with a base URL.`

const fails = (message: string): InlayError => new InlayError('VALIDATION_ERROR', { message })

/**
 * Parses a model setting: `extractive`, a provider and its model such as `deepseek/deepseek-chat`, or, with a base URL, the
 * model name on a local server or gateway (slashes in it are kept; the prefix `openai/` is removed). The built-in model
 * remains available.
 * @throws VALIDATION_ERROR for an invalid setting, and for a missing key or base URL
 */
export function parseModelSpec(spec: string, options: ModelSpecOptions = {}): ModelProvidersConfig {
  const name = spec.trim()
  const builtIn: ProviderConfig = { name: 'inlay', type: 'extractive' }
  if (name === '' || name === 'extractive' || name === 'inlay/extractive') return { providers: [builtIn] }

  const baseUrl = options.baseUrl?.trim() || undefined
  const apiKey = options.apiKey?.trim() || undefined
  const prefix = providerIn(name)
  const {
    provider,
    firstTokenTimeoutMs,
    idleTimeoutMs,
    headers,
    api,
    baseUrl: _,
    apiKey: __,
    ...modelOptions
  } = options
  const ofName = baseUrl === undefined || prefix === 'anthropic' ? prefix : 'openai-compatible'
  const type = options.model ? 'ai-sdk' : (api ?? ofName)
  // Gateways name models by their makers.
  const isCompatible = type === 'openai-compatible' && (prefix === 'openai' || /^openai-compatible\/./.test(name))
  const modelName = prefix === type || isCompatible ? name.slice(name.indexOf('/') + 1) : name
  const set = Object.entries(modelOptions).filter(([, value]) => value !== undefined && value !== '')
  const models: readonly ModelConfig[] = [{ ...Object.fromEntries(set), name: modelName }]
  const timeouts = { ...(firstTokenTimeoutMs && { firstTokenTimeoutMs }), ...(idleTimeoutMs && { idleTimeoutMs }) }
  const access = { ...(baseUrl && { baseUrl }), ...(apiKey && { apiKey }), ...(headers && { headers }), ...timeouts }

  if (type === undefined || (type === 'openai-compatible' && !baseUrl))
    throw fails(`The model "${name}" is not known. ${forms}`)
  if (isOfficial(type) && needsKey(type) && !apiKey && !baseUrl)
    throw fails(`The model "${name}" needs an API key of its provider.`)
  const ofObject = options.model?.provider.split('.')[0]
  const usual = type === 'openai-compatible' ? (prefix === 'openai' ? prefix : 'custom') : (ofObject ?? type)
  return { providers: [{ name: provider ?? usual, type, models, ...access }, builtIn] }
}

export interface ModelSpec extends ModelSpecOptions {
  /** Name of the model at its provider or server. */
  readonly name: string
}

/**
 * Parses several model settings; the first model is the default. Models with the same provider, URL and key are grouped
 * under one provider. The built-in model remains available.
 * @throws VALIDATION_ERROR as {@link parseModelSpec}, and for a provider name with two URLs or keys
 */
export function parseModelSpecs(specs: readonly ModelSpec[]): ModelProvidersConfig {
  const providers = new Map<string, ProviderConfig>()
  for (const { name, ...options } of specs) {
    const [provider] = parseModelSpec(name, options).providers
    if (provider === undefined) continue
    const known = providers.get(provider.name)
    if (known && !hasSameAccess(known, provider)) {
      throw fails(`The model provider "${provider.name}" has two addresses or keys: give each a "provider" of its own.`)
    }
    const models = [...(known?.models ?? []), ...(provider.models ?? [])]
    providers.set(provider.name, { ...provider, ...(models.length > 0 && { models }) })
  }
  const [builtIn] = parseModelSpec('extractive').providers
  if (builtIn && !providers.has(builtIn.name)) providers.set(builtIn.name, builtIn)
  return { providers: [...providers.values()] }
}

function hasSameAccess(left: ProviderConfig, right: ProviderConfig): boolean {
  const accessOf = ({ type, baseUrl, apiKey, headers }: ProviderConfig): string =>
    JSON.stringify([type, baseUrl, apiKey, headers])
  return accessOf(left) === accessOf(right)
}
