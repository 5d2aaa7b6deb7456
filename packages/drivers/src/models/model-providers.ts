import { checkRequired, isObject } from '@inlay/protocol'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelFact, ModelListing, ModelOptions, ModelProvider, ResolvedModel } from '@inlay/agent'
import { createMemories, type ModelMemories, type ModelMemory } from './adapting/model-memory.ts'
import { probeModel, type AbilityRecords } from './adapting/probe.ts'
import { createServedModels } from './adapting/served-window.ts'
import { aiSdkModels, transportOf, type AiSdkOptions } from './ai-sdk.ts'
import { knownRefusals } from './known-refusals.ts'
import { isOpen, knownModel } from './known-models.ts'
import type { BuiltInModel, ModelConfig, ModelProvidersConfig, ProviderConfig } from './model-config.ts'
import { isOfficial, needsKey } from './official-providers.ts'
import { egressFetch } from '../http/egress-stream.ts'
import { checkTemperature, chooseModel, invalid, type OfferedModels, type OfferingProvider } from './model-override.ts'

export { parseModelSpec, parseModelSpecs } from './model-spec.ts'
export type { ModelObject } from './model-object.ts'
export type { ModelSpec, ModelSpecOptions } from './model-spec.ts'
export type { AbilityRecords, ModelAbilities } from './adapting/probe.ts'
export type { BuiltInModel, ModelConfig, ModelProvidersConfig, ProviderConfig } from './model-config.ts'

interface Provider extends OfferingProvider {
  /** Absent for the built-in model. */
  readonly memories?: ModelMemories
  /** Queries the server for the capabilities of a model, unless they are known. */
  readonly ask?: (modelId: string, tries?: boolean) => Promise<ModelFact | undefined>
  make(modelId: string): LanguageModelV4 | Promise<LanguageModelV4>
}

function toBuiltIn(config: ProviderConfig, builtIn: BuiltInModel | undefined): Provider {
  if (!builtIn) throw invalid(`The model provider "${config.name}" is built in: hand its model in as \`builtIn\`.`)
  const { displayName, contextTokens, make } = builtIn
  const model = { name: 'extractive', displayName, contextTokens, takesImages: false }
  if ((config.defaultModel ?? model.name) !== model.name)
    throw invalid(`The default model of the provider "${config.name}" is not in its list of models.`)
  return { config, models: [model], defaultModel: model.name, make }
}

function toProvider(config: ProviderConfig, options: ModelProvidersConfig): Provider {
  const { wrapFetch, egress, builtIn, onNotice, abilities, smallModels, currentKey } = options
  const { name, type, models } = config
  if (type === 'extractive') return toBuiltIn(config, builtIn)
  const defaultModel = config.defaultModel ?? models?.[0]?.name
  if (models && !models.some((model) => model.name === defaultModel))
    throw invalid(`The default model of the provider "${name}" is not in its list of models.`)
  if (type === 'openai-compatible' && !config.baseUrl) throw invalid(`The model provider "${name}" needs a base URL.`)
  if (isOfficial(type) && needsKey(type) && !config.baseUrl && !config.apiKey)
    throw invalid(`The model provider "${name}" needs an API key.`)

  for (const { temperature } of models ?? []) if (temperature !== undefined) checkTemperature(temperature, type)

  const { baseUrl, apiKey, headers, firstTokenTimeoutMs, idleTimeoutMs } = config
  const limits = { ...(firstTokenTimeoutMs && { firstTokenTimeoutMs }), ...(idleTimeoutMs && { idleTimeoutMs }) }
  // Looked up at each request, so that a host may replace the global one.
  const wrapped = wrapFetch?.((...request) => fetch(...request))
  const guarded = egress && egressFetch(egress, firstTokenTimeoutMs ?? 300_000)
  const fetching = guarded ?? wrapped
  const carrier = { ...(fetching && { fetch: fetching }), ...(currentKey && { currentKey }) }
  const notices = new Set<string>()
  const onLearn = (modelId: string, part: string, said: string): void => {
    const notice = `${name}/${modelId}: its server refuses ${part}; requests go without it from now on.`
    // Repeated observations are reported only once.
    if (!notices.has(notice)) onNotice?.(said === '' ? notice : `${notice} It says: ${said}`)
    if (notices.size < 1_000) notices.add(notice)
  }
  const objects = new Map(models?.flatMap((each) => (each.model ? [[each.name, each.model] as const] : [])))
  const providerOptions = (modelId: string): ModelConfig['providerOptions'] =>
    models?.find((each) => each.name === modelId)?.providerOptions
  const memories = createMemories((modelId) => {
    const maker = objects.get(modelId)?.provider.split('.')[0]
    return knownRefusals(`${maker ?? type} ${baseUrl ?? ''} ${modelId}`)
  })
  const access = { type, name, baseUrl, apiKey, headers, objects, providerOptions }
  const makeModel = aiSdkModels({ ...access, memories, onLearn, ...limits, ...carrier })
  const askServed = askingOf(config, memories, carrier)
  const make = async (modelId: string): Promise<LanguageModelV4> => {
    const memory = memories(modelId)
    const model = makeModel(modelId)
    if (!smallModels || !needsRepair(config, modelId, memory)) return model
    const help = await smallModels().catch((error: unknown) => {
      // A model that is only set to search by itself may need no help.
      if (memory.abilities) throw error
    })
    return help ? help.repairModel(model, memory.repairState) : model
  }
  const probe = probingOf(config, makeModel, memories, abilities)
  const ask: Provider['ask'] = async (modelId, tries = true) => {
    if (tries) await askServed?.(modelId)
    return probe(modelId, tries)
  }
  return { config, models, defaultModel, memories, make, ask }
}

