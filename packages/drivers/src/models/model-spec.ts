import { InlayError } from '@inlay/protocol'
import type { ModelConfig, ModelProvidersConfig, ProviderConfig } from './model-providers.ts'

/** What goes with a model spec. */
export interface ModelSpecOptions {
  /** Address of an OpenAI-compatible API with its version; for `anthropic/…` of an Anthropic one. Blank means none. */
  readonly baseUrl?: string
  /** Blank means none. */
  readonly apiKey?: string
  /** Tokens of prompt and answer together, when the model is not a well-known one. */
  readonly contextTokens?: number
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
  const context = options.contextTokens === undefined ? {} : { contextTokens: options.contextTokens }
  const models: readonly ModelConfig[] = [{ name: modelName, ...context }]
  const access = { ...(baseUrl && { baseUrl }), ...(apiKey && { apiKey }) }

  if (prefix === 'anthropic' || (prefix === 'openai' && !baseUrl)) {
    if (!apiKey && !baseUrl) throw fails(`The model "${name}" needs an API key of its provider.`)
    return { providers: [{ name: prefix, type: prefix, models, ...access }, builtIn] }
  }
  if (!baseUrl) throw fails(`The model "${name}" is not known. ${forms}`)
  return {
    providers: [
      { name: prefix === 'openai' ? prefix : 'custom', type: 'openai-compatible', models, ...access },
      builtIn,
    ],
  }
}
