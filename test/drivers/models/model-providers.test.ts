import { afterEach, describe, expect, test } from 'vitest'
import { builtInModel } from '@inlay/extractive'
import { knownModel } from '@inlay/drivers/internal/models/known-models'
import { modelProviders, parseModelSpec, type ModelProvidersConfig } from '@inlay/drivers/model-providers'
import type { StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'

let server: StandIn | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const config: ModelProvidersConfig = {
  builtIn: builtInModel,
  providers: [
    { name: 'inlay', type: 'extractive' },
    {
      name: 'own',
      type: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:9/v1',
      displayName: 'Our own',
      models: [
        { name: 'small', contextTokens: 8_000 },
        { name: 'large', displayName: 'Large one', takesImages: true },
      ],
      defaultModel: 'large',
    },
    { name: 'claude', type: 'anthropic', apiKey: 'k', defaultModel: 'claude-x' },
  ],
}
const resolve = (override?: Parameters<ReturnType<typeof modelProviders>['resolve']>[0], changed = config) =>
  modelProviders(changed).resolve(override)
const refused = { code: 'VALIDATION_ERROR' }

test('models that reason are known by their names, or said to', async () => {
  const names = [
    'gpt-5-mini',
    'gpt-5-chat-latest',
    'o3',
    'gpt-4o',
    'gateway/claude-sonnet-4-5',
    'claude-3-5-sonnet-latest',
  ]
  const named = names.map((name) => ({ name }))
  const models = [
    ...named,
    { name: 'our-model', reasons: true },
    { name: 'o4-mini', reasons: false },
    { name: 'other' },
  ]
  const own = { name: 'own', type: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', models } as const
  const listed = await modelProviders({ providers: [own] }).list()
  expect(listed.filter(({ reasons }) => reasons).map(({ name }) => name)).toEqual([
    'gpt-5-mini',
    'o3',
    'gateway/claude-sonnet-4-5',
    'our-model',
  ])
})

test.each([
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000, true],
  ['amazon-bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0', 200_000, false],
  ['apac.mistral.mistral-large-2411-v1:0', 128_000, false],
  ['meta-llama/llama-4-scout-17b-16e-instruct', 131_072, false],
  ['anthropic/claude-3.5-haiku', 200_000, false],
  ['anthropic/claude-3.7-sonnet', 200_000, true],
  ['z-ai/glm-4.5', 131_072, false],
  ['qwen3-235b-a22b', 262_144, false],
])('the window and thoughts of %s are known by its name', (name, contextTokens, reasons) => {
  expect(knownModel('openai-compatible', name)).toMatchObject({ contextTokens, reasons, callsTools: true })
})

test.each([
  'claude-3.7-sonnet-reasoning-gemma3-12b',
  'gpt-5-distill-qwen3-4b',
  'ministral-3:3b',
  'ministral-8b-2410',
  'codestral-mamba-7b',
  'codestral-mamba-latest',
  'glm-4.1v-9b-thinking',
  'deepseek-v3-distill-llama-8b',
  'claude-sonnet-4.gguf',
])('%s is no capable model for being named after one', (name) => {
  expect(knownModel('openai-compatible', name)).toMatchObject({ contextTokens: 32_000, callsTools: false })
})

describe('what an override means', () => {
  test('none: the default model of the first provider, or of the one named as default', async () => {
    expect(await resolve()).toMatchObject({
      provider: 'inlay',
      name: 'extractive',
      displayName: 'Built-in extractive model',
    })
    expect(await resolve(null, { ...config, defaultProvider: 'own' })).toMatchObject({
      provider: 'own',
      name: 'large',
      displayName: 'Large one',
    })
    expect(await resolve({ model_provider: null, model_version: '' })).toMatchObject({ provider: 'inlay' })
  })

  test('provider and version: that model, if the provider lists it', async () => {
    const resolved = await resolve({ model_provider: 'own', model_version: 'small', temperature: 0.3 })
    expect(resolved).toMatchObject({ name: 'small', contextTokens: 8_000, takesImages: false, temperature: 0.3 })
    expect(resolved.model).toMatchObject({ specificationVersion: 'v4', modelId: 'small' })
    await expect(resolve({ model_provider: 'own', model_version: 'unlisted' })).rejects.toMatchObject(refused)
  })

  test('a provider without a list takes any version', async () => {
    expect(await resolve({ model_provider: 'claude', model_version: 'claude-new' })).toMatchObject({
      name: 'claude-new',
      contextTokens: 200_000,
    })
  })

  test('a provider alone: its default model', async () => {
    expect(await resolve({ model_provider: 'own' })).toMatchObject({ name: 'large', takesImages: true })
  })

  test('a version alone belongs to the default provider or fails', async () => {
    expect(await resolve({ model_version: 'extractive' })).toMatchObject({ provider: 'inlay' })
    await expect(resolve({ model_version: 'large' })).rejects.toMatchObject(refused)
  })

  test('an unknown provider fails; nothing is silently replaced', async () => {
    await expect(resolve({ model_provider: 'nobody' })).rejects.toMatchObject(refused)
    await expect(resolve({ model_provider: 'OWN' })).rejects.toMatchObject(refused)
  })

  test('a temperature alone keeps the default model; it has to lie in the range of the provider', async () => {
    expect(await resolve({ temperature: 0 })).toMatchObject({ provider: 'inlay', temperature: 0 })
    await expect(resolve({ temperature: 2.1 })).rejects.toMatchObject(refused)
    await expect(resolve({ model_provider: 'claude', temperature: 1.5 })).rejects.toMatchObject(refused)
  })

  test('a configuration id is the position in the listing', async () => {
    expect(await resolve({ model_configuration_id: 2 })).toMatchObject({ provider: 'own', name: 'small' })
    await expect(resolve({ model_configuration_id: 99 })).rejects.toMatchObject(refused)
  })
})

test('a provider without a default model is fine as long as requests name one', async () => {
  const withOpen: ModelProvidersConfig = {
    ...config,
    providers: [...config.providers, { name: 'open', type: 'openai', apiKey: 'k' }],
  }
  expect(await resolve({ model_provider: 'open', model_version: 'gpt-x' }, withOpen)).toMatchObject({
    provider: 'open',
    name: 'gpt-x',
  })
  await expect(resolve({ model_provider: 'open' }, withOpen)).rejects.toMatchObject(refused)
  expect(await modelProviders(withOpen).list()).toHaveLength(4)
})

test('the listing shows every model once, with one default', async () => {
  const listed = await modelProviders(config).list()
  expect(
    listed.map(({ provider, providerType, name, isDefault }) => [provider, providerType, name, isDefault]),
  ).toEqual([
    ['inlay', 'extractive', 'extractive', true],
    ['own', 'openai_compatible', 'small', false],
    ['own', 'openai_compatible', 'large', false],
    ['claude', 'anthropic', 'claude-x', false],
  ])
  expect(listed[1]).toMatchObject({ providerDisplayName: 'Our own', displayName: 'small' })
})

describe('a configuration that cannot work is refused at once', () => {
  const provider = { name: 'a', type: 'openai-compatible', baseUrl: 'http://h/v1', defaultModel: 'm' } as const
  test.each([
    ['no provider', { providers: [] }],
    ['a name twice', { providers: [provider, provider] }],
    ['an unknown default', { providers: [provider], defaultProvider: 'b' }],
    ['no model', { providers: [{ ...provider, defaultModel: undefined }] }],
    ['a default outside the list', { providers: [{ ...provider, models: [{ name: 'other' }] }] }],
    ['no base URL', { providers: [{ ...provider, baseUrl: undefined }] }],
    ['no key', { providers: [{ name: 'a', type: 'openai', defaultModel: 'm' }] }],
  ] as const)('%s', (_title, config) => {
    expect(() => modelProviders(config)).toThrow(expect.objectContaining(refused))
  })
})

test('requests go through the wrapped fetch, with the key, and only when a model is called', async () => {
  server = await startOpenAi([[{ text: 'hi' }]])
  const seen: string[] = []
  const provider = modelProviders({
    builtIn: builtInModel,
    ...parseModelSpec('llama', { baseUrl: `${server.origin}/v1`, apiKey: 'abc' }),
    wrapFetch: (next) => (input, init) => {
      seen.push(String(input))
      return next(input, init)
    },
  })
  const { model } = await provider.resolve()
  expect(seen).toEqual([])
  await model.doGenerate({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] })
  expect(seen).toEqual([`${server.origin}/v1/chat/completions`])
  expect(server.requests[0]?.headers.authorization).toBe('Bearer abc')
})

