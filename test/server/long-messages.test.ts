import { scriptedModel } from '@inlay/agent/testing'
import { extractiveModel } from '@inlay/extractive'
import { describe, expect, test } from 'vitest'
import { findsAlways, newPassage, providerOf } from '../agent/setting.ts'
import { newService } from './conversation.ts'

const search = findsAlways(newPassage('leave', 'You get 28 days of leave each year.'))
const messages = {
  'a question again and again': 'How many days of leave do I get each year? '.repeat(19_000),
  'brackets and digits': '[1'.repeat(500_000),
  'a megabyte of spaces': ' '.repeat(1_000_000),
}
const models = {
  'the built-in model': () => providerOf(extractiveModel(), { contextTokens: 200_000, quotesOnly: true }),
  'a model with a window of 100,000 tokens': () => providerOf(scriptedModel(() => ['Yes.'])),
}
const cases = Object.entries(models).flatMap(([model, make]) =>
  Object.entries(messages).map(([name, message]) => [`${name}, ${model}`, make, message] as const),
)

describe('a message that is longer than the model reads', () => {
  test.each(cases)('%s', async (_name, make, message) => {
    const { fetchJson, ask } = await newService([], { models: make(), search })
    const { status, body } = await fetchJson('/chat/send-chat-message', { json: { message, stream: false } })
    expect(status).toBe(200)
    expect(body).toMatchObject({ answer: '', error_msg: expect.stringMatching(/send a shorter one/) })
    const stream = await (await ask('/chat/send-chat-message', { json: { message } })).text()
    expect(stream).toContain('"error_code":"CONTEXT_TOO_LONG"')
  })
})

test('a long message that fits is answered', async () => {
  const { fetchJson } = await newService([['Yes.']], { models: providerOf(scriptedModel([['Yes.']])) })
  const message = 'How many days of leave do I get each year? '.repeat(7_000)
  const { body } = await fetchJson('/chat/send-chat-message', { json: { message, stream: false } })
  expect(body).toMatchObject({ answer: 'Yes.', error_msg: null })
})
