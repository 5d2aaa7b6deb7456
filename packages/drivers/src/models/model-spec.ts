import type { Grounding } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { ModelConfig, ModelProvidersConfig, ProviderConfig } from './model-config.ts'

/** Options of a model spec. */
export interface ModelSpecOptions {
  /** Address of an OpenAI-compatible API with its version; for `anthropic/…` of an Anthropic one. Blank means none. */
  readonly baseUrl?: string
  /** Blank means none. */
  readonly apiKey?: string
  /** Tokens of prompt and answer together, when the model is not a well-known one. */
  readonly contextTokens?: number
  /** Whether it takes images. Default: what is known of well-known models, else false. */
  readonly takesImages?: boolean
  /** Most tokens of an answer. Default: what its server allows. */
  readonly outputTokens?: number
  /** Longest wait for the beginning of an answer, in milliseconds. Default 300 000; behind a base URL 1 800 000. */
  readonly firstTokenMs?: number
  /** Longest silence of an answer that has begun, in milliseconds. Default 300 000. */
  readonly silenceMs?: number
  /** How it comes by documents. Default: `auto`. */
  readonly grounding?: Grounding
  /** Whether sentences it leaves uncited are compared with what it read, and cited where they stand. Default true. */
  readonly comparesCitations?: boolean
  /** How clients name its provider. Default: `openai` or `anthropic`, `custom` behind a base URL. */
  readonly provider?: string
  /** Display name. Default: the name. */
  readonly displayName?: string
}

const forms = 'Use "extractive", "openai/<model>", "anthropic/<model>", or any model name together with a base URL.'

const fails = (message: string): InlayError => new InlayError('VALIDATION_ERROR', { message })

/**
 * Reads a model setting: `extractive`, `openai/<model>`, `anthropic/<model>`, or, with a base URL, the name a local
 * server or gateway knows the model by (slashes in it are kept; `openai/` in front of it is taken off).
 * The built-in model stays on offer beside it.
 * @throws VALIDATION_ERROR for a spec of no known form, and for a missing key or base URL
 */
export function parseModelSpec(spec: string, options: ModelSpecOptions = {}): ModelProvidersConfig {
  const name = spec.trim()
  const builtIn: ProviderConfig = { name: 'inlay', type: 'extractive' }
  if (name === '' || name === 'extractive' || name === 'inlay/extractive') return { providers: [builtIn] }

  const baseUrl = options.baseUrl?.trim() || undefined
  const apiKey = options.apiKey?.trim() || undefined
  const [, prefix, rest] = /^(openai|anthropic|openai-compatible)\/(.+)$/s.exec(name) ?? []
  const modelName = rest ?? name
  const {
    contextTokens,
    takesImages,
    comparesCitations,
    displayName,
    grounding,
    outputTokens,
    provider: providerName,
  } = options
  const limits = {
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(takesImages === undefined ? {} : { takesImages }),
    ...(grounding && { grounding }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(comparesCitations === undefined ? {} : { comparesCitations }),
  }
  const models: readonly ModelConfig[] = [{ name: modelName, ...limits, ...(displayName && { displayName }) }]
  const { firstTokenMs, silenceMs } = options
  const timeouts = { ...(firstTokenMs && { firstTokenMs }), ...(silenceMs && { silenceMs }) }
  const access = { ...(baseUrl && { baseUrl }), ...(apiKey && { apiKey }), ...timeouts }

  if (prefix === 'anthropic' || (prefix === 'openai' && !baseUrl)) {
    if (!apiKey && !baseUrl) throw fails(`The model "${name}" needs an API key of its provider.`)
    return { providers: [{ name: providerName ?? prefix, type: prefix, models, ...access }, builtIn] }
  }
  if (!baseUrl) throw fails(`The model "${name}" is not known. ${forms}`)
  return {
    providers: [
      { name: providerName ?? (prefix === 'openai' ? prefix : 'custom'), type: 'openai-compatible', models, ...access },
      builtIn,
    ],
  }
}

/** A model among several. */
export interface ModelSpec extends ModelSpecOptions {
  /** As {@link parseModelSpec} reads it. */
  readonly name: string
}

/**
 * Reads several models; the first one answers unless a request names another. Models of one provider, address and key
 * are offered under one provider. The built-in model stays on offer beside them.
 * @throws VALIDATION_ERROR as {@link parseModelSpec}, and for a provider name with two addresses or keys
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
  return left.type === right.type && left.baseUrl === right.baseUrl && left.apiKey === right.apiKey
}
