import type { LanguageModelV4 } from '@ai-sdk/provider'
import { generateText, isStepCount, jsonSchema, streamText, tool, type ModelMessage } from 'ai'
import type { RecordedRequest, Reply } from '../../stand-in/model-server.ts'
import { providers, type ProviderName } from '../../stand-in/providers/index.ts'
import { startProvider, type ProviderModel } from '../../stand-in/providers/provider.ts'

type Client = (model: ProviderModel, id: string) => Promise<LanguageModelV4>

const compatible: Client = async ({ baseUrl, apiKey }, id) => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const { origin, pathname, searchParams } = new URL(baseUrl)
  const queryParams = Object.fromEntries(searchParams)
  const address = { baseURL: origin + pathname, queryParams }
  return createOpenAICompatible({ name: 'provider', ...address, apiKey, includeUsage: true })(id)
}

/** Clients of a provider's own; all others are spoken to as OpenAI's. */
const clients: Partial<Record<ProviderName, Client>> = {
  openai: async (access, id) => (await import('@ai-sdk/openai')).createOpenAI(toSdk(access)).chat(id),
  openaiResponses: async (access, id) => (await import('@ai-sdk/openai')).createOpenAI(toSdk(access)).responses(id),
  anthropic: async (access, id) => (await import('@ai-sdk/anthropic')).createAnthropic(toSdk(access))(id),
  gemini: async (access, id) => (await import('@ai-sdk/google')).createGoogle(toSdk(access))(id),
  deepseek: async (access, id) => (await import('@ai-sdk/deepseek')).createDeepSeek(toSdk(access))(id),
  mistral: async (access, id) => (await import('@ai-sdk/mistral')).createMistral(toSdk(access))(id),
  groq: async (access, id) => (await import('@ai-sdk/groq')).createGroq(toSdk(access))(id),
  xai: async (access, id) => (await import('@ai-sdk/xai')).createXai(toSdk(access))(id),
  openrouter: async (access, id) => (await import('@openrouter/ai-sdk-provider')).createOpenRouter(toSdk(access))(id),
  bedrock: async (access, id) =>
    (await import('@ai-sdk/amazon-bedrock')).createAmazonBedrock({ ...toSdk(access), region: 'us-east-1' })(id),
}

const toSdk = ({ baseUrl: baseURL, apiKey }: ProviderModel): { baseURL: string; apiKey: string } => ({
  baseURL,
  apiKey,
})

const answered = ({ body }: RecordedRequest): boolean => JSON.stringify(body).includes('18 degrees')
const script = (request: RecordedRequest): Reply =>
  answered(request)
    ? [{ reasoning: 'I know.' }, { text: 'It is ' }, { text: 'mild.' }]
    : [{ reasoning: 'I ask.' }, { calls: [{ id: 'c', name: 'get_weather', input: { city: 'Oslo' } }] }]

const tools = {
  get_weather: tool({
    description: 'The weather of a city.',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: () => '18 degrees',
  }),
}

/** Three turns of a provider's official client, streamed, whole and streamed: what is answered, and what is refused. */
export async function converse(name: ProviderName): Promise<{ texts: string[]; refused: string[] }> {
  const server = await startProvider(providers[name], script)
  const model = await (clients[name] ?? compatible)(server.model, providers[name].modelId)
  const messages: ModelMessage[] = []
  const texts: string[] = []
  const providerOptions = { openai: { store: false } }
  for (const streams of [true, false, true]) {
    messages.push({ role: 'user', content: 'How is it in Oslo?' })
    const call = { model, tools, messages, stopWhen: isStepCount(3), maxRetries: 0, providerOptions }
    try {
      const result = streams ? streamText({ ...call, onError: () => {} }) : await generateText(call)
      texts.push(await result.text)
      messages.push(...(await result.responseMessages))
    } catch (error) {
      texts.push(String(error))
    }
  }
  await server.close()
  return { texts, refused: server.refused.map(({ rule, message }) => `${rule}: ${message}`) }
}
