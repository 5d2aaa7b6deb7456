import { modelProviders } from '@inlay/drivers/model-providers'
import { expect, test, onTestFinished } from 'vitest'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { StandIn } from '../../stand-in/model-server.ts'

type Replies = Readonly<Record<string, unknown>>

async function serve(replies: Replies): Promise<StandIn> {
  const server = await startOpenAi([[{ text: 'Yes.' }]], replies)
  onTestFinished(() => server.close())
  return server
}

/** The window of a model after its server was asked. */
async function windowOf(replies: Replies, name = 'm-1', contextTokens?: number): Promise<number> {
  const { origin } = await serve(replies)
  const models = modelProviders({
    providers: [
      {
        name: 'custom',
        type: 'openai-compatible',
        baseUrl: `${origin}/v1`,
        models: [{ name, ...(contextTokens && { contextTokens }) }],
      },
    ],
  })
  const model = await models.resolve()
  await model.observed?.ask?.()
  return (await models.resolve()).contextTokens
}

const list = (entry: object): object => ({
  object: 'list',
  data: [{ object: 'model', created: 1_700_000_000, ...entry }],
})
const ollama = list({ id: 'llama3.2:latest', owned_by: 'library' })
const trained = { 'general.architecture': 'llama', 'llama.context_length': 131_072 }

const servers: readonly (readonly [string, Replies, string, number])[] = [
  [
    'vLLM',
    { '/v1/models': list({ id: 'm-1', owned_by: 'vllm', root: 'm-1', parent: null, max_model_len: 16_384 }) },
    'm-1',
    16_384,
  ],
  [
    'llama.cpp, whose slots share the context',
    {
      '/v1/models': list({ id: '/models/q.gguf', owned_by: 'llamacpp', meta: { n_ctx: 8_192, n_ctx_train: 32_768 } }),
      '/props': { default_generation_settings: { n_ctx: 4_096, params: {} }, total_slots: 2 },
    },
    'm-1',
    4_096,
  ],
  [
    'llama.cpp without its properties',
    { '/v1/models': list({ id: 'q', owned_by: 'llamacpp', meta: { n_ctx: 8_192, n_ctx_train: 32_768 } }) },
    'm-1',
    8_192,
  ],
  [
    'Ollama with a model in memory',
    {
      '/v1/models': ollama,
      '/api/show': { model_info: trained, capabilities: ['completion', 'tools'] },
      '/api/ps': { models: [{ name: 'llama3.2:latest', model: 'llama3.2:latest', context_length: 65_536 }] },
    },
    'llama3.2',
    65_536,
  ],
  [
    'Ollama with a window in the model file',
    {
      '/v1/models': ollama,
      '/api/show': { model_info: trained, parameters: 'num_ctx                        8192\nstop "<|eot_id|>"' },
      '/api/ps': { models: [] },
    },
    'llama3.2',
    8_192,
  ],
  [
    'Ollama before the model is loaded',
    { '/v1/models': ollama, '/api/show': { model_info: trained }, '/api/ps': { models: [] } },
    'llama3.2',
    4_096,
  ],
  [
    'LM Studio',
    {
      '/v1/models': list({ id: 'm-1', owned_by: 'organization_owner' }),
      '/api/v0/models': list({ id: 'm-1', type: 'llm', max_context_length: 131_072, loaded_context_length: 12_000 }),
    },
    'm-1',
    12_000,
  ],
  ['OpenRouter', { '/v1/models': list({ id: 'maker/m-1', context_length: 200_000 }) }, 'maker/m-1', 200_000],
  ['Groq', { '/v1/models': list({ id: 'm-1', owned_by: 'Meta', context_window: 131_072 }) }, 'm-1', 131_072],
  ['a server that tells nothing', { '/v1/models': list({ id: 'm-1', owned_by: 'me' }) }, 'm-1', 32_000],
  ['a server without a list', {}, 'm-1', 32_000],
]

test.each(servers)('the window is read from %s', async (_, replies, name, tokens) => {
  expect(await windowOf(replies, name)).toBe(tokens)
})

test('a window that is set is not asked for', async () => {
  expect(await windowOf({ '/v1/models': list({ id: 'm-1', max_model_len: 16_384 }) }, 'm-1', 5_000)).toBe(5_000)
})

test('a model that Ollama says takes no tools is offered none', async () => {
  const { origin } = await serve({ '/v1/models': ollama, '/api/show': { capabilities: ['completion'] } })
  const models = modelProviders({
    providers: [
      { name: 'custom', type: 'openai-compatible', baseUrl: `${origin}/v1`, models: [{ name: 'llama3.2:latest' }] },
    ],
  })
  const { observed } = await models.resolve()
  await observed?.ask?.()
  expect(observed?.refusesTools).toBe(true)
})
