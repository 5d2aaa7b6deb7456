import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { MetadataExtractor } from '@ai-sdk/openai-compatible'
import { isJsonObject } from '@inlay/protocol'

/** Signed thoughts in a delta, as OpenRouter and LiteLLM name them: both want them back with the message, unchanged. */
export const reasoningLists = ['reasoning_details', 'thinking_blocks'] as const

type Fields = Record<string, unknown>

export const hasReasoningLists = (delta: Readonly<Fields>): boolean =>
  reasoningLists.some((name) => Array.isArray(delta[name]) && delta[name].length > 0)

/** Adds the signed thoughts of a delta; texts come token by token and end with their signature. */
export function addReasoningLists(all: Fields, delta: Readonly<Fields>): void {
  for (const name of reasoningLists) {
    const [known, more] = [all[name] ?? [], delta[name]]
    if (!Array.isArray(known) || !Array.isArray(more) || more.length === 0) continue
    for (const entry of more.filter(isJsonObject)) {
      // An entry of before is a copy made here.
      const last = known.at(-1) as Fields | undefined
      const isMore = last?.['type'] === entry['type'] && last?.['index'] === entry['index'] && !last?.['signature']
      if (!last || !isMore || entry['data'] !== undefined) known.push({ ...entry })
      else
        for (const [field, value] of Object.entries(entry)) {
          const isText = field === 'text' || field === 'summary' || field === 'thinking'
          last[field] = isText ? `${last[field] ?? ''}${value ?? ''}` : (value ?? last[field])
        }
    }
    all[name] = known
  }
}

const key = 'inlay'

/** Collects signed thoughts, and whether plain ones came as `reasoning`, which the SDK would send as `reasoning_content`. */
export const reasoningExtractor: MetadataExtractor = {
  extractMetadata: async () => undefined,
  createStreamExtractor: () => {
    const fields: Fields = {}
    return {
      processChunk: (chunk) => {
        const choice: unknown = isJsonObject(chunk) && Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined
        const delta = isJsonObject(choice) ? choice['delta'] : undefined
        if (!isJsonObject(delta)) return
        if (delta['reasoning'] && !delta['reasoning_content']) fields['isReasoning'] = true
        addReasoningLists(fields, delta)
      },
      // Parts of a JSON text.
      buildMetadata: () => (Object.keys(fields).length > 0 ? { [key]: fields as Metadata } : undefined),
    }
  },
}

type Metadata = NonNullable<Extract<LanguageModelV4StreamPart, { type: 'reasoning-end' }>['providerMetadata']>[string]

/** What has to come back, as a part of the reasoning at the end of a step. */
export function toReasoningPart(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart[] {
  const fields = part.type === 'finish' ? part.providerMetadata?.[key] : undefined
  return fields ? [{ type: 'reasoning-end', id: key, providerMetadata: { [key]: fields } }] : []
}

/** The call with what earlier steps gave, in the fields where it came. */
export function withReasoningFields(call: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  return { ...call, prompt: call.prompt.map(withFields) }
}

function withFields(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'assistant') return message
  const parts = message.content.filter((part) => part.type === 'reasoning')
  const fields = parts.find(({ providerOptions }) => providerOptions?.[key])?.providerOptions?.[key]
  if (!fields) return message
  const { isReasoning, ...lists } = fields
  const reasoning = parts.map(({ text }) => text).join('') || undefined
  const given = isReasoning === true ? { ...lists, reasoning, reasoning_content: undefined } : lists
  return { ...message, providerOptions: { ...message.providerOptions, openaiCompatible: given } }
}
