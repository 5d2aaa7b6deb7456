import type { LanguageModelV4 } from '@ai-sdk/provider'

/** What a person reads where a model is named. */
export const extractiveModelName = 'Built-in extractive model'

/** Tokens of prompt and answer the built-in model takes; it reads everything, so this is a matter of time only. */
export const extractiveContextTokens = 200_000

/** Makes the built-in model. */
export function extractiveModel(): LanguageModelV4 {
  const answer = 'Not here yet.'
  return {
    specificationVersion: 'v4',
    provider: 'inlay',
    modelId: 'extractive',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error(answer)),
    doStream: () => Promise.reject(new Error(answer)),
  }
}
