import type { LocalModels } from '@inlay/protocol/administration'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import type { StandIn } from '../../../stand-in/model-server.ts'
import { startOpenAi } from '../../../stand-in/openai.ts'
import { adminKey, newInstallation } from './installation.ts'

const path = '/admin/local-models'
afterEach(() => void vi.unstubAllEnvs())
afterEach(() => void vi.restoreAllMocks())

/** Ollama on its own port, as its variable says; other servers of this machine may be found beside it. */
async function ollama(): Promise<StandIn & { readonly choice: { base_url: string; model: string } }> {
  const server = await startOpenAi([[{ text: 'I am the local model.' }]], {
    '/api/tags': { models: [{ name: 'gemma3' }, { name: 'nomic-embed-text' }] },
  })
  onTestFinished(() => server.close())
  const { host } = new URL(server.origin)
  vi.stubEnv('OLLAMA_HOST', host)
  // However long this machine takes to answer.
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms * 100))
  return { ...server, choice: { base_url: `${server.origin}/v1`, model: 'gemma3' } }
}

const ask = { message: 'Hello, who are you?', stream: false }

test('a model of this machine answers once it is chosen, also after a restart, until that is undone', async () => {
  const { choice, origin, requests } = await ollama()
  const { call, restart } = await newInstallation({ localModels: true, sessionNames: 'off' })
  const listed = await call<LocalModels>('GET', path)
  expect(listed.body.chosen).toBeNull()
  expect(listed.body.servers).toContainEqual({ name: 'Ollama', base_url: `${origin}/v1`, models: ['gemma3'] })
  await call('POST', '/chat/send-chat-message', ask)
  expect(requests).toEqual([])

  const chosen = { server: 'Ollama', ...choice }
  expect((await call<LocalModels>('PUT', path, { choice })).body.chosen).toEqual(chosen)
  expect((await call('POST', '/chat/send-chat-message', ask)).body['answer']).toBe('I am the local model.')
  expect(requests.at(-1)?.body['model']).toBe('gemma3')
  expect((await call('GET', '/llm/provider')).body['default_text']).toMatchObject({ model_name: 'gemma3' })
  await restart()
  expect((await call<LocalModels>('GET', path)).body.chosen).toEqual(chosen)
  expect((await call('POST', '/chat/send-chat-message', ask)).body['answer']).toBe('I am the local model.')

  const requestCount = requests.length
  expect((await call<LocalModels>('PUT', path, { choice: null })).body.chosen).toBeNull()
  await call('POST', '/chat/send-chat-message', ask)
  expect(requests).toHaveLength(requestCount)
})

test('nothing is chosen that does not run on this machine', async () => {
  const { choice, origin } = await ollama()
  const { call } = await newInstallation({ localModels: true })
  for (const wrong of [
    { ...choice, model: 'gemma4' },
    { ...choice, base_url: 'http://169.254.169.254/v1' },
    { ...choice, base_url: `${origin}/other` },
  ])
    expect(await call('PUT', path, { choice: wrong })).toMatchObject({ status: 404 })
  expect((await call<LocalModels>('GET', path)).body.chosen).toBeNull()
  expect(await call('PUT', path, {})).toMatchObject({ status: 422 })
})

test('only administrators see and choose, and only where no model was set', async () => {
  await ollama()
  const { call, inlay } = await newInstallation({ localModels: true })
  const { key } = await inlay.keys.create({ name: 'reader', owner: 'ana', scopes: ['chat'] })
  expect(await call('GET', path, undefined, key)).toMatchObject({ status: 403 })
  expect(await call('PUT', path, { choice: null }, key)).toMatchObject({ status: 403 })
  for (const options of [{}, { localModels: true, model: 'extractive' as const }, { localModels: false }]) {
    const { call: callNamed } = await newInstallation(options)
    expect(await callNamed('GET', path, undefined, adminKey)).toMatchObject({
      status: 200,
      body: { servers: [], chosen: null },
    })
    expect(await callNamed('PUT', path, { choice: null }, adminKey)).toMatchObject({ status: 501 })
  }
})
