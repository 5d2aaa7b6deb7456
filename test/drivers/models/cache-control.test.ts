import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { aiSdkModels } from '@inlay/drivers/internal/models/ai-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { startAnthropic } from '../../stand-in/anthropic.ts'

const text = (role: 'user' | 'assistant', words: string) => ({
  role,
  content: [{ type: 'text' as const, text: words }],
})
const search = (id: string) => [
  {
    role: 'assistant' as const,
    content: [{ type: 'tool-call' as const, toolCallId: id, toolName: 'look', input: {} }],
  },
  {
    role: 'tool' as const,
    content: [
      {
        type: 'tool-result' as const,
        toolCallId: id,
        toolName: 'look',
        output: { type: 'text' as const, value: `result ${id}` },
      },
    ],
  },
]
const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'system', content: 'Rules.' },
  text('user', 'First?'),
  ...search('a'),
  text('assistant', 'The first answer.'),
  text('user', 'Second?'),
  ...search('b'),
  text('user', 'Cite the results.'),
]

test('Anthropic is told how far a prompt will stand again', async () => {
  const server = await startAnthropic([[{ text: 'Yes.' }]])
  onTestFinished(() => server.close())
  const model = aiSdkModels({ type: 'anthropic', name: 'a', baseUrl: `${server.origin}/v1`, apiKey: 'k' })('claude-x')
  const tools = [{ type: 'function' as const, name: 'look', inputSchema: { type: 'object' as const } }]
  const { stream } = await model.doStream({ prompt, tools })
  for await (const part of stream) void part
  const { system, messages } = server.requests[0]?.body ?? {}
  const marks = [system, messages].flat().flatMap((part) => {
    const blocks = typeof part === 'object' && part !== null && 'content' in part ? [part.content].flat() : [part]
    return blocks.filter((block) => JSON.stringify(block).includes('"cache_control":{"type":"ephemeral"}'))
  })
  expect(marks).toEqual([
    expect.objectContaining({ text: 'Rules.' }),
    expect.objectContaining({ text: 'The first answer.' }),
    expect.objectContaining({ content: 'result b' }),
  ])
})
