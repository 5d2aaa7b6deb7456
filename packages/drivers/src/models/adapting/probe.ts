import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'
import type { ModelFact } from '@inlay/agent'
import { isJsonObject, readJson } from '@inlay/protocol'

/** What a model does by itself. */
export type ModelAbilities = Omit<ModelFact, 'from'>

/** Where abilities are recorded, by the address of the server and the name of the model. */
export interface AbilityRecords {
  read(key: string): Promise<ModelAbilities | undefined>
  write(key: string, abilities: ModelAbilities): Promise<void>
}

const system =
  'Look up what you are asked with the tool `look_up`. Behind each statement that you take from a result, put its number (the ' +
  'field "document") in square brackets.'
const question = 'On which floor is the library?'
const results = JSON.stringify({ results: [{ document: 1, content: 'The library is on the third floor.' }] })

const tool: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'look_up',
  description: 'Finds what is known about a place in the building.',
  inputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
}

/** @throws what its call threw, or when an answer was cut off, which say nothing about the model */
export async function probeModel(model: LanguageModelV4, abortSignal: AbortSignal): Promise<ModelAbilities> {
  const prompt: LanguageModelV4Prompt = [
    { role: 'system', content: system },
    { role: 'user', content: [{ type: 'text', text: question }] },
  ]
  const call = { tools: [tool], toolChoice: { type: 'auto' as const }, maxOutputTokens: 2_000, abortSignal }
  const { call: first } = await readAnswer(model, { ...call, prompt })
  if (first?.toolName !== tool.name) return { callsTools: false, cites: false }
  const { toolCallId, toolName, input, providerMetadata } = first
  const known = readJson(input)
  const exchange: LanguageModelV4Prompt = [
    {
      role: 'assistant',
      content: [
        {
          type: 'tool-call',
          toolCallId,
          toolName,
          input: isJsonObject(known) ? known : {},
          ...(providerMetadata && { providerOptions: providerMetadata }),
        },
      ],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: results } }],
    },
  ]
  const { text } = await readAnswer(model, { ...call, prompt: [...prompt, ...exchange] })
  return { callsTools: true, cites: /[[【]\s*1\s*[\]】]/.test(text) }
}

/** The text of an answer and its first call. @throws unless the model ended the answer itself */
async function readAnswer(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<{ readonly text: string; readonly call: LanguageModelV4ToolCall | undefined }> {
  const { stream } = await model.doStream(options)
  let text = ''
  let call: LanguageModelV4ToolCall | undefined
  let end: string | undefined
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.delta
    else if (part.type === 'tool-call') call ??= part
    else if (part.type === 'finish') end = part.finishReason.unified
    else if (part.type === 'error') throw part.error
  }
  if (end !== 'stop' && end !== 'tool-calls') throw new Error(`The answer ended with ${end}.`)
  return { text, call }
}
