import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Omission } from './refusals.ts'

/** One call of a model. */
export type ModelWork<T> = (model: LanguageModelV4, call: LanguageModelV4CallOptions) => PromiseLike<T>

/** A model by both forms of OpenAI's API. */
export interface EitherApi {
  readonly sdkModel: (modelId: string) => Promise<LanguageModelV4>
  readonly responsesModel: (modelId: string) => Promise<LanguageModelV4>
  readonly modelId: string
  /** Features that the server refuses; undefined where nothing is learned. */
  readonly refused: Set<Omission> | undefined
}

/** Calls a model by chat completions, or by the responses API once its server has said to. */
export async function callEitherApi<T>(
  { sdkModel, responsesModel, modelId, refused }: EitherApi,
  call: LanguageModelV4CallOptions,
  work: ModelWork<T>,
): Promise<T> {
  for (;;) {
    const byResponses = refused?.has('chat completions') ?? false
    try {
      return await (byResponses
        ? work(await responsesModel(modelId), toResponses(call))
        : work(await sdkModel(modelId), call))
    } catch (error) {
      if (byResponses && isMissing(error)) {
        refused?.delete('chat completions')
        refused?.add('responses')
      } else if (byResponses || !refused?.has('chat completions')) throw error
    }
  }
}

/** A gateway may hand on the words of OpenAI, and have no such path itself. */
const isMissing = (error: unknown): boolean =>
  [404, 405, 501].includes(Number(Reflect.get(Object(error), 'statusCode')))

/** The server stores nothing of the call, and its text is not tapped. */
function toResponses(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const tools = call.tools?.map((tool) => (tool.type === 'function' ? { strict: false, ...tool } : tool))
  return {
    ...call,
    abortSignal: AbortSignal.any(call.abortSignal ? [call.abortSignal] : []),
    ...(tools && { tools }),
    // Reasoning summaries are only available to verified organizations.
    providerOptions: { openai: { store: false, reasoningSummary: null }, ...call.providerOptions },
  }
}
