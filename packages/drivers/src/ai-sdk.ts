import type { LanguageModelV4 } from '@ai-sdk/provider'

/** A provider of models behind HTTP. */
export interface AiSdkOptions {
  readonly type: 'openai' | 'anthropic' | 'openai-compatible'
  /** Configured name of the provider; the models carry it. */
  readonly name: string
  /** Address of the API with its version, e.g. `http://localhost:11434/v1`. Default: the provider's own. */
  readonly baseUrl?: string
  /** Sent as the provider wants it; taken out of every error. Absent: requests carry no key. */
  readonly apiKey?: string
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Carries the requests. Default: the global one. */
  readonly fetch?: typeof fetch
}

type MakeModel = (modelId: string) => LanguageModelV4

// What the SDKs demand where a gateway wants no key; such a gateway ignores it.
const noKey = 'none'

async function load(options: AiSdkOptions): Promise<MakeModel> {
  const { name, baseUrl, apiKey, fetch } = options
  const shared = { headers: { ...options.headers }, ...(fetch && { fetch }), ...(baseUrl && { baseURL: baseUrl }) }
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

/** Takes a key out of the texts of an error and its causes, so that no log or message can carry it. */
function hideKey(error: unknown, key: string | undefined, depth = 0): unknown {
  if (!key || depth > 5) return error
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
 * Makes the models of a provider. Each exists at once; the provider's SDK is loaded at the first call of any of them.
 * A call rejects with the SDK's own error,
 * without the key; what a provider sends in mid-stream passes as it is.
 */
export function aiSdkModels(options: AiSdkOptions): MakeModel {
  let loading: Promise<MakeModel> | undefined
  const { apiKey, name } = options

  const guarded = async <T>(work: () => PromiseLike<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw hideKey(error, apiKey)
    }
  }

  return (modelId) => {
    const loaded = async (): Promise<LanguageModelV4> => {
      loading ??= load(options)
      return (await loading)(modelId)
    }
    return {
      specificationVersion: 'v4',
      provider: name,
      modelId,
      get supportedUrls() {
        return loaded().then((model) => model.supportedUrls)
      },
      doGenerate: (call) => guarded(async () => (await loaded()).doGenerate(call)),
      doStream: (call) => guarded(async () => (await loaded()).doStream(call)),
    }
  }
}
