import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider'
import type { StreamListener, TappedModel } from '@inlay/agent'
import { InlayError, isJsonObject } from '@inlay/protocol'
import { tlsFault } from '../http/tls-fault.ts'
import { withCacheControl } from './adapting/cache-control.ts'
import { fallBack, statusOf } from './adapting/fall-back.ts'
import { noteWindow, type ModelMemories } from './adapting/model-memory.ts'
import { withoutRefusedFields } from './adapting/refused-fields.ts'
import { isByResponses } from './adapting/responses-api.ts'
import { followSameHost } from './stream/same-host-redirects.ts'
import { httpTransport } from './stream/http-transport.ts'
import type { Ahead } from './stream/chat-tap.ts'
import { plainFetch, tappedFetch } from './stream/tapped-fetch.ts'
import { reasoningExtractor, toReasoningPart, withReasoningFields } from './stream/reasoning-fields.ts'
import { fetchTransport, withQuery, type Transport } from './stream/transport.ts'
import type { ProviderConfig } from './model-config.ts'
import { asNewest, type ModelObject } from './model-object.ts'
import { isOpenAiReasoner } from './known-models.ts'
import { isOfficial, loadOfficial, needsKey } from './official-providers.ts'
import { declaredInput, declaredName } from './tools/fit-tools.ts'

export interface AiSdkOptions {
  readonly type: Exclude<ProviderConfig['type'], 'extractive'>
  /** Configured name of the provider; the models carry it. */
  readonly name: string
  /** Address of the API with its version, e.g. `http://localhost:11434/v1`. Default: the provider's own. */
  readonly baseUrl?: string
  /** Sent as the provider wants it; taken out of every error if it has eight characters or more. Absent: requests carry no key. */
  readonly apiKey?: string
  /** Called with `apiKey` before each request: what is sent in its place. Default: the key itself. */
  readonly currentKey?: (apiKey: string) => Promise<string>
  readonly headers?: Readonly<Record<string, string>>
  /** Of the type `ai-sdk`: the models by name. */
  readonly objects?: ReadonlyMap<string, ModelObject>
  /** What a model is to be told in the words of its provider's package. Default: nothing. */
  readonly providerOptions?: (modelId: string) => JSONObject | undefined
  /** Carries the requests. Default: connections of our own under Node, the global `fetch` elsewhere. */
  readonly fetch?: typeof fetch
  /**
   * Longest wait for the beginning of an answer, in milliseconds; not with a `fetch` handed in. Default 300 000, of servers
   * that speak the OpenAI API 1 800 000.
   */
  readonly firstTokenTimeoutMs?: number
  /** Longest silence of an answer that has begun, in milliseconds. Default 300 000. */
  readonly idleTimeoutMs?: number
  /** Keeps what servers refuse, so that it is left out from then on. Default: nothing is learned. */
  readonly memories?: ModelMemories
  /** Called once for each part of a request that a server refuses. */
  readonly onLearn?: (modelId: string, part: string, said: string) => void
}

type MakeSdkModel = (modelId: string) => LanguageModelV4

// Placeholder key: the SDKs require one even for gateways that ignore it.
const noKey = 'none'

