import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'

/** A model object of the AI SDK, of any of its last three specifications, e.g. `openai('gpt-5')`. */
export type ModelObject = LanguageModelV2 | LanguageModelV3 | LanguageModelV4

export function isModelObject(value: unknown): value is ModelObject {
  const { specificationVersion, doStream } = Object(value) as Partial<ModelObject>
  return /^v[234]$/.test(String(specificationVersion)) && typeof doStream === 'function'
}

/** The same model with the newest specification. `ai` converts them too, and exports no way to it that older majors have. */
export function asNewest(model: ModelObject): LanguageModelV4 {
  if (model.specificationVersion === 'v4') return model
  // What the specifications have in common is handed on as it is; their types share no names.
  const older = model as unknown as LanguageModelV4
  const toResult = <Result extends object>(result: Result): Result =>
    model.specificationVersion === 'v2' ? withNewUsage(result) : result
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return older.supportedUrls
    },
    doGenerate: async (call) => toResult(await older.doGenerate(asOlder(call))),
    doStream: async (call) => {
      const result = await older.doStream(asOlder(call))
      const toParts = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => controller.enqueue(part.type === 'finish' ? toResult(part) : part),
      })
      return { ...result, stream: result.stream.pipeThrough(toParts) }
    },
  }
}

/** Files hold their data or their address itself. */
function asOlder(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const withPlainFiles = (part: object): object => {
    if (!('type' in part) || part.type !== 'file' || !('data' in part)) return part
    const { data, url } = Object(part.data) as { data?: unknown; url?: unknown }
    return { ...part, data: data ?? url ?? part.data }
  }
  const prompt = call.prompt.map((message) =>
    message.role === 'system' ? message : { ...message, content: message.content.map(withPlainFiles) },
  )
  return { ...call, prompt: prompt as LanguageModelV4CallOptions['prompt'] }
}

function withNewUsage<Result extends object>(result: Result): Result {
  const { finishReason: end, usage = {} } = result as { finishReason?: unknown; usage?: Record<string, number> }
  const { inputTokens: total, cachedInputTokens: cacheRead, outputTokens, reasoningTokens: reasoning } = usage
  return {
    ...result,
    finishReason: { unified: end === 'unknown' ? 'other' : end, raw: undefined },
    usage: { inputTokens: { total, cacheRead }, outputTokens: { total: outputTokens, reasoning } },
  }
}
