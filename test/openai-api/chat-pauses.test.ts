import type { ScriptStep } from '@inlay/agent/testing'
import { expect, test } from 'vitest'
import { bikeTitle, leaveLink, leaveTitle, openScripted, type Prompt } from './chat-setting.ts'
import { apiKey } from './setting.ts'

const weather = { toolCallId: `long-${'x'.repeat(80)}`, toolName: 'weather', input: '{"city":"Bern"}' }
const call = { type: 'tool-call' as const, ...weather }

/** Searches, calls a tool of the client within its text, and goes on; cites the second document first. */
function script({ prompt }: Prompt): ScriptStep {
  const read = JSON.stringify(prompt)
  if (read.includes('degrees')) return ['Bikes are blue [1], and rules are rules [2].']
  if (!read.includes('25 days of leave'))
    return [
      { reasoning: 'A secret thought.' },
      { call: { name: 'internal_search', input: { queries: ['leave bikes'] } } },
    ]
  return [
    { reasoning: 'Another secret thought.' },
    'There are 25 days [2]. ',
    { part: { ...call, providerMetadata: { scripted: { signature: 'secret' } } } },
    { finish: 'tool-calls' },
  ]
}

const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }]
const user = { role: 'user' as const, content: 'Is it warm?' }

test('numbers count the sources as they are cited, go on behind a pause, and are stored so', async () => {
  const { client, fetch } = await openScripted({}, script)
  const metadata = { chat_session_id: '11111111-2222-4333-8444-777777777777' }
  const request = { model: 'inlay', tools, metadata }
  const first = await client.chat.completions.create({ ...request, messages: [user] })
  const { message } = first.choices[0]!
  expect(message.content).toBe('There are 25 days [1]. ')
  const result = { role: 'tool' as const, tool_call_id: message.tool_calls![0]!.id, content: '21 degrees' }
  const second = await client.chat.completions.create({ ...request, messages: [user, message, result] })
  const { content, annotations = [] } = second.choices[0]!.message
  expect(content).toBe('Bikes are blue [2], and rules are rules [1].')
  expect(message.annotations?.[0]?.url_citation.url).toBe(leaveLink)
  expect(annotations.map(({ url_citation: { title } }) => title)).toEqual([bikeTitle, leaveTitle])
  const path = `http://inlay.test/api/chat/get-chat-session/${metadata.chat_session_id}`
  const session = await fetch(path, { headers: { authorization: `Bearer ${apiKey}` } })
  const { messages } = (await session.json()) as { messages: { message: string; citations: object | null }[] }
  const stored = messages.at(-1)
  expect(stored?.message).toBe(`Bikes are blue [[2]](), and rules are rules [[1]](${leaveLink}).`)
  expect(stored?.citations).toEqual({ 1: 'leave', 2: 'bikes' })
})

test('another model that goes on gets no thoughts, signatures and ids of the first one', async () => {
  const { client, model } = await openScripted({}, script)
  const first = await client.chat.completions.create({ model: 'inlay', tools, messages: [user] })
  const { message } = first.choices[0]!
  const result = { role: 'tool' as const, tool_call_id: message.tool_calls![0]!.id, content: '21 degrees' }
  const prompts = []
  for (const name of ['inlay', 'inlay@other']) {
    await client.chat.completions.create({ model: name, tools, messages: [user, message, result] })
    prompts.push(JSON.stringify(model.requests.at(-1)?.prompt))
  }
  for (const own of ['A secret thought.', 'Another secret thought.', '"secret"', 'long-x'])
    expect(
      prompts.map((prompt) => prompt.includes(own)),
      own,
    ).toEqual([true, false])
  for (const prompt of prompts) for (const text of ['25 days of leave', '21 degrees']) expect(prompt).toContain(text)
})
