import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider'
import type { StreamListener, TappedModel } from '@inlay/agent'
import { withCacheControl } from './adapting/cache-control.ts'
import { learningTransport, noteWindow, type ModelMemories } from './adapting/learning-transport.ts'
import { callEitherApi, type ModelWork } from './adapting/responses-api.ts'
import { followSameHost } from './stream/same-host-redirects.ts'
import { httpTransport } from './stream/http-transport.ts'
import type { Ahead } from './stream/chat-tap.ts'
import { plainFetch, tappedFetch } from './stream/tapped-fetch.ts'
import { fetchTransport, type Transport } from './stream/transport.ts'

/** A provider of models behind HTTP. */
export interface AiSdkOptions {
  readonly type: 'openai' | 'anthropic' | 'openai-compatible'
  /** Configured name of the provider; the models carry it. */
  readonly name: string
  /** Address of the API with its version, e.g. `http://localhost:11434/v1`. Default: the provider's own. */
  readonly baseUrl?: string
  /** Sent as the provider wants it; taken out of every error if it has eight characters or more. Absent: requests carry no key. */
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Carries the requests. Default: connections of our own under Node, the global `fetch` elsewhere. */
  readonly fetch?: typeof fetch
  /**
   * Longest wait for the beginning of an answer, in milliseconds; not with a `fetch` handed in. Default 300 000, of servers
   * that speak the OpenAI API 1 800 000.
   */
  readonly firstTokenTimeoutMs?: number
  /** Longest silence of an answer that has begun, in milliseconds; not with a `fetch` handed in. Default 300 000. */
  readonly idleTimeoutMs?: number
  /** Keeps what servers refuse, so that it is left out from then on. Default: nothing is learned. */
  readonly memories?: ModelMemories
  /** Called once for each part of a request that a server refuses. */
  readonly onLearn?: (modelId: string, omission: string) => void
}

type MakeSdkModel = (modelId: string) => LanguageModelV4
type MakeModel = (modelId: string) => LanguageModelV4 | TappedModel

// Placeholder key: the SDKs require one even for gateways that ignore it.
const noKey = 'none'

async function load(options: AiSdkOptions, fetch: typeof globalThis.fetch): Promise<MakeSdkModel> {
  const { name, baseUrl, apiKey } = options
  const shared = { headers: { ...options.headers }, fetch, ...(baseUrl && { baseURL: baseUrl }) }
  if (options.type === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai')
    // Chat completions rather than responses: the one form that gateways and local servers speak too.
    return createOpenAI({ ...shared, name, apiKey: apiKey ?? noKey }).chat
  }
  if (options.type === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ ...shared, apiKey: apiKey ?? noKey })
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const key = apiKey === undefined ? {} : { apiKey }
  return createOpenAICompatible({ ...shared, ...key, name, baseURL: baseUrl ?? '', includeUsage: true })
}

/** The models by OpenAI's responses API, which some servers want in place of chat completions. */
async function loadResponses(options: AiSdkOptions, fetch: typeof globalThis.fetch): Promise<MakeSdkModel> {
  const { createOpenAI } = await import('@ai-sdk/openai')
  const { baseUrl: baseURL, apiKey = noKey } = options
  return createOpenAI({ headers: { ...options.headers }, fetch, apiKey, ...(baseURL && { baseURL }) }).responses
}

// A host that replaces the global `fetch`, to watch or to route requests, means those to models too.
const fetchAtLoad = globalThis.fetch

/** Creates the transport of a provider, restricted to its host. */
export function transportOf({
  type,
  fetch: handedIn,
  firstTokenTimeoutMs = type === 'openai-compatible' ? 1_800_000 : 300_000,
  idleTimeoutMs = 300_000,
}: Pick<AiSdkOptions, 'type' | 'fetch' | 'firstTokenTimeoutMs' | 'idleTimeoutMs'>): Transport {
  if (handedIn) return followSameHost(fetchTransport(handedIn))
  const own = isNode() ? httpTransport({ firstTokenTimeoutMs, idleTimeoutMs }) : undefined
  return followSameHost((request) =>
    own && globalThis.fetch === fetchAtLoad ? own(request) : fetchTransport(globalThis.fetch)(request),
  )
}

/** Whether this is Node, and no proxy is configured, which only Node's `fetch` supports. */
function isNode(): boolean {
  if (typeof process === 'undefined' || process.release?.name !== 'node') return false
  return !process.versions['bun'] && !process.versions['deno'] && !process.env['NODE_USE_ENV_PROXY']
}

const minSecretLength = 8

/** Takes a key out of the texts of an error and its causes, so that no log or message can carry it. */
function hideKey(error: unknown, key: string | undefined, depth = 0): unknown {
  // A placeholder such as "x" is no secret, and every word of an error has some of its letters.
  if (key === undefined || key.length < minSecretLength || depth > 5) return error
  if (typeof error === 'string') return error.replaceAll(key, '[hidden]')
  if (typeof error !== 'object' || error === null) return error
  for (const name of Object.getOwnPropertyNames(error)) {
    const value: unknown = Reflect.get(error, name)
    const isText = typeof value === 'string' && value.includes(key)
    if (isText || name === 'cause' || name === 'data' || name === 'error' || name === 'message') {
      const clean = hideKey(value, key, depth + 1)
      if (clean !== value) Reflect.set(error, name, clean)
    }
  }
  return error
}

