import { startModelServer, type Dialect, type Replies, type ReplyPart, type StandIn } from './model-server.ts'

const event = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }
const textOf = (input: unknown): string => (typeof input === 'string' ? input : JSON.stringify(input))

type Chunk = (delta: object, finish?: string | null, more?: object) => string

function chunkOf(model: string, base: object): Chunk {
  return (delta, finish = null, more = {}) =>
    event({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model,
      ...base,
      choices: [{ index: 0, delta, finish_reason: finish, ...more }],
    })
}

const usageChunk = (base: object): string =>
  event({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, ...base, choices: [], usage })

const whole = (parts: readonly ReplyPart[], model: string): unknown => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('') },
      finish_reason: 'stop',
    },
  ],
  usage,
})

/** Each delta has the role; a call comes whole, in one chunk. */
function ollamaDialect(): Dialect {
  const base = { system_fingerprint: 'fp_ollama' }
  const chunk = chunkOf('llama3.2', base)
  return {
    path: '/v1/chat/completions',
    start: () => [],
    write: (part) => {
      if ('text' in part) return [chunk({ role: 'assistant', content: part.text })]
      if ('reasoning' in part) return [chunk({ role: 'assistant', content: '', reasoning: part.reasoning })]
      if (!('calls' in part)) return []
      const calls = part.calls.map(({ id, name, input }, index) => ({
        id,
        index,
        type: 'function',
        function: { name, arguments: textOf(input) },
      }))
      return [chunk({ role: 'assistant', content: '', tool_calls: calls })]
    },
    finish: (reason) => [chunk({ role: 'assistant', content: '' }, reason), usageChunk(base), event('[DONE]')],
    whole,
  }
}

/** The role comes first, alone; arguments come in pieces; every choice has a `logprobs`, the last a `stop_reason`. */
function vllmDialect(): Dialect {
  const chunk = chunkOf('m-1', {})
  const piece = (delta: object): string => chunk(delta, null, { logprobs: null })
  return {
    path: '/v1/chat/completions',
    start: () => [piece({ role: 'assistant', content: '' })],
    write: (part) => {
      if ('text' in part) return [piece({ content: part.text })]
      if ('reasoning' in part) return [piece({ reasoning_content: part.reasoning })]
      if (!('calls' in part)) return []
      return part.calls.flatMap(({ id, name, input }, index) => {
        const text = textOf(input)
        const half = Math.ceil(text.length / 2)
        return [
          piece({ tool_calls: [{ id: `chatcmpl-tool-${id}`, type: 'function', index, function: { name } }] }),
          piece({ tool_calls: [{ index, function: { arguments: text.slice(0, half) } }] }),
          piece({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }),
        ]
      })
    },
    finish: (reason) => [
      chunk({ content: '' }, reason, { logprobs: null, stop_reason: null }),
      usageChunk({}),
      event('[DONE]'),
    ],
    whole,
  }
}

const list = (entry: object): object => ({
  object: 'list',
  data: [{ object: 'model', created: 1_700_000_000, ...entry }],
})

/** Ollama 0.9 with `llama3.2`, which takes tools, loaded with 8,192 tokens. */
export const startOllama = (
  replies: Replies,
  capabilities: readonly string[] = ['completion', 'tools'],
): Promise<StandIn> =>
  startModelServer(replies, ollamaDialect(), {
    '/v1/models': list({ id: 'llama3.2:latest', owned_by: 'library' }),
    '/api/show': { model_info: { 'llama.context_length': 131_072 }, parameters: 'num_ctx 8192', capabilities },
    '/api/ps': { models: [{ name: 'llama3.2:latest', context_length: 8_192 }] },
  })

/** vLLM with `m-1`, served with 8,192 tokens. */
export const startVllm = (replies: Replies): Promise<StandIn> =>
  startModelServer(replies, vllmDialect(), {
    '/v1/models': list({ id: 'm-1', owned_by: 'vllm', root: 'm-1', parent: null, max_model_len: 8_192 }),
  })

/** llama.cpp with one slot of 8,192 tokens; it ignores the names of models. */
export const startLlamaCpp = (replies: Replies): Promise<StandIn> =>
  startModelServer(replies, vllmDialect(), {
    '/v1/models': list({ id: '/models/q.gguf', owned_by: 'llamacpp', meta: { n_ctx: 8_192, n_ctx_train: 32_768 } }),
    '/props': { default_generation_settings: { n_ctx: 8_192, params: {} }, total_slots: 1 },
  })
