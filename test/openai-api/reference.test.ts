import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { openScripted } from './chat-setting.ts'

const question = 'How many days of leave?'

test('answers, chunks and events are as their schemas in the OpenAPI document say', async () => {
  const { client, fetch } = await openScripted()
  const ajv = new Ajv2020({ strict: false })
  ajv.addSchema(await (await fetch('http://inlay.test/v1/openapi.json')).json(), 'api')
  const faultsOf = (path: string, type: string, value: unknown): unknown => {
    const place = `/paths/~1v1~1${path.replace('/', '~1')}/post/responses/200/content/${type.replace('/', '~1')}/schema`
    const validate = ajv.getSchema(`api#${place}`)!
    return validate(value) ? null : validate.errors
  }
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }]
  const messages = [{ role: 'user' as const, content: question }]
  for (const request of [{ messages }, { messages, tools }]) {
    const chat = { model: 'inlay', stream_options: { include_usage: true }, ...request }
    const whole = await client.chat.completions.create(chat)
    expect(faultsOf('chat/completions', 'application/json', { ...whole })).toBeNull()
    for await (const chunk of await client.chat.completions.create({ ...chat, stream: true }))
      expect(faultsOf('chat/completions', 'text/event-stream', chunk)).toBeNull()
  }
  const response = await client.responses.create({ model: 'inlay', input: question })
  expect(faultsOf('responses', 'application/json', response)).toBeNull()
  for await (const event of await client.responses.create({ model: 'inlay', input: question, stream: true }))
    expect(faultsOf('responses', 'text/event-stream', event)).toBeNull()
  expect(faultsOf('chat/completions', 'application/json', { choices: [] })).not.toBeNull()
  expect(faultsOf('responses', 'application/json', { ...response, status: 'done' })).not.toBeNull()
})
