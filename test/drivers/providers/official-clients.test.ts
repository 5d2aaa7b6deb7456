import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { generateText, isStepCount, jsonSchema, streamText, tool, type ModelMessage } from 'ai'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RecordedRequest, Reply } from '../../stand-in/model-server.ts'
import { providers } from '../../stand-in/providers/index.ts'
import { startProvider, type ProviderModel } from '../../stand-in/providers/provider.ts'

// What the official clients send must pass: a stand-in that refuses it has a rule that its provider does not have.

const compatible = ({ baseUrl, apiKey }: ProviderModel, id: string): LanguageModelV4 =>
  createOpenAICompatible({ name: 'provider', baseURL: baseUrl, apiKey, includeUsage: true })(id)

const azure = ({ baseUrl, apiKey }: ProviderModel, id: string): LanguageModelV4 => {
  const { origin, pathname, searchParams } = new URL(baseUrl)
  const queryParams = Object.fromEntries(searchParams)
  return createOpenAICompatible({ name: 'azure', baseURL: origin + pathname, queryParams, apiKey, includeUsage: true })(
    id,
  )
}

/** Clients of a provider's own; all others speak to it as OpenAI's. */
const clients: Partial<Record<string, typeof compatible>> = {
  openai: ({ baseUrl, apiKey }, id) => createOpenAI({ baseURL: baseUrl, apiKey }).chat(id),
  azure,
  anthropic: ({ baseUrl, apiKey }, id) => createAnthropic({ baseURL: baseUrl, apiKey })(id),
}

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

// They refuse what the common client sends.
const needOwnClient = ['mistral', 'groq', 'openrouter']
for (const key of needOwnClient) test.todo(`${key} takes three turns of its official client`)

describe.each(Object.entries(providers).filter(([key]) => !needOwnClient.includes(key)))('%s', (key, provider) => {
  test('takes three turns of its official client, streamed and whole', async () => {
    const server = await startProvider(provider, script)
    onTestFinished(server.close)
    const model = (clients[key] ?? compatible)(server.model, provider.modelId)
    const messages: ModelMessage[] = []
    for (const streams of [true, false, true]) {
      messages.push({ role: 'user', content: 'How is it in Oslo?' })
      const call = { model, tools, messages, stopWhen: isStepCount(3), maxRetries: 0 }
      const result = streams ? streamText(call) : await generateText(call)
      expect(await result.text).toBe('It is mild.')
      messages.push(...(await result.responseMessages))
    }
    expect(server.refused).toEqual([])
  })
})
