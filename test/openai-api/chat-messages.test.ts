import { readMessages, type messageSchema } from '@inlay/openai-api/internal/chat-messages'
import { chatRequestSchema, readChatRequest } from '@inlay/openai-api/internal/chat-request'
import * as v from 'valibot'
import { expect, test } from 'vitest'

type Message = v.InferOutput<typeof messageSchema>
const call = (id: string): Message => ({
  role: 'assistant',
  content: 'I look.',
  tool_calls: [{ id, function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
})
const result = (id: string): Message => ({ role: 'tool', tool_call_id: id, content: '21 degrees' })
const step = (id: string) => ({
  text: 'I look.',
  calls: [{ id, name: 'weather', arguments: '{"city":"Bern"}', result: '21 degrees' }],
})

test('a conversation becomes instructions, history, message and steps', () => {
  const read = readMessages([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather?' },
    call('a'),
    result('a'),
    { role: 'assistant', content: 'Warm.' },
    { role: 'developer', content: 'In English.' },
    { role: 'user', content: 'This:' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${btoa('x')}` } }] },
    { role: 'user', content: 'And now?' },
    call('b'),
    result('b'),
  ])
  const [picture] = read.files
  expect(read).toMatchObject({
    instructions: 'Be brief.\n\nIn English.',
    history: [
      { role: 'user', text: 'Weather?', fileIds: [] },
      { role: 'assistant', text: 'Warm.', steps: [step('a')] },
    ],
    // Messages of the user without an answer between them are one.
    message: { text: 'This:\n\nAnd now?', fileIds: [picture?.id] },
    steps: [step('b')],
  })
  expect(() => readMessages([{ role: 'user', content: 'Weather?' }, call('a')])).toThrow(/"a" has no result/)
})

const read = (body: object, named?: string) =>
  readChatRequest(
    v.parse(chatRequestSchema, { model: 'inlay', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    named,
    { id: 'ana', scopes: ['chat'] },
  )

test('parameters, tools and formats reach the engine; nulls and unknown fields are ignored', async () => {
  const weather = { name: 'weather', parameters: { type: 'object' } }
  const { client } = await read({
    temperature: 0,
    top_p: null,
    max_tokens: 5,
    max_completion_tokens: 7,
    stop: 'END',
    seed: 1,
    reasoning_effort: 'low',
    logit_bias: { 50256: -100 },
    tools: [{ type: 'function', function: { ...weather, description: null, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    response_format: { type: 'json_schema', json_schema: { name: 'days', schema: { type: 'object' } } },
  })
  expect(client).toMatchObject({
    isStored: false,
    tools: [{ ...weather, strict: true }],
    toolChoice: { name: 'weather' },
    parameters: {
      temperature: 0,
      maxOutputTokens: 7,
      stopSequences: ['END'],
      seed: 1,
      reasoning: 'low',
      responseFormat: { name: 'days', schema: { type: 'object' } },
    },
  })
  expect(client.parameters?.topP).toBeUndefined()
})

test('it is stored where a session is named or store is true, and never for helper requests', async () => {
  const id = '5f1c6f2e-0b8e-4a39-9d0a-6f5b3b1f8a10'
  expect((await read({})).client).toMatchObject({ isStored: false, history: [] })
  expect((await read({ store: true })).client).toMatchObject({ isStored: true })
  expect((await read({}, id)).client).toMatchObject({ isStored: true, sessionId: id })
  const [first, second, other] = await Promise.all([read({}, 'chat 7'), read({}, 'chat 7'), read({}, 'chat 8')])
  expect(first.client.sessionId).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  expect(second.client.sessionId).toBe(first.client.sessionId)
  expect(other.client.sessionId).not.toBe(first.client.sessionId)
  const helper = await read({ store: true, messages: [{ role: 'user', content: '### Task:\nGenerate a title' }] }, id)
  expect(helper.client).toMatchObject({ isStored: false, tools: [], toolChoice: 'none' })
  expect(helper.message.allowed_tool_ids).toEqual([])
})
