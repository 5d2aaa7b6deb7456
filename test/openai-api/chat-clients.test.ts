import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText } from 'ai'
import { expect, test } from 'vitest'
import { leaveLink, leaveTitle, openScripted } from './chat-setting.ts'
import { apiKey } from './setting.ts'

const prompt = 'How many days of leave?'
const said = 'There are 25 days of leave [1].'
const baseURL = 'http://inlay.test/v1'

test('the AI SDK shows the source of an answer, whole and streamed', async () => {
  const { fetch } = await openScripted()
  const model = createOpenAI({ baseURL, apiKey, fetch }).chat('inlay')
  const source = { type: 'source', sourceType: 'url', url: leaveLink, title: leaveTitle }
  const whole = await generateText({ model, prompt })
  expect(whole.text).toBe(said)
  expect(whole.sources).toMatchObject([source])
  const streamed = streamText({ model, prompt })
  expect(await streamed.text).toBe(said)
  expect(await streamed.sources).toMatchObject([source])
  expect(await streamed.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 })
  const compatible = createOpenAICompatible({ name: 'inlay', baseURL, apiKey, fetch, includeUsage: true })
  const other = streamText({ model: compatible('inlay'), prompt })
  expect(await other.text).toBe(said)
  expect(await other.reasoningText).toBe('I look it up.')
  expect(await other.finishReason).toBe('stop')
})

test('LangChain reads answers, chunks and failures', async () => {
  const { fetch } = await openScripted()
  const model = new ChatOpenAI({ model: 'inlay', apiKey, maxRetries: 0, configuration: { baseURL, fetch } })
  const whole = await model.invoke(prompt)
  expect(whole.text).toBe(said)
  expect(whole.usage_metadata).toMatchObject({ total_tokens: 30 })
  let text = ''
  for await (const chunk of await model.stream([new HumanMessage(prompt)])) text += chunk.text
  expect(text).toBe(said)
  const broken = await model.stream('break')
  await expect(async () => {
    for await (const chunk of broken) text += chunk.text
  }).rejects.toThrow(/failed/)
  await expect(
    new ChatOpenAI({ model: 'gpt-5', apiKey, configuration: { baseURL, fetch } }).invoke(prompt),
  ).rejects.toThrow(/does not exist/)
})