describe('model settings', () => {
  const spec = (text: string, options?: Parameters<typeof parseModelSpec>[1]) =>
    parseModelSpec(text, options).providers[0]

  test('name the built-in model, which also stays on offer beside any other', () => {
    expect(spec('extractive')).toEqual({ name: 'inlay', type: 'extractive' })
    expect(spec('')).toMatchObject({ type: 'extractive' })
    expect(parseModelSpec('openai/gpt-4o', { apiKey: 'k' }).providers.map((provider) => provider.type)).toEqual([
      'openai',
      'extractive',
    ])
  })

  test('name a model of OpenAI or Anthropic, which needs a key', () => {
    expect(spec('openai/gpt-4o', { apiKey: 'k' })).toMatchObject({
      name: 'openai',
      type: 'openai',
      models: [{ name: 'gpt-4o' }],
      apiKey: 'k',
    })
    expect(spec('anthropic/claude-x', { apiKey: 'k' })).toMatchObject({ type: 'anthropic' })
    expect(() => spec('openai/gpt-4o')).toThrow(expect.objectContaining(refused))
    expect(() => spec('anthropic/claude-x', { apiKey: ' ' })).toThrow(expect.objectContaining(refused))
  })

  test('name any model of a compatible API by its address, slashes and all', () => {
    const local = { baseUrl: 'http://localhost:11434/v1', contextTokens: 16_000 }
    expect(spec('meta-llama/Llama-3.1-8B', local)).toMatchObject({
      name: 'custom',
      type: 'openai-compatible',
      baseUrl: local.baseUrl,
      models: [{ name: 'meta-llama/Llama-3.1-8B', contextTokens: 16_000 }],
    })
    expect(spec('openai/llama3', local)).toMatchObject({
      name: 'openai',
      type: 'openai-compatible',
      models: [{ name: 'llama3' }],
    })
  })

  test('of no known form are refused with what would work', () => {
    expect(() => spec('gpt-4o', { apiKey: 'k' })).toThrow(/anthropic\/<model>/)
  })
})
