import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '@inlay/protocol'

/** Nothing consumed that is known of. */
export const noUsage: Usage = {
  input_tokens: null,
  output_tokens: null,
  reasoning_tokens: null,
  cached_input_tokens: null,
}

/** Adds what one call of a model consumed; what a provider does not tell stays null. */
export function addUsage(sum: Usage, { inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    input_tokens: add(sum.input_tokens, inputTokens.total),
    output_tokens: add(sum.output_tokens, outputTokens.total),
    reasoning_tokens: add(sum.reasoning_tokens, outputTokens.reasoning),
    cached_input_tokens: add(sum.cached_input_tokens, inputTokens.cacheRead),
  }
}

function add(sum: number | null, more: number | undefined): number | null {
  return more === undefined || !Number.isFinite(more) ? sum : (sum ?? 0) + more
}