async function load(options: AiSdkOptions, fetch: typeof globalThis.fetch): Promise<MakeSdkModel> {
  const { type, name, baseUrl, apiKey, objects } = options
  if (type === 'ai-sdk') {
    return (modelId) => {
      const object = objects?.get(modelId)
      if (!object) throw new InlayError('VALIDATION_ERROR', { message: `No model object is named "${modelId}".` })
      return asNewest(object)
    }
  }
  const access = { headers: { ...options.headers }, fetch, ...(baseUrl && { baseURL: baseUrl.split('?')[0]! }) }
  if (isOfficial(type)) {
    const key = apiKey ?? (needsKey(type) ? noKey : undefined)
    const create = await loadOfficial(type)
    return create({ ...access, name, ...(key !== undefined && { apiKey: key }) })
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const key = apiKey === undefined ? {} : { apiKey }
  const form = { includeUsage: true, transformRequestBody: toTaken, metadataExtractor: reasoningExtractor }
  return createOpenAICompatible({ baseURL: '', ...access, ...key, name, ...form })
}

/** OpenAI's reasoning models, also behind gateways and at Azure, take other parameters than any other model. */
function toTaken(body: Record<string, unknown>): Record<string, unknown> {
  if (!isOpenAiReasoner(String(body['model']))) return body
  const { max_tokens: limit, temperature, top_p, ...taken } = body
  const sampling = body['reasoning_effort'] === 'none' && { temperature, top_p }
  return { max_completion_tokens: limit, ...sampling, ...taken }
}

/** The models by OpenAI's responses API, which some servers want in place of chat completions. */
async function loadResponses(options: AiSdkOptions, fetch: typeof globalThis.fetch): Promise<MakeSdkModel> {
  const { createOpenAI } = await import('@ai-sdk/openai')
  const { baseUrl, apiKey = noKey } = options
  const base = baseUrl && { baseURL: baseUrl.split('?')[0]! }
  return createOpenAI({ headers: { ...options.headers }, fetch, apiKey, ...base }).responses
}

// A host that replaces the global `fetch`, to watch or to route requests, means those to models too.
const fetchAtLoad = globalThis.fetch

type TransportOptions = Pick<
  AiSdkOptions,
  'type' | 'baseUrl' | 'apiKey' | 'currentKey' | 'fetch' | 'firstTokenTimeoutMs' | 'idleTimeoutMs'
>

/** Tells the operator what to set where a certificate is refused. */
const withTlsFaults =
  (carry: Transport): Transport =>
  (request) =>
    carry(request).catch((error: unknown) => {
      const message = tlsFault(error, 'INLAY_MODEL_BASE_URL, or the option model')
      throw message ? new InlayError('SERVICE_UNAVAILABLE', { message, data: { isForOperator: true } }) : error
    })

/** Creates the transport of a provider, restricted to its host. */
export function transportOf(options: TransportOptions): Transport {
  const { type, baseUrl, fetch: handedIn, idleTimeoutMs = 300_000 } = options
  const { firstTokenTimeoutMs = type === 'openai-compatible' ? 1_800_000 : 300_000 } = options
  const limits = { firstTokenTimeoutMs, idleTimeoutMs }
  const finish = (carry: Transport): Transport =>
    withCurrentKey(withQuery(followSameHost(withTlsFaults(carry)), baseUrl), options)
  if (handedIn) return finish(fetchTransport(handedIn, limits))
  const own = isNode() ? httpTransport(limits) : undefined
  return finish((request) =>
    own && globalThis.fetch === fetchAtLoad ? own(request) : fetchTransport(globalThis.fetch, limits)(request),
  )
}

/** Providers keep the key they were made with, in a header of their own. */
function withCurrentKey(transport: Transport, { apiKey, currentKey }: TransportOptions): Transport {
  if (apiKey === undefined || !currentKey) return transport
  return async (request) => {
    const key = await currentKey(apiKey)
    const headers = Object.entries(request.headers).map(([name, value]) => [name, value.replaceAll(apiKey, () => key)])
    return transport({ ...request, headers: Object.fromEntries(headers) as Record<string, string> })
  }
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
 * No SDK is loaded before the first call. A call rejects with the SDK's own error, without the key. Models with the
 * chat completions API pass on their text as its bytes arrive (`TappedModel`).
 */
export function aiSdkModels(options: AiSdkOptions): (modelId: string) => LanguageModelV4 | TappedModel {
  const { apiKey, name, type, memories, onLearn = () => {} } = options
  const isOpenAi = type === 'openai' || type === 'openai-compatible'
  const inHeaders = Object.entries(options.headers ?? {}).flatMap(([header, value]) =>
    /auth|key|token|secret/i.test(header) ? value.replace(/^\w+ /, '') : [],
  )
  const keys = new Set([apiKey, ...inHeaders])
  const hideKeys = (error: unknown): unknown => [...keys].reduce<unknown>((left, key) => hideKey(left, key), error)
  const currentKey = async (key: string): Promise<string> => {
    const current = (await options.currentKey?.(key)) ?? key
    keys.add(current)
    return current
  }
  // An object says of which provider it is.
  const providerOf = (modelId: string): string => options.objects?.get(modelId)?.provider ?? type
  const isAnthropic = (modelId: string): boolean => providerOf(modelId).startsWith('anthropic')
  const carrier = transportOf(options.currentKey ? { ...options, currentKey } : options)
  const transport = memories ? withoutRefusedFields(carrier, (modelId) => memories(modelId).refused) : carrier
  const plain = plainFetch(transport)
  const reasoningFields = type === 'openai' ? [] : ['reasoning_content', 'reasoning']
  // Providers pass the signal of a call to their request unchanged, so it identifies the listener of a request.
  const listened = new WeakMap<AbortSignal, typeof fetch>()
  const sdkModel = rememberModels(() =>
    load(options, (input, init) => (listened.get(init?.signal ?? unheard) ?? plain)(input, init)),
  )
  const responsesModel = rememberModels(() => loadResponses(options, plain))

  const guarded = async <T>(
    modelId: string,
    call: LanguageModelV4CallOptions,
    work: (model: LanguageModelV4, call: LanguageModelV4CallOptions) => PromiseLike<T>,
  ): Promise<T> => {
    try {
      return await fallBack(call, {
        memory: memories?.(modelId),
        onLearn: (part, said) => onLearn(modelId, part, String(hideKeys(said))),
        work: async (sent, refused) =>
          // Keys of other providers do not go where OpenAI's other API is.
          work(
            await (isOpenAi && isByResponses(refused) ? responsesModel : sdkModel)(modelId),
            withReasoningFields(sent),
          ),
      })
    } catch (error) {
      throw hideKeys(error)
    }
  }
  const stream = async (
    modelId: string,
    call: LanguageModelV4CallOptions,
    onPart: (part: LanguageModelV4StreamPart) => void = () => {},
    isHeard?: Promise<void>,
  ): Promise<LanguageModelV4StreamResult> => {
    const clean = (error: unknown): unknown => {
      if (memories) noteWindow(memories(modelId), error instanceof Error ? error.message : JSON.stringify(error))
      return hideKeys(error)
    }
    return guarded(modelId, call, async (model, options) => {
      const result = await model.doStream(options)
      const sent = result.request?.body
      const tools = { tools: call.tools, sentTools: options.tools }
      const stream = await watched(result.stream, onPart, { clean, sent, isHeard, ...tools })
      return { ...result, stream }
    })
  }

  const prepared = (modelId: string, given: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const call = isAnthropic(modelId) ? withCacheControl(given) : given
    const more = options.providerOptions?.(modelId)
    if (!more) return call
    const ofType = type === 'amazon-bedrock' ? 'amazonBedrock' : isOfficial(type) ? type : name
    const key = options.objects?.get(modelId)?.provider.split('.')[0] ?? ofType
    return { ...call, providerOptions: { ...call.providerOptions, [key]: { ...call.providerOptions?.[key], ...more } } }
  }
  return (modelId) => {
    const model: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: name,
      modelId,
      get supportedUrls() {
        return sdkModel(modelId).then((model) => model.supportedUrls)
      },
      doGenerate: (call) => guarded(modelId, prepared(modelId, call), (model, options) => model.doGenerate(options)),
      doStream: (call) => stream(modelId, prepared(modelId, call)),
    }
    // Others have deltas of their own.
    if (!isOpenAi) return model
    const tapped: Pick<TappedModel, 'doStreamTapped'> = {
      doStreamTapped: (call, listener) => {
        const { fetch, ahead } = tappedFetch(transport, { listener, reasoningFields })
        const signal = AbortSignal.any(call.abortSignal ? [call.abortSignal] : [])
        listened.set(signal, fetch)
        // Its parts follow later: who waits for them would hold back what was heard.
        const isHeard = new Promise<void>((resolve) => (ahead.onDelta = resolve))
        const onPart = (part: LanguageModelV4StreamPart): void => tellRest(part, ahead, listener)
        return stream(modelId, { ...prepared(modelId, call), abortSignal: signal }, onPart, isHeard)
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

/** Providers add events at any time; an SDK reports what it does not know as an error, and reads on. */
function isUnknownEvent(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'AI_TypeValidationError') return false
  const value: unknown = Reflect.get(error, 'value')
  return isJsonObject(value) && typeof value['type'] === 'string' && !value['error']
}

/**
 * Once it has begun. `onPart` gets each part when it is read; errors in it are cleaned. @throws one at its beginning,
 * by which some gateways refuse a request they have accepted
 */
async function watched(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  onPart: (part: LanguageModelV4StreamPart) => void,
  {
    clean,
    sent,
    isHeard,
    tools,
    sentTools,
  }: Pick<LanguageModelV4CallOptions, 'tools'> & {
    readonly sentTools: LanguageModelV4CallOptions['tools']
    readonly clean: (error: unknown) => unknown
    readonly sent: unknown
    /** Resolves when a listener has got something: from then on it is no refusal. Default: parts alone show that. */
    readonly isHeard?: Promise<void> | undefined
  },
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const reader = stream.getReader()
  const read = async (): Promise<LanguageModelV4StreamPart | undefined> => {
    const { value } = await reader.read()
    return value?.type === 'error' && isUnknownEvent(value.error) ? read() : value
  }
  const begun: LanguageModelV4StreamPart[] = []
  const readBeginning = async (): Promise<void> => {
    for (let part = await read(); part; part = await read()) {
      if (part.type === 'error' && statusOf(part.error) !== undefined) {
        void reader.cancel().catch(() => {})
        throw Object.assign(Object(part.error), { requestBodyValues: sent })
      }
      begun.push(part)
      if (!preludes.has(part.type)) break
    }
  }
  const beginning = readBeginning()
  // Told by the stream, which nobody may read.
  beginning.catch(() => {})
  await (isHeard ? Promise.race([beginning, isHeard]) : beginning)
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      pull: async (controller) => {
        try {
          await beginning
          let part = begun.shift() ?? (await read())
          if (!part) return controller.close()
          // A provider may have been given another name.
          if ('toolName' in part) part = { ...part, toolName: declaredName(part.toolName, tools) }
          if (part.type === 'tool-call')
            part = { ...part, input: declaredInput(part.toolName, part.input, tools, sentTools) }
          onPart(part)
          for (const before of toReasoningPart(part)) controller.enqueue(before)
          controller.enqueue(part.type === 'error' ? { ...part, error: clean(part.error) } : part)
        } catch (error) {
          throw clean(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Parts that may come before a refusal. */
const preludes = new Set<string>(['stream-start', 'response-metadata', 'raw'])
