import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, readSettings } from 'inlay'
import type { ChatFullResponse, LlmProviders } from '@inlay/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { startOpenAi } from '../stand-in/openai.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-models-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

function serve(env: Readonly<Record<string, string>>) {
  const inlay = createInlay({ ...readSettings(env).options, dataFolder: newFolder(), apiKey: 'the-key-of-the-test' })
  onTestFinished(() => inlay.close())
  return async <Body>(method: string, path: string, body?: object | FormData): Promise<Body> => {
    const init = body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }
    const headers = { authorization: 'Bearer the-key-of-the-test' }
    const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { method, headers, ...init }))
    return (await response.json()) as Body
  }
}

// One white pixel.
const png = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII='),
  (letter) => letter.charCodeAt(0),
)

async function sendPicture(call: ReturnType<typeof serve>): Promise<ChatFullResponse> {
  const form = new FormData()
  form.append('files', new File([png], 'dot.png', { type: 'image/png' }))
  const { user_files } = await call<{ user_files: { file_id: string }[] }>('POST', '/user/projects/file/upload', form)
  const [file] = user_files
  return call('POST', '/chat/send-chat-message', {
    message: 'What is it?',
    stream: false,
    file_descriptors: [{ id: file!.file_id, type: 'image' }],
  })
}

test('models of a setting have their own address, key, window and eyes, and requests pick among them', async () => {
  const near = await startOpenAi(() => [{ text: 'Near.' }])
  const far = await startOpenAi(() => [{ text: 'Far.' }])
  onTestFinished(async () => void (await Promise.all([near.close(), far.close()])))
  const models = [
    { name: 'small', provider: 'near', base_url: `${near.origin}/v1`, api_key: 'near-key', context_tokens: 8192 },
    { name: 'large', provider: 'far', base_url: `${far.origin}/v1`, api_key_env: 'FAR_KEY', images: true },
    { name: 'larger', provider: 'far', base_url: `${far.origin}/v1`, api_key_env: 'FAR_KEY', display_name: 'Larger' },
  ]
  const file = join(newFolder(), 'models.json')
  writeFileSync(file, JSON.stringify(models))
  const call = serve({ INLAY_MODELS_FILE: file, FAR_KEY: 'far-key' })
  const { providers, default_text, default_vision } = await call<LlmProviders>('GET', '/llm/provider')
  expect(providers).toMatchObject([
    {
      name: 'near',
      model_configurations: [{ id: 1, name: 'small', max_input_tokens: 8192, supports_image_input: false }],
    },
    {
      name: 'far',
      model_configurations: [
        { id: 2, name: 'large', supports_image_input: true },
        { id: 3, name: 'larger', display_name: 'Larger' },
      ],
    },
    { name: 'inlay' },
  ])
  expect([default_text, default_vision]).toEqual([
    { provider_id: 1, model_name: 'small' },
    { provider_id: 2, model_name: 'large' },
  ])
  const ask = async (llm_override?: object): Promise<string> =>
    (await call<ChatFullResponse>('POST', '/chat/send-chat-message', { message: 'Hi', stream: false, llm_override }))
      .answer
  expect(await ask()).toBe('Near.')
  expect(await ask({ model_provider: 'far', model_version: 'larger' })).toBe('Far.')
  expect(await ask({ model_configuration_id: 2 })).toBe('Far.')
  expect(near.requests.map(({ headers }) => headers['authorization'])).toContain('Bearer near-key')
  expect(far.requests.map(({ headers }) => headers['authorization'])).toContain('Bearer far-key')
})

test('a model behind a base URL gets the picture once a setting says that it sees', async () => {
  const server = await startOpenAi(() => [{ text: 'A dot.' }])
  onTestFinished(async () => void (await server.close()))
  const env = { INLAY_MODEL: 'eyes', INLAY_MODEL_BASE_URL: `${server.origin}/v1` }
  await sendPicture(serve(env))
  expect(JSON.stringify(server.requests)).not.toContain('data:image/png')
  await sendPicture(serve({ ...env, INLAY_MODEL_IMAGES: 'on' }))
  expect(JSON.stringify(server.requests)).toContain('data:image/png')
})

test.each([
  ['no JSON', '[{"name": ', /INLAY_MODELS/],
  ['a field that none has', '[{"name": "openai/x", "apikey": "k"}]', /INLAY_MODELS/],
  ['no address', '[{"name": "llama"}]', /"llama" needs a base_url/],
  ['no key', '[{"name": "openai/gpt-5"}]', /OPENAI_API_KEY/],
  ['a variable that is not set', '[{"name": "x", "base_url": "http://a/v1", "api_key_env": "X_KEY"}]', /X_KEY/],
])('%s is refused by name, without the secret', (_, text, words) => {
  expect(() => readSettings({ INLAY_MODELS: text })).toThrow(words)
})

test('one model and several exclude each other', () => {
  const models = '[{"name": "extractive"}]'
  expect(() => readSettings({ INLAY_MODELS: models, INLAY_MODEL: 'extractive' })).toThrow(/replaces INLAY_MODEL/)
})

test('a temperature of the settings holds for requests that set none', async () => {
  const server = await startOpenAi(() => [{ text: 'Yes.' }])
  onTestFinished(() => server.close())
  const model = { INLAY_MODEL: 'small', INLAY_MODEL_BASE_URL: `${server.origin}/v1`, INLAY_SESSION_NAMES: 'off' }
  const listed = JSON.stringify([{ name: 'small', base_url: `${server.origin}/v1`, temperature: 0.4 }])
  const given: Record<string, string>[] = [{ ...model, INLAY_MODEL_TEMPERATURE: '0.4' }, { INLAY_MODELS: listed }]
  for (const settings of given) {
    const before = server.requests.length
    const call = serve(settings)
    await call('POST', '/chat/send-chat-message', { message: 'Is it?', stream: false })
    const override = { llm_override: { temperature: 0.9 } }
    await call('POST', '/chat/send-chat-message', { message: 'Is it?', stream: false, ...override })
    // Without the probe of what the model can do.
    const requests = server.requests.slice(before).filter(({ body }) => JSON.stringify(body).includes('Is it?'))
    const temperatures = requests.map(({ body }) => body['temperature'])
    expect(temperatures[0]).toBe(0.4)
    expect(temperatures).toContain(0.9)
  }
  for (const wrong of ['hot', '-1', '2.5'])
    expect(() => readSettings({ ...model, INLAY_MODEL_TEMPERATURE: wrong })).toThrow(
      `INLAY_MODEL_TEMPERATURE: "${wrong}" is not allowed; use a number from 0 to 2.`,
    )
  const hot = { name: 'anthropic/claude-opus-4-8', apiKey: 'k', temperature: 2.5 }
  expect(() => createInlay({ model: hot })).toThrow('model.temperature: must be a number, 0 to 2')
})