/** Whether a model calls no tools by itself, or nobody has found out since it has a setting. */
function needsRepair({ type, models }: ProviderConfig, modelId: string, { abilities }: ModelMemory): boolean {
  const isSet = (models?.find(({ name }) => name === modelId)?.grounding ?? 'auto') !== 'auto'
  return abilities ? !abilities.callsTools : isSet && !knownModel(type, modelId).callsTools
}

/** A slow machine loads a model and reads even a short prompt for a while. */
const probeTimeoutMs = 60_000
/** A message waits this long at most; what the probe finds out later counts from the next message. */
const probeWaitMs = 10_000
/** How long a model counts as one that calls no tools: it or its server may be upgraded. */
const recordedMs = 30 * 86_400_000

const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref())

/**
 * Tells what a model does by itself. Finds it out, unless it is known, recorded or configured. A probe that fails says
 * nothing: the model counts as it was recorded, otherwise as capable, and is tried again in an hour; with the next
 * message if its server was only away.
 */
function probingOf(
  { type, baseUrl = type, models }: ProviderConfig,
  makeModel: (modelId: string) => LanguageModelV4,
  memories: ModelMemories,
  records: AbilityRecords | undefined,
): NonNullable<Provider['ask']> {
  const running = new Map<string, Promise<void>>()
  const none = { callsTools: false, cites: false }
  const keyOf = (modelId: string): string => `${baseUrl} ${modelId}`
  const recall = async (modelId: string): Promise<ModelFact | undefined> => {
    const memory = memories(modelId)
    const recorded = memory.abilities ?? (await records?.read(keyOf(modelId)).catch(() => undefined))
    memory.abilities ??= memory.refusesTools ? none : recorded
    if (memory.refusesTools) return { from: 'server', ...none }
    return memory.abilities && { from: 'probe', ...memory.abilities }
  }
  const find = async (modelId: string): Promise<void> => {
    const memory = memories(modelId)
    const signal = AbortSignal.timeout(probeTimeoutMs)
    const judged = await probeModel(makeModel(modelId), signal).catch((error: unknown) => {
      const isAway = error instanceof Error && 'isRetryable' in error && error.isRetryable === true
      memory.hasFailedProbe = signal.aborted || !isAway
    })
    // A refusal counts as long as it is remembered: it may pass, so it is not recorded.
    memory.abilities = memory.refusesTools ? none : (judged ?? memory.abilities)
    if (!judged || memory.refusesTools) return
    await records?.write(keyOf(modelId), { ...judged, recordedAt: Date.now() }).catch(() => {})
  }
  return async (modelId, tries) => {
    const grounding = models?.find(({ name }) => name === modelId)?.grounding ?? 'auto'
    const { callsTools } = knownModel(type, modelId)
    if (grounding !== 'auto') return { from: 'option', callsTools: callsTools || grounding === 'tools', cites: true }
    if (callsTools) return { from: 'name', callsTools, cites: true }
    const known = await recall(modelId)
    const isCurrent = known && (known.callsTools || Date.now() - (known.recordedAt ?? Infinity) < recordedMs)
    if (isCurrent || !tries || memories(modelId).hasFailedProbe) return known
    const attempt = (): Promise<void> => find(modelId).finally(() => running.delete(modelId))
    const probe = running.get(modelId) ?? Promise.race([attempt(), wait(probeWaitMs)])
    running.set(modelId, probe)
    await probe
    return recall(modelId)
  }
}

