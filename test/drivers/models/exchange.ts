import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { modelProviders, type ProviderConfig } from '@inlay/drivers/model-providers'

const tool: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'search',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
}
const question: LanguageModelV4Message = { role: 'user', content: [{ type: 'text', text: 'How many days?' }] }
const first: LanguageModelV4CallOptions = { prompt: [question], tools: [tool] }

/** Asks a model, and again with the result of its call: what it called, and its answer. */
export async function exchange(config: ProviderConfig): Promise<{ readonly call: unknown; readonly answer: string }> {
  const { model } = await modelProviders({ providers: [config] }).resolve()
  const call = (await partsOf(model, first)).find((part) => part.type === 'tool-call')
  if (!call) return { call, answer: '' }
  const { toolCallId, toolName, providerMetadata } = call
  const kept = providerMetadata && { providerOptions: providerMetadata }
  const parts = await partsOf(model, {
    ...first,
    prompt: [
      question,
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input: { q: 'leave' }, ...kept }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: '25 days' } }],
      },
    ],
  })
  return { call, answer: parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('') }
}

async function partsOf(model: LanguageModelV4, call: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of (await model.doStream(call)).stream) parts.push(part)
  return parts
}

// In a process of its own.
if (import.meta.main) console.log(JSON.stringify(await exchange(JSON.parse(process.argv[2]!) as ProviderConfig)))
