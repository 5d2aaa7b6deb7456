import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Grounding, ModelListing, ModelProvider, ResolvedModel } from '@inlay/agent'
import { InlayError, type LlmOverride } from '@inlay/protocol'
import { createMemories, type ModelMemories } from './adapting/learning-transport.ts'
import { createServedModels } from './adapting/served-window.ts'
import { aiSdkModels, transportOf } from './ai-sdk.ts'
import { knownModel } from './known-models.ts'

export { parseModelSpec, parseModelSpecs } from './model-spec.ts'
export type { ModelSpec, ModelSpecOptions } from './model-spec.ts'

/** One model of a provider. */
export interface ModelConfig {
  /** Name the provider knows it by. */
  readonly name: string
  /** What a person reads. Default: the name. */
  readonly displayName?: string
  /** Tokens of prompt and answer together. Default: what is known of well-known models, else 32,000. */
  readonly contextTokens?: number
  /** Whether it takes images. Default: what is known of well-known models, else false. */
  readonly takesImages?: boolean
  /** Most tokens of an answer. Default: what its server allows. */
  readonly outputTokens?: number
  /** How it comes by documents: by tools, or by a search made for it. Default `auto`: by tools, unless they are refused. */
  readonly grounding?: Grounding
  /** Whether sentences it leaves uncited are compared with what it read, and cited where they stand. Default true. */
  readonly comparesCitations?: boolean
}

/** One provider of models. */
export interface ProviderConfig {
  /** How clients name it in `model_provider`; unique. */
  readonly name: string
  /** `extractive` is the built-in model, which needs no key and no network; it is handed in as `builtIn`. */
  readonly type: 'extractive' | 'openai' | 'anthropic' | 'openai-compatible'
  /** What a person reads. Default: the name. */
  readonly displayName?: string
  /** Address of the API with its version. Required for `openai-compatible`. */
  readonly baseUrl?: string
  readonly apiKey?: string
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Longest wait for the beginning of an answer, in milliseconds. Default 300 000; `openai-compatible` 1 800 000, as a slow
   * machine reads a long prompt for many minutes.
   */
  readonly firstTokenMs?: number
  /** Longest silence of an answer that has begun, in milliseconds. Default 300 000. */
  readonly silenceMs?: number
  /** The models clients may choose; without a list any name is passed on. */
  readonly models?: readonly ModelConfig[]
  /** Used when a request names only the provider; the default provider needs one. Default: the first of `models`. */
  readonly defaultModel?: string
}

/** A model that runs in this process: `extractiveModel` of `@inlay/extractive`. */
export interface BuiltInModel {
  /** What a person reads. */
  readonly displayName: string
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  readonly make: () => LanguageModelV4
}

/** What {@link modelProviders} needs. */
export interface ModelProvidersConfig {
  readonly providers: readonly ProviderConfig[]
  /** Name of the provider whose default model answers unless a request says otherwise. Default: the first. */
  readonly defaultProvider?: string
  /** Wraps the `fetch` that carries all requests to models, e.g. to observe streams. */
  readonly wrapFetch?: (next: typeof fetch) => typeof fetch
  /** The model of providers of the type `extractive`; required when there is one. */
  readonly builtIn?: BuiltInModel
  /** Hears once of each part of a request that a server refuses and that is left out from then on. */
  readonly onNotice?: (message: string) => void
}

interface Provider {
  readonly config: ProviderConfig
  readonly models: readonly ModelConfig[] | undefined
  readonly defaultModel: string | undefined
  /** Absent for the built-in model. */
  readonly memories?: ModelMemories
  /** Asks its server what it takes, unless that is known. */
  readonly ask?: (modelId: string) => Promise<void>
  make(modelId: string): LanguageModelV4
}

const fails = (message: string): InlayError => new InlayError('VALIDATION_ERROR', { message })

function toBuiltIn(config: ProviderConfig, builtIn: BuiltInModel | undefined): Provider {
  if (!builtIn) throw fails(`The model provider "${config.name}" is built in: hand its model in as \`builtIn\`.`)
  const { displayName, contextTokens, make } = builtIn
  const model = { name: 'extractive', displayName, contextTokens, takesImages: false }
  if ((config.defaultModel ?? model.name) !== model.name)
    throw fails(`The default model of the provider "${config.name}" is not in its list of models.`)
  return { config, models: [model], defaultModel: model.name, make }
}

function toProvider(config: ProviderConfig, { wrapFetch, builtIn, onNotice }: ModelProvidersConfig): Provider {
  const { name, type, models } = config
  if (type === 'extractive') return toBuiltIn(config, builtIn)
  const defaultModel = config.defaultModel ?? models?.[0]?.name
  if (models && !models.some((model) => model.name === defaultModel))
    throw fails(`The default model of the provider "${name}" is not in its list of models.`)
  if (type === 'openai-compatible' ? !config.baseUrl : !config.baseUrl && !config.apiKey)
    throw fails(`The model provider "${name}" needs ${type === 'openai-compatible' ? 'a base URL' : 'an API key'}.`)

  const { baseUrl, apiKey, headers, firstTokenMs, silenceMs } = config
  const limits = { ...(firstTokenMs && { firstTokenMs }), ...(silenceMs && { silenceMs }) }
  // Looked up at each request, so that a host may replace the global one.
  const carrier = wrapFetch && { fetch: wrapFetch((...request) => fetch(...request)) }
  const memories = createMemories()
  const onLearn = (modelId: string, part: string): void =>
    onNotice?.(`${name}/${modelId}: its server refuses ${part}; requests go without it from now on.`)
  const make = aiSdkModels({ type, name, baseUrl, apiKey, headers, memories, onLearn, ...limits, ...carrier })
  const ask = askingOf(config, memories, carrier || {})
  return { config, models, defaultModel, memories, make, ...(ask && { ask }) }
}