function askingOf(
  { type, baseUrl, apiKey, headers = {}, models }: ProviderConfig,
  memories: ModelMemories,
  carrier: Pick<AiSdkOptions, 'fetch' | 'currentKey'>,
): ((modelId: string) => Promise<void>) | undefined {
  if (type !== 'openai-compatible' || !baseUrl) return undefined
  const access = { ...headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) }
  const transport = transportOf({ type, baseUrl, ...(apiKey && { apiKey }), ...carrier })
  const server = { transport, baseUrl: baseUrl.split('?')[0]!, headers: access }
  const ask = createServedModels(server, (modelId, { contextTokens, takesTools }) => {
    const memory = memories(modelId)
    if (!memory.hasStatedWindow) memory.contextTokens = contextTokens ?? memory.contextTokens
    if (takesTools !== false) return
    memory.refused.add('tools')
  })
  const isKnown = (name: string): boolean =>
    models?.find((model) => model.name === name)?.contextTokens !== undefined ||
    (knownModel(type, name).callsTools && !isOpen(name))
  return async (modelId) => (isKnown(modelId) ? undefined : ask(modelId, memories(modelId).since))
}

type Described = ModelOptions &
  Pick<ModelListing, 'name' | 'displayName' | 'contextTokens' | 'takesImages' | 'reasons'> &
  Pick<ResolvedModel, 'callsTools' | 'cites'>

function describe(provider: Provider, name: string): Described {
  const configured = provider.models?.find((model) => model.name === name)
  const { contextTokens, abilities } = provider.memories?.(name) ?? {}
  const seen = contextTokens !== undefined && { contextTokens }
  const { callsTools, ...limits } = knownModel(provider.config.type, name)
  // A model of which nothing was found out yet counts as capable, unless results are to be put before its questions.
  const isUnknown = !callsTools && configured?.grounding !== 'search-first'
  const proven = abilities && { callsTools: abilities.callsTools, cites: abilities.cites }
  const known = isUnknown ? proven : { callsTools, ...proven }
  return { displayName: name, ...limits, ...known, ...seen, ...configured, name }
}

/**
 * Offers the models of the given providers. An override is taken as it stands or fails: a provider alone means its
 * default model, a version alone belongs to the default provider, a temperature alone keeps the default model, and
 * `model_configuration_id` is the position of a model in `list()`, from 1.
 * @throws VALIDATION_ERROR for a configuration that cannot work: no provider, a name twice, no default model, a key or
 * base URL that is missing. Requests to providers are only made, and their SDKs only loaded, when a model is called.
 */
export function modelProviders(config: ModelProvidersConfig): ModelProvider {
  checkRequired(
    'modelProviders',
    config,
    'defaultProvider wrapFetch currentKey egress builtIn smallModels abilities onNotice',
    {
      providers: ['a list of { name, type }, at least one', (value) => Array.isArray(value) && value.every(isObject)],
    },
  )
  const providers = new Map(config.providers.map((provider) => [provider.name, toProvider(provider, config)]))
  if (providers.size < config.providers.length) throw invalid('Two model providers have the same name.')
  const usual = providers.get(config.defaultProvider ?? config.providers[0]?.name ?? '')
  if (!usual) throw invalid('The default model provider is not among the configured ones.')

  if (usual.defaultModel === undefined)
    throw invalid(`The model provider "${usual.config.name}" needs a default model or a list of models.`)

  const offered: OfferedModels<Provider> = { providers, usual, list: () => listModels(providers, usual) }
  return {
    resolve: async (override) => {
      const [provider, name] = chooseModel(override ?? {}, offered)
      const { type } = provider.config
      const observed = provider.memories?.(name)
      if (observed && provider.ask) observed.ask ??= async (tries) => provider.ask?.(name, tries)
      const described = describe(provider, name)
      const temperature = override?.temperature ?? described.temperature
      return {
        ...described,
        model: await provider.make(name),
        provider: provider.config.name,
        address: provider.config.baseUrl,
        ...(temperature !== undefined && { temperature: checkTemperature(temperature, type) }),
        ...(observed && { observed }),
        ...(type === 'extractive' && { quotesOnly: true, callsTools: true }),
      }
    },
    list: async () => offered.list(),
  }
}

function listModels(providers: ReadonlyMap<string, Provider>, usual: Provider): ModelListing[] {
  return [...providers.values()].flatMap((provider): ModelListing[] =>
    (provider.models ?? (provider.defaultModel === undefined ? [] : [{ name: provider.defaultModel }])).map(
      ({ name }) => {
        const { displayName, contextTokens, takesImages, reasons = false } = describe(provider, name)
        return {
          provider: provider.config.name,
          providerType: provider.config.type.replace('-', '_'),
          providerDisplayName: provider.config.displayName ?? provider.config.name,
          name,
          displayName,
          contextTokens,
          takesImages,
          reasons,
          isDefault: provider === usual && name === provider.defaultModel,
        }
      },
    ),
  )
}
