import { toFailure } from '@inlay/agent/internal/model/failures'
import { modelProviders } from '@inlay/drivers/model-providers'
import { statedWindow } from '@inlay/drivers/internal/models/adapting/window'
import { expect, test, onTestFinished, vi } from 'vitest'
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
    'Ollama with a model of a namespace',
    {
      '/v1/models': list({ id: 'hf.co/maker/m-1-GGUF:Q4_K_M', owned_by: 'maker' }),
      '/api/show': { model_info: trained },
      '/api/ps': { models: [] },
    },
    'hf.co/maker/m-1-GGUF:Q4_K_M',
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

// Whole sentences as their servers write them.
const refusals: readonly (readonly [string, number, string, number | undefined])[] = [
  [
    'OpenAI',
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
    128_000,
  ],
  [
    'OpenAI, newer',
    400,
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 273373 tokens. Please reduce the length of the messages.',
    272_000,
  ],
  [
    'OpenAI, a whole minute',
    429,
    'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 35123. The input or output tokens must be reduced in order to run successfully.',
    undefined,
  ],
  [
    'Groq, a whole minute',
    413,
    'Request too large for model `llama` in organization `x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 8411, please reduce your message size and try again.',
    undefined,
  ],
  ['GitHub', 413, 'Request body too large for gpt-4o model. Max size: 8000 tokens.', 8_000],
  ['Anthropic', 400, 'prompt is too long: 210000 tokens > 200000 maximum', 200_000],
  [
    'Anthropic with an output limit',
    400,
    'input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length or `max_tokens` and try again',
    200_000,
  ],
  [
    'vLLM',
    400,
    "You passed 9001 input tokens and requested 1000 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 7192 tokens.",
    8_192,
  ],
  ['vLLM, older', 400, 'The decoder prompt (length 9000) is longer than the maximum model length of 8192.', 8_192],
  [
    'llama.cpp',
    400,
    'the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096',
    4_096,
  ],
  [
    'LM Studio',
    400,
    'Trying to keep the first 4410 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    4_096,
  ],
  ['LM Studio, newer', 400, 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)', 7_424],
  [
    'LM Studio 0.4',
    400,
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
    4_096,
  ],
  ['Gemini', 400, 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
  [
    'Mistral',
    400,
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    32_768,
  ],
  ['xAI', 400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072],
  ['Kimi', 400, 'Invalid request: Your request exceeded model token limit: 131072', 131_072],
  ['GLM', 400, 'Prompt exceeds max length', undefined],
  ['GitHub Copilot', 400, 'prompt token count of 171111 exceeds the limit of 128000', 128_000],
  [
    'Vertex AI',
    400,
    'Unable to submit request because the input token count is 32825 but model only supports up to 32768. Reduce the input token count and try again.',
    32_768,
  ],
  ['Poolside', 400, 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.', 131_040],
  ['Atlas', 400, 'Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)', 2_048],
  ['Qwen', 400, 'Range of input length should be [1, 129024]', 129_024],
  [
    'Cerebras',
    400,
    'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
    8_192,
  ],
  [
    'SGLang',
    400,
    'Input length (9000 tokens) exceeds the maximum allowed length (8187 tokens). Use a shorter input or enable --allow-auto-truncate.',
    8_187,
  ],
  [
    'text-generation-inference',
    422,
    'Input validation error: `inputs` must have less than 4096 tokens. Given: 5000',
    4_096,
  ],
  [
    'OpenRouter',
    400,
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (40000 of text input).",
    32_768,
  ],
  ['MiniMax', 400, 'invalid params, context window exceeds limit (2013)', undefined],
]

test.each(refusals)('a prompt is too long in the words of %s', (_, statusCode, message, tokens) => {
  const responseBody = JSON.stringify({ error: { message } })
  const error = Object.assign(new Error(message), { name: 'AI_APICallError', statusCode, responseBody })
  expect(toFailure(error).code).toBe('CONTEXT_TOO_LONG')
  expect(statedWindow(message)).toBe(tokens)
})

test.each(['an object', 'a text'])('a window that LM Studio names within a stream, as %s, is learned', async (form) => {
  const message = 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)'
  const error = form === 'a text' ? message : { message }
  const server = await startOpenAi([[{ raw: `event: error\ndata: ${JSON.stringify({ error })}\n\n` }]])
  onTestFinished(() => server.close())
  const models = modelProviders({
    providers: [{ name: 'p', type: 'openai-compatible', baseUrl: `${server.origin}/v1`, models: [{ name: 'm-1' }] }],
  })
  const { model, observed } = await models.resolve()
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Q' }] }] })
  const codes: string[] = []
  for await (const part of stream) if (part.type === 'error') codes.push(toFailure(part.error).code)
  expect(codes).toEqual(['CONTEXT_TOO_LONG'])
  expect(observed?.contextTokens).toBe(7_424)
})

test('a window is asked for again after an hour', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const replies: Record<string, unknown> = { '/v1/models': list({ id: 'm-1', max_model_len: 16_384 }) }
  const { origin } = await serve(replies)
  const models = modelProviders({
    providers: [{ name: 'p', type: 'openai-compatible', baseUrl: `${origin}/v1`, models: [{ name: 'm-1' }] }],
  })
  const windowNow = async (): Promise<number> => {
    await (await models.resolve()).observed?.ask?.()
    return (await models.resolve()).contextTokens
  }
  expect(await windowNow()).toBe(16_384)
  replies['/v1/models'] = list({ id: 'm-1', max_model_len: 32_768 })
  expect(await windowNow()).toBe(16_384)
  vi.setSystemTime(Date.now() + 3_600_001)
  expect(await windowNow()).toBe(32_768)
})

test('a window is known for as long as its model, also where models are listed long before the first question', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { origin } = await serve({ '/v1/models': list({ id: 'm-1', max_model_len: 16_384 }) })
  const models = modelProviders({
    providers: [{ name: 'p', type: 'openai-compatible', baseUrl: `${origin}/v1`, models: [{ name: 'm-1' }] }],
  })
  await models.list()
  for (const minutes of [50, 20, 50]) {
    vi.setSystemTime(Date.now() + minutes * 60_000)
    await (await models.resolve()).observed?.ask?.()
    expect((await models.resolve()).contextTokens).toBe(16_384)
  }
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
