import type { ChatFullResponse, LlmProviders } from '@inlay/protocol'
import type { ModelTest } from '@inlay/protocol/administration'
import { expect, onTestFinished, test } from 'vitest'
import type { Replies, StandIn } from '../../../stand-in/model-server.ts'
import { startOpenAi } from '../../../stand-in/openai.ts'
import { newInstallation } from './installation.ts'

const path = '/admin/llm/provider'
const secretKey = 'a-random-text-of-the-host'
const key = 'sk-unguessable-hunter2'
const ask = { message: 'Hello, who are you?', stream: false }

async function start(replies: Replies = [[{ text: 'I am the added model.' }]]): Promise<StandIn> {
  const server = await startOpenAi(replies)
  onTestFinished(() => server.close())
  return server
}

const optionsFor = (server: StandIn, more: object = {}) => ({
  secretKey,
  egress: { allowHosts: [new URL(server.origin).host] },
  sessionNames: 'off' as const,
  memories: false,
  ...more,
})

const change = (server: StandIn, more: object = {}) => ({
  name: 'Ours',
  provider: 'openai_compatible',
  api_base: `${server.origin}/v1/`,
  api_key: key,
  api_key_changed: true,
  model_configurations: [
    { name: 'gpt-4o', is_visible: true },
    { name: 'hidden', is_visible: false },
  ],
  ...more,
})

test('a model that is added answers at once, also by default and after a restart, and its key is never shown', async () => {
  const server = await start()
  const { call, restart } = await newInstallation(optionsFor(server))
  const saved = await call<LlmProviders['providers'][number]>('PUT', `${path}?is_creation=true`, change(server))
  expect(saved).toMatchObject({
    status: 200,
    body: { name: 'Ours', api_key: '********', api_base: `${server.origin}/v1` },
  })
  expect(saved.body.model_configurations.map(({ name }) => name)).toEqual(['gpt-4o'])
  const override = { model_provider: 'Ours', model_version: 'gpt-4o' }
  expect((await call<ModelTest>('POST', '/admin/llm/test', override)).body).toMatchObject({ ok: true })
  const overridden = { ...ask, llm_override: override }
  expect((await call<ChatFullResponse>('POST', '/chat/send-chat-message', overridden)).body.answer).toBe(
    'I am the added model.',
  )
  expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)

  const listed = (await call<LlmProviders>('GET', '/llm/provider')).body
  const offered = listed.providers.flatMap(({ model_configurations: models }) => models)
  expect(offered.map(({ name }) => name)).toEqual(['extractive', 'gpt-4o'])
  const byId = { ...ask, llm_override: { model_configuration_id: offered[1]!.id } }
  expect((await call<ChatFullResponse>('POST', '/chat/send-chat-message', byId)).body.answer).toBe(
    'I am the added model.',
  )

  const { id } = saved.body
  expect((await call('POST', '/admin/llm/default', { provider_id: id, model_name: 'gpt-4o' })).status).toBe(200)
  expect((await call<LlmProviders>('GET', path)).body.default_text).toEqual({ provider_id: id, model_name: 'gpt-4o' })
  await restart()
  expect((await call<ChatFullResponse>('POST', '/chat/send-chat-message', ask)).body.answer).toBe(
    'I am the added model.',
  )
  expect(JSON.stringify([saved, await call('GET', path), await call('GET', '/admin/audit')])).not.toContain('hunter2')

  expect(await call('DELETE', `${path}/${id}`)).toMatchObject({ status: 400, body: { error_code: 'VALIDATION_ERROR' } })
  expect((await call('POST', '/admin/llm/default', { provider_id: 1, model_name: 'extractive' })).status).toBe(200)
  expect((await call('DELETE', `${path}/${id}`)).status).toBe(200)
  expect((await call('POST', '/chat/send-chat-message', overridden)).status).toBe(400)
})

test('a key stays with its address, and is kept unless it is changed', async () => {
  const server = await start()
  const { call } = await newInstallation(optionsFor(server))
  const { body: saved } = await call<{ id: number }>('PUT', `${path}?is_creation=true`, change(server))
  const kept = { ...change(server), id: saved.id, name: 'Renamed', api_key: '********', api_key_changed: false }
  expect((await call('PUT', path, kept)).status).toBe(200)
  await call('POST', '/admin/llm/test', { model_provider: 'Renamed', model_version: 'gpt-4o' })
  expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)
  const moved = await call('PUT', path, { ...kept, api_base: 'https://elsewhere.example/v1' })
  expect(moved).toMatchObject({ status: 400, body: { detail: expect.stringContaining('enter the key again') } })
})

test.each<[string, object, number, string]>([
  ['a name that is taken by the configuration', { name: 'inlay' }, 409, 'choose another name'],
  ['an unknown provider without an address', { provider: 'deepsek', api_base: null }, 400, 'deepseek'],
  ['a provider without its key', { provider: 'deepseek', api_base: null, api_key: null }, 400, 'needs an "api_key"'],
  ['an address that is none', { api_base: 'ftp://x.example' }, 400, 'http or https'],
  ['credentials of the host', { provider: 'bedrock', api_key: null }, 400, 'needs an "api_key"'],
  ['no models', { model_configurations: [] }, 400, 'at least one visible model'],
  ['what is not supported', { custom_config: { a: '1' } }, 400, 'custom_config'],
])('%s is refused', async (_, more, status, words) => {
  const server = await start()
  const { call } = await newInstallation(optionsFor(server))
  const { status: answered, body } = await call('PUT', `${path}?is_creation=true`, change(server, more))
  expect([answered, String(body['detail'])]).toEqual([status, expect.stringContaining(words)])
})

test('without a key of the host, a model with a key is refused in a sentence that says how to set one', async () => {
  const server = await start()
  const { call } = await newInstallation(optionsFor(server, { secretKey: undefined }))
  expect(await call('PUT', `${path}?is_creation=true`, change(server))).toMatchObject({
    status: 501,
    body: { detail: expect.stringContaining('INLAY_SECRET_KEY') },
  })
  const keyless = { ...change(server), api_key: null }
  expect((await call('PUT', `${path}?is_creation=true`, keyless)).status).toBe(200)
})

test('an address inside the network is not reached unless the operator opened it', async () => {
  const server = await start()
  const { call } = await newInstallation(optionsFor(server, { egress: {} }))
  await call('PUT', `${path}?is_creation=true`, change(server))
  const tried = await call<ModelTest>('POST', '/admin/llm/test', { model_provider: 'Ours', model_version: 'gpt-4o' })
  expect(tried.body).toMatchObject({ ok: false })
  expect(server.requests).toEqual([])
})

test('a name with a maker in front goes to the server as it is', async () => {
  const server = await start()
  const { call } = await newInstallation(optionsFor(server))
  const name = 'openai/gpt-4o'
  await call('PUT', `${path}?is_creation=true`, change(server, { model_configurations: [{ name, is_visible: true }] }))
  const tried = await call<ModelTest>('POST', '/admin/llm/test', { model_provider: 'Ours', model_version: name })
  expect(tried.body).toMatchObject({ ok: true })
  expect(server.requests.at(-1)?.body['model']).toBe(name)
})