function askingOf(
  { type, baseUrl, apiKey, headers = {}, models }: ProviderConfig,
  memories: ModelMemories,
  carrier: { readonly fetch?: typeof fetch },
): Provider['ask'] {
  if (type !== 'openai-compatible' || !baseUrl) return undefined
  const access = { ...headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) }
  const server = { transport: transportOf({ type, ...carrier }), baseUrl, headers: access }
  const ask = createServedModels(server, (modelId, { contextTokens, takesTools }) => {
    const memory = memories(modelId)
    if (!memory.hasStatedWindow) memory.contextTokens = contextTokens ?? memory.contextTokens
    if (takesTools !== false) return
    memory.refusesTools = true
    memory.refused.add('tools')
  })
  const isKnown = (name: string): boolean =>
    models?.find((model) => model.name === name)?.contextTokens !== undefined || knownModel(type, name).callsTools
  return async (modelId) => (isKnown(modelId) ? undefined : ask(modelId))
}

type Described = Listed & Pick<ResolvedModel, 'callsTools'>

function describe(provider: Provider, name: string): Described {
  const {
    grounding: _,
    comparesCitations: __,
    ...configured
  } = provider.models?.find((model) => model.name === name) ?? {}
  const observed = provider.memories?.(name).contextTokens
  const seen = observed !== undefined && { contextTokens: observed }
  return { displayName: name, ...knownModel(provider.config.type, name), ...seen, ...configured, name }
}

type Listed = Required<Omit<ModelConfig, 'grounding' | 'comparesCitations' | 'outputTokens'>>

const toListed = ({ displayName, contextTokens, takesImages, name }: Described): Listed => ({
  name,
  displayName,
  contextTokens,
  takesImages,
})

function checkTemperature(temperature: number, type: ProviderConfig['type']): number {
  const most = type === 'anthropic' ? 1 : 2
  if (temperature >= 0 && temperature <= most) return temperature
  throw fails(`The temperature for this model has to be between 0 and ${most}.`)
}

function resolveModel(provider: Provider, name: string, temperature: number | undefined): ResolvedModel {
  const { grounding, comparesCitations, outputTokens } = provider.models?.find((model) => model.name === name) ?? {}
  const observed = provider.memories?.(name)
  if (observed && provider.ask) observed.ask ??= () => provider.ask?.(name) ?? Promise.resolve()
  return {
    ...describe(provider, name),
    model: provider.make(name),
    provider: provider.config.name,
    ...(temperature !== undefined && { temperature: checkTemperature(temperature, provider.config.type) }),
    ...(grounding && { grounding }),
    ...(outputTokens && { outputTokens }),
    ...(comparesCitations !== undefined && { comparesCitations }),
    ...(observed && { observed }),
    ...(provider.config.type === 'extractive' && { quotesOnly: true }),
  }
}

/**
 * Offers the models of the given providers. An override is taken as it stands or fails: a provider alone means its
 * default model, a version alone belongs to the default provider, a temperature alone keeps the default model, and
 * `model_configuration_id` is the position of a model in `list()`, from 1.
 * @throws VALIDATION_ERROR for a configuration that cannot work: no provider, a name twice, no default model, a key or
 * base URL that is missing. Requests to providers are only made, and their SDKs only loaded, when a model is called.
 */
export function modelProviders(config: ModelProvidersConfig): ModelProvider {
  const providers = new Map(config.providers.map((provider) => [provider.name, toProvider(provider, config)]))
  if (providers.size < config.providers.length) throw fails('Two model providers have the same name.')
  const usual = providers.get(config.defaultProvider ?? config.providers[0]?.name ?? '')
  if (!usual) throw fails('The default model provider is not among the configured ones.')

  if (usual.defaultModel === undefined)
    throw fails(`The model provider "${usual.config.name}" needs a default model or a list of models.`)

  const listing = (): ModelListing[] =>
    [...providers.values()].flatMap((provider): ModelListing[] =>
      (provider.models ?? (provider.defaultModel === undefined ? [] : [{ name: provider.defaultModel }])).map(
        ({ name }) => ({
          provider: provider.config.name,
          providerType: provider.config.type.replace('-', '_'),
          providerDisplayName: provider.config.displayName ?? provider.config.name,
          ...toListed(describe(provider, name)),
          isDefault: provider === usual && name === provider.defaultModel,
        }),
      ),
    )

  const choose = (override: LlmOverride): readonly [Provider, string] => {
    if (typeof override.model_configuration_id === 'number') {
      const listed = listing()[override.model_configuration_id - 1]
      const provider = providers.get(listed?.provider ?? '')
      if (!listed || !provider) throw fails('No model has this configuration id.')
      return [provider, listed.name]
    }
    const provider = override.model_provider ? providers.get(override.model_provider) : usual
    if (!provider) throw fails('No model provider has this name.')
    const version = override.model_version || provider.defaultModel
    if (version === undefined)
      throw fails(`A request to the model provider "${provider.config.name}" has to name a model version.`)
    if (provider.models && !provider.models.some((model) => model.name === version))
      throw fails(`The model provider "${provider.config.name}" does not offer this model version.`)
    return [provider, version]
  }

  return {
    resolve: async (override) => {
      const [provider, name] = choose(override ?? {})
      return resolveModel(provider, name, override?.temperature ?? undefined)
    },
    list: async () => listing(),
  }
}
