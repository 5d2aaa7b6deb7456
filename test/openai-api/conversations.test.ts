import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Agent, OpenAIConversationsSession, OpenAIProvider, Runner, tool } from '@openai/agents'
import { operator } from 'inlay'
import type OpenAI from 'openai'
import { expect, test } from 'vitest'
import { conversationSession } from '@inlay/openai-api/internal/response-ids'
import { openScripted } from './chat-setting.ts'

const question = 'How many days of leave?'
const answer = 'There are 25 days of leave [1].'

async function itemsOf(client: OpenAI, id: string): Promise<unknown[]> {
  const items = []
  for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 2 })) items.push(item)
  return items
}

test('a new conversation keeps its subject over responses, and lists their items in order', async () => {
  const { client, model } = await openScripted()
  const { id, object } = await client.conversations.create()
  expect(object).toBe('conversation')
  const first = await client.responses.create({ model: 'inlay', conversation: id, input: question })
  await client.responses.create({ model: 'inlay', conversation: id, input: 'And which colour have the bikes?' })
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('25 days of leave')
  const items = await itemsOf(client, id)
  const search = { type: 'file_search_call', results: null }
  const answers = [{ type: 'reasoning' }, search, { type: 'message', role: 'assistant' }]
  const user = { type: 'message', role: 'user' }
  expect(items).toMatchObject([
    { ...user, content: [{ type: 'input_text', text: question }] },
    ...answers,
    user,
    ...answers,
  ])
  expect(items.slice(1, 4)).toEqual(first.output)
  const { id: itemId = '' } = first.output[2] ?? {}
  expect(await client.conversations.items.retrieve(itemId, { conversation_id: id })).toEqual(first.output[2])
  await expect(client.conversations.items.retrieve('msg_9', { conversation_id: id })).rejects.toMatchObject({
    status: 404,
  })
  const refusal = client.conversations.items.delete(itemId, { conversation_id: id })
  await expect(refusal).rejects.toMatchObject({ status: 400, param: 'item_id' })
  expect(await client.conversations.delete(id)).toMatchObject({ id, deleted: true })
  await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 })
  await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
})

test('a conversation begins with items, and keeps its metadata', async () => {
  const { client, model } = await openScripted()
  const { id, metadata } = await client.conversations.create({
    metadata: { topic: 'demo' },
    items: [
      { type: 'message', role: 'user', content: 'My lucky number is 4711.' },
      { role: 'assistant', content: 'I keep it in mind.' },
    ],
  })
  expect(metadata).toEqual({ topic: 'demo' })
  const added = await client.conversations.items.create(id, {
    items: [
      { role: 'user', content: 'My cat is Mia.' },
      { role: 'assistant', content: ' ' },
    ],
  })
  expect(added.data).toMatchObject([{ role: 'user', content: [{ text: 'My cat is Mia.' }] }])
  await client.responses.create({ model: 'inlay', conversation: { id }, input: question })
  const prompt = JSON.stringify(model.requests[0]?.prompt)
  for (const text of ['4711', 'I keep it in mind.', 'Mia', question]) expect(prompt).toContain(text)
  await client.conversations.update(id, { metadata: { topic: 'leave' } })
  expect(await client.conversations.retrieve(id)).toMatchObject({ id, metadata: { topic: 'leave' } })

  const cases: [items: object[], param: string][] = [
    [[{ role: 'system', content: 'Be kind.' }], 'items'],
    [[{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }], 'items.0.content'],
    [Array.from({ length: 21 }, () => ({ role: 'user', content: 'x' })), 'items'],
  ]
  for (const [items, param] of cases)
    await expect(client.post('/conversations', { body: { items } })).rejects.toMatchObject({ status: 400, param })
})

test('the metadata of a conversation goes with its session, however that is erased', async () => {
  const clock = { time: Date.now() }
  const { client, inlay, folder } = await openScripted({ now: () => clock.time })
  const [first, second, third] = await Promise.all(
    ['a', 'b', 'c'].map((topic) => client.conversations.create({ metadata: { topic } })),
  )
  const topics = () => {
    using records = new DatabaseSync(join(folder, 'inlay.db'), { readOnly: true })
    const rows = records.prepare("select value from inlay_workspace where kind = 'conversation' order by value").all()
    return rows.map((row) => /"topic":"(.)"/.exec(String(row['value']))?.[1]).toSorted()
  }
  expect(topics()).toEqual(['a', 'b', 'c'])
  await client.conversations.delete(first!.id)
  expect(topics()).toEqual(['b', 'c'])
  await inlay.agent.sessions.remove(conversationSession(second!.id), operator, { erase: true })
  expect(topics()).toEqual(['c'])
  clock.time += 31 * 86_400_000
  await inlay.agent.eraseExpired({ unchangedSince: clock.time - 30 * 86_400_000, limit: 100 })
  await expect(client.conversations.retrieve(third!.id)).rejects.toMatchObject({ status: 404 })
  expect(topics()).toEqual([])
})

test('results of a client’s tools alone go on with the question in their conversation', async () => {
  const { client } = await openScripted()
  const weather = tool({
    name: 'weather',
    description: 'The weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: [], additionalProperties: true },
    strict: false,
    execute: async () => '21 degrees',
  })
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }),
    tracingDisabled: true,
  })
  const agent = new Agent({ name: 'Office', model: 'inlay', tools: [weather] })
  const { id } = await client.conversations.create()
  const { finalOutput } = await runner.run(agent, 'How warm is it in Bern?', { conversationId: id })
  expect(finalOutput).toBe('It has 21 degrees in Bern.')
  expect(await itemsOf(client, id)).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
})

test('a conversation of others is not there', async () => {
  const { client, clientAt, inlay } = await openScripted()
  const { id } = await client.conversations.create()
  const other = await inlay.keys.create({ name: 'other', scopes: ['chat'] })
  const stranger = clientAt('http://inlay.test/v1', { apiKey: other.key })
  for (const attempt of [
    stranger.conversations.retrieve(id),
    stranger.conversations.update(id, { metadata: {} }),
    stranger.conversations.items.create(id, { items: [{ role: 'user', content: 'x' }] }),
    stranger.responses.create({ model: 'inlay', conversation: id, input: 'x' }),
    stranger.conversations.delete(id),
  ])
    await expect(attempt).rejects.toMatchObject({ status: 404 })
})

test('a session of OpenAI’s agents remembers what was said', async () => {
  const { client, model } = await openScripted()
  const session = new OpenAIConversationsSession({ client })
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }),
    tracingDisabled: true,
  })
  const agent = new Agent({ name: 'Office', model: 'inlay' })
  expect((await runner.run(agent, question, { session })).finalOutput).toBe(answer)
  await runner.run(agent, 'And which colour have the bikes?', { session })
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('25 days of leave')
  expect(await session.getItems()).toHaveLength(4)
  await session.clearSession()
})
