import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** Plays one step of a model and gives the parts the agent is to see. */
export type PlayStep = (options: LanguageModelV4CallOptions) => Promise<readonly LanguageModelV4StreamPart[]>

/**
 * Puts a tap between a model and the agent that calls it: the step is played, and told to clients, as it streams; the
 * agent gets it whole once it is over. So the agent carries a handful of parts a step instead of every token, and no
 * action starts before the model has said all it wants done.
 */
export function tapModel(model: LanguageModelV4, play: PlayStep): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream: async (options) => {
      const parts = await play(options)
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          start: (controller) => {
            for (const part of parts) controller.enqueue(part)
            controller.close()
          },
        }),
      }
    },
  }
}
