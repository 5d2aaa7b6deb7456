import { expect, onTestFinished, test } from 'vitest'
import { startOpenAi } from '../../stand-in/openai.ts'
import { overServer } from './fixture.ts'

const markups = [
  '<think>is a tag, and so is</think> the other.',
  '[TOOL_CALLS] [{"name": "internal_search", "arguments": {"queries": ["keys"]}}]',
  'A stray </think> in prose.',
  '```xml\n<think>in code</think>\n<tool_call>{"name": "internal_search"}</tool_call>\n```',
]

test.each(markups)('a model that calls tools shows what it writes, streamed and whole: %s', async (text) => {
  const parts = text.match(/[^]{1,5}/g)!.map((part) => ({ text: part }))
  const server = await startOpenAi(() => parts)
  onTestFinished(() => server.close())
  const { ask, post } = await overServer(server, { name: 'gpt-4.1-mini' })
  expect((await ask('How is it written?')).answer).toBe(text)
  const response = await post('/chat/send-chat-message', { message: 'How is it written?' })
  const lines = (await response.text()).match(/(?<=^(?:data: )?)\{.*$/gm) ?? []
  const streamed = lines.map((line) => JSON.parse(line) as { obj?: { type: string; content?: string } })
  expect(streamed.map(({ obj }) => (obj?.type === 'message_delta' ? obj.content : '')).join('')).toBe(text)
  expect(server.requests).toHaveLength(2)
})
