import { createOpenAI } from '@ai-sdk/openai'
import { streamText, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { leaveLink, openScripted } from './chat-setting.ts'
import { apiKey } from './setting.ts'

const leave = { role: 'user' as const, content: 'How many days of leave?' }
const sessionsOf = async (fetch: typeof globalThis.fetch): Promise<{ id: string; name: string }[]> => {
  const headers = { authorization: `Bearer ${apiKey}` }
  const answer = await fetch('http://inlay.test/api/chat/get-user-chat-sessions', { headers })
  return ((await answer.json()) as { sessions: { id: string; name: string }[] }).sessions
}

test('nothing is stored unless it is asked for, and the history is that of the request', async () => {
  const { client, fetch, model } = await openScripted()
  const messages = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'Who are you?' },
    { role: 'assistant' as const, content: 'A heron.' },
    leave,
  ]
  await client.chat.completions.create({ model: 'inlay', messages })
  const prompt = JSON.stringify(model.requests[0]?.prompt)
  expect(prompt).toContain('A heron.')
  expect(prompt).toContain('Be brief.')
  expect(await sessionsOf(fetch)).toEqual([])
  const headers = { 'X-OpenWebUI-Chat-Id': 'chat 7' }
  for (const _ of [1, 2]) await client.chat.completions.create({ model: 'inlay', messages }, { headers })
  expect(await sessionsOf(fetch)).toHaveLength(1)
  const [{ prompt: last } = { prompt: [] }] = model.requests.slice(-1)
  expect(JSON.stringify(last).split('A heron.')).toHaveLength(2)
})

test('several agents answer in one session that a request names', async () => {
  const agents = [{ name: 'Sailor', instructions: 'Speak like a sailor.' }]
  const { client, fetch, model } = await openScripted({ agents })
  const metadata = { chat_session_id: 'harbour' }
  for (const name of ['inlay', 'inlay/sailor', 'inlay', 'inlay/sailor'])
    await client.chat.completions.create({ model: name, metadata, messages: [leave] })
  expect(await sessionsOf(fetch)).toHaveLength(1)
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('Speak like a sailor.')
  const { id } = await client.conversations.create()
  const answered = await client.responses.create({ model: 'inlay/sailor', conversation: id, input: leave.content })
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('Speak like a sailor.')
  expect(await client.responses.retrieve(answered.id)).toMatchObject({ model: 'inlay/sailor' })
})

test('a stored answer that goes on behind a tool of the client is another one to the same question', async () => {
  const { client, fetch } = await openScripted()
  const request = {
    model: 'inlay',
    tools: [
      { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
    ],
    metadata: { chat_session_id: '11111111-2222-4333-8444-777777777777' },
  }
  const question = { role: 'user' as const, content: 'How warm is it?' }
  const first = await client.chat.completions.create({ ...request, messages: [question] })
  const { message } = first.choices[0]!
  const [call] = message.tool_calls ?? []
  const result = { role: 'tool' as const, tool_call_id: call!.id, content: '21 degrees' }
  await client.chat.completions.create({ ...request, messages: [question, message, result] })
  const headers = { authorization: `Bearer ${apiKey}` }
  const path = `http://inlay.test/api/chat/get-chat-session/${request.metadata.chat_session_id}`
  const { messages } = (await (await fetch(path, { headers })).json()) as { messages: { message_type: string }[] }
  expect(messages.map(({ message_type: type }) => type).filter((type) => type !== 'system')).toEqual([
    'user',
    'assistant',
    'assistant',
  ])
})

test.each([
  ['Open WebUI', '### Task:\nGenerate a title for leave.'],
  [
    'LibreChat',
    'Provide a concise, 5-word-or-less title for the conversation.\n\nConversation:\nUser: leave?\n### Task:',
  ],
])('requests of %s for a title get no tools and are not stored', async (_, content) => {
  const { client, fetch, model } = await openScripted()
  const messages = [{ role: 'user' as const, content }]
  const answer = await client.chat.completions.create({ model: 'inlay', messages, store: true })
  expect(answer.choices[0]?.message.content).toBe('A title')
  expect(model.requests).toHaveLength(1)
  expect(await sessionsOf(fetch)).toEqual([])
})

test('a tool of the client runs beside the search, and a schema gives JSON', async () => {
  const { client, fetch } = await openScripted()
  const weather = tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `21 degrees in ${city}`,
  })
  const model = createOpenAI({ baseURL: 'http://inlay.test/v1', apiKey, fetch }).chat('inlay')
  const { toolCalls, response } = streamText({ model, prompt: 'Weather?', tools: { weather } })
  expect(await toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Bern' } }])
  const messages = [{ role: 'user' as const, content: 'Weather?' }, ...(await response).messages]
  expect(await streamText({ model, messages, tools: { weather } }).text).toBe('It has 21 degrees in Bern.')
  const json = await client.chat.completions.create({
    model: 'inlay',
    messages: [leave],
    response_format: { type: 'json_object' },
  })
  expect(json.choices[0]?.message.content).toBe('{"days":25}')
  const answer = await client.chat.completions.create({ model: 'inlay', messages: [leave] })
  expect(answer.choices[0]?.message.annotations?.[0]?.url_citation.url).toBe(leaveLink)
})