/**
 * Creates the models of a provider, without loading the provider's SDK before the first call. A call rejects with the
 * SDK's own error, without the key. Models with the chat completions API pass on their text as its bytes arrive
 * (`TappedModel`).
 */
export function aiSdkModels(options: AiSdkOptions): MakeModel {
  const { apiKey, name, type } = options
  const { memories, onLearn = () => {} } = options
  const carrier = transportOf(options)
  const transport = memories ? learningTransport(carrier, memories, onLearn) : carrier
  const plain = plainFetch(transport)
  const reasoningFields = type === 'openai' ? [] : ['reasoning_content', 'reasoning']
  // Providers pass the signal of a call to their request unchanged, so it identifies the listener of a request.
  const listened = new WeakMap<AbortSignal, typeof fetch>()
  const sdkModel = rememberModels(() =>
    load(options, (input, init) => (listened.get(init?.signal ?? unheard) ?? plain)(input, init)),
  )
  const responsesModel = rememberModels(() => loadResponses(options, plain))

  const guarded = async <T>(modelId: string, call: LanguageModelV4CallOptions, work: ModelWork<T>): Promise<T> => {
    try {
      const refused = memories?.(modelId).refused
      return await callEitherApi({ sdkModel, responsesModel, modelId, refused }, call, work)
    } catch (error) {
      throw hideKey(error, apiKey)
    }
  }
  const stream = async (
    modelId: string,
    call: LanguageModelV4CallOptions,
    onPart: (part: LanguageModelV4StreamPart) => void = () => {},
  ): Promise<LanguageModelV4StreamResult> => {
    const result = await guarded(modelId, call, (model, options) => model.doStream(options))
    const clean = (error: unknown): unknown => {
      if (memories) noteWindow(memories(modelId), error instanceof Error ? error.message : JSON.stringify(error))
      return hideKey(error, apiKey)
    }
    return { ...result, stream: watched(result.stream, onPart, { clean, isAnthropic: type === 'anthropic' }) }
  }

  const cached = type === 'anthropic' ? withCacheControl : (call: LanguageModelV4CallOptions) => call
  return (modelId) => {
    const model: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: name,
      modelId,
      get supportedUrls() {
        return sdkModel(modelId).then((model) => model.supportedUrls)
      },
      doGenerate: (call) => guarded(modelId, cached(call), (model, options) => model.doGenerate(options)),
      doStream: (call) => stream(modelId, cached(call)),
    }
    if (type === 'anthropic') return model
    const tapped: Pick<TappedModel, 'doStreamTapped'> = {
      doStreamTapped: (call, listener) => {
        const { fetch, ahead } = tappedFetch(transport, { listener, reasoningFields })
        const signal = AbortSignal.any(call.abortSignal ? [call.abortSignal] : [])
        listened.set(signal, fetch)
        return stream(modelId, { ...call, abortSignal: signal }, (part) => tellRest(part, ahead, listener))
      },
    }
    // Not spread: that would read the URLs, and so load the SDK.
    return Object.assign(model, tapped)
  }
}

// Key for calls without a signal: nothing is ever registered under it, so they get the plain fetch.
const unheard = new AbortController().signal
const maxModels = 100

/** Loads the SDK on first use and caches its models, since creating one compiles its schemas again. */
function rememberModels(loadSdk: () => Promise<MakeSdkModel>): (modelId: string) => Promise<LanguageModelV4> {
  let loading: Promise<MakeSdkModel> | undefined
  const models = new Map<string, LanguageModelV4>()
  return async (modelId) => {
    const make = await (loading ??= loadSdk())
    const known = models.get(modelId)
    if (known) return known
    // Bounded because clients can send any name to a provider without a list.
    if (models.size >= maxModels) models.clear()
    const model = make(modelId)
    models.set(modelId, model)
    return model
  }
}

/** Passes on deltas that the tap has not: those that only the provider's own model understands. */
function tellRest(part: LanguageModelV4StreamPart, ahead: Ahead, listener: StreamListener): void {
  const kind = part.type === 'text-delta' ? 'text' : part.type === 'reasoning-delta' ? 'reasoning' : undefined
  if (kind === undefined || !('delta' in part)) return
  const tapped = Math.min(ahead[kind], part.delta.length)
  ahead[kind] -= tapped
  const rest = part.delta.slice(tapped)
  if (rest === '') return
  if (kind === 'text') listener.onText(rest)
  else listener.onReasoning(rest)
}

const isUnknownEvent = (error: unknown): boolean => error instanceof Error && error.name === 'AI_TypeValidationError'

/** The same stream. `onPart` gets each part when it is read; errors in it are cleaned. */
function watched(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  onPart: (part: LanguageModelV4StreamPart) => void,
  { clean, isAnthropic }: { readonly clean: (error: unknown) => unknown; readonly isAnthropic: boolean },
): ReadableStream<LanguageModelV4StreamPart> {
  const reader = stream.getReader()
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      pull: async (controller) => {
        try {
          let { done, value } = await reader.read()
          // Anthropic adds events at any time; the SDK reports what it does not know as an error, and reads on.
          while (isAnthropic && value?.type === 'error' && isUnknownEvent(value.error))
            ({ done, value } = await reader.read())
          if (done || !value) return controller.close()
          onPart(value)
          controller.enqueue(value.type === 'error' ? { ...value, error: clean(value.error) } : value)
        } catch (error) {
          throw clean(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
