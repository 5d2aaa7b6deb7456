import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'

const marked = { anthropic: { cacheControl: { type: 'ephemeral' } } }

/**
 * Anthropic caches nothing without breakpoints. They stand at the ends of what the next prompt repeats: the
 * instructions with the tools, the conversation up to the latest question, and the latest tool result.
 */
export function withCacheControl(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { prompt } = call
  const system = prompt.findLastIndex(({ role }) => role === 'system')
  // A call is followed by its result, an answer by the next user message.
  const answer = prompt.findLastIndex(({ role }, at) => role === 'assistant' && prompt[at + 1]?.role === 'user')
  const result = prompt.findLastIndex(({ role }) => role === 'tool')
  const places = new Set([system, answer, result].filter((at) => at >= 0))
  const marking = (message: LanguageModelV4Message, at: number): LanguageModelV4Message =>
    places.has(at) ? { ...message, providerOptions: { ...message.providerOptions, ...marked } } : message
  return { ...call, prompt: prompt.map(marking) }
}
