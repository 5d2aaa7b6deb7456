import { startModelServer, type Replies, type StandIn } from '../model-server.ts'
import { chatDialect, forCalls, forMessages, picturesOf, without } from './chat.ts'
import { openAiError } from './openai.ts'
import { github, type Provider } from './provider.ts'
import { chatTools, forSchemas } from './schemas.ts'

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
const list = (entry: object): object => ({
  object: 'list',
  data: [{ object: 'model', created: 1_700_000_000, ...entry }],
})

const show = (capabilities: readonly string[]): object => ({
  model_info: { 'llama.context_length': 131_072 },
  parameters: 'num_ctx 8192',
  capabilities,
})

export const ollama: Provider = {
  title: 'Ollama',
  seesPictures: false,
  rules: [
    forCalls('arguments are objects', github('ollama/ollama#11759'), (call) =>
      isObject(call.arguments) ? undefined : 'invalid tool call arguments',
    ),
    forSchemas('required is a list', github('ollama/ollama#18051'), chatTools, ({ schema }) =>
      'required' in schema && !Array.isArray(schema['required'])
        ? 'json: cannot unmarshal object into Go struct field ToolProperty.required of type []string'
        : undefined,
    ),
    {
      name: 'properties are schemas',
      source: github('ollama/ollama#14256'),
      refuses: (request) =>
        chatTools(request).some(({ schema }) =>
          Object.values((schema['properties'] ?? {}) as object).some((part) => typeof part !== 'object'),
        )
          ? 'json: cannot unmarshal bool into Go struct field ToolFunctionParameters.tools.function.parameters.properties of type api.ToolProperty'
          : undefined,
    },
  ],
  error: openAiError,
  dialect: chatDialect({
    base: { system_fingerprint: 'fp_ollama' },
    opening: [],
    delta: { role: 'assistant', content: '' },
    callId: (n) => `call_${String(n).padStart(8, 'k3x9q7w5')}`,
    calls: 'whole',
    thought: (text) => ({ reasoning: text }),
    usage: 'asked',
  }),
  others: {
    '/v1/models': list({ id: 'llama3.2:latest', owned_by: 'library' }),
    '/api/show': show(['completion', 'tools', 'thinking']),
    '/api/ps': { models: [{ name: 'llama3.2:latest', context_length: 8_192 }] },
  },
  modelId: 'llama3.2',
}

export const vllm: Provider = {
  title: 'vLLM',
  seesPictures: true,
  rules: [
    forMessages('roles alternate', github('charmbracelet/crush#279'), ({ role }, at, all) =>
      role === 'user' && all[at - 1]?.['role'] === 'user'
        ? 'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.'
        : undefined,
    ),
    without(
      'stream_options',
      'https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/protocol.py',
      (_, { stream }) => (stream === true ? undefined : 'Stream options can only be defined when `stream=True`.'),
    ),
  ],
  error: ({ message, status = 400 }) => ({
    error: { message, type: 'BadRequestError', param: null, code: status },
  }),
  dialect: chatDialect({
    callId: (n) => `chatcmpl-tool-${String(n).padStart(32, '0f1e2d3c4b5a6978')}`,
    usage: 'asked',
  }),
  others: { '/v1/models': list({ id: 'm-1', owned_by: 'vllm', root: 'm-1', max_model_len: 8_192 }) },
  modelId: 'm-1',
}

export const llamaCpp: Provider = {
  title: 'llama.cpp',
  seesPictures: false,
  rules: [
    forSchemas('schemas have a type', github('skye-harris/hass_local_openai_llm#13'), chatTools, ({ schema }) =>
      ['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref', 'properties', 'items'].some(
        (key) => key in schema,
      ) || Object.keys(schema).every((key) => ['description', 'title', 'default'].includes(key))
        ? undefined
        : `JSON schema conversion failed:\nUnrecognized schema: ${JSON.stringify(schema)}`,
    ),
    forSchemas('patterns are whole', github('ggml-org/llama.cpp#26930'), chatTools, ({ schema }) =>
      typeof schema['pattern'] === 'string' && !/^\^.*\$$/s.test(schema['pattern'])
        ? "JSON schema conversion failed:\nPattern must start with '^' and end with '$'"
        : undefined,
    ),
    forMessages('content', 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/utils.hpp', (message) => {
      if ('content' in message) return undefined
      if (message['role'] !== 'assistant') return "All non-assistant messages must contain 'content'"
      return 'tool_calls' in message ? undefined : "Assistant message must contain either 'content' or 'tool_calls'!"
    }),
    forMessages('one answer at the end', github('co-l/openfox#367'), ({ role }, at, all) =>
      at === all.length - 1 && role === 'assistant' && all[at - 1]?.['role'] === 'assistant'
        ? 'Cannot have 2 or more assistant messages at the end of the list.'
        : undefined,
    ),
    {
      name: 'no pictures without a projector',
      source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/utils.hpp',
      refuses: (request) =>
        picturesOf(request).length > 0
          ? {
              status: 500,
              message: 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
              type: 'server_error',
            }
          : undefined,
    },
  ],
  error: ({ message, status = 400, type = 'invalid_request_error' }) => ({ error: { code: status, message, type } }),
  dialect: chatDialect({
    callId: (n) => String(n).padStart(32, 'Xk8Lm2Np4Qr6St0U'),
    calls: 'letters',
    usage: 'asked',
    usageOf: { timings: { predicted_per_second: 20 } },
  }),
  others: {
    '/v1/models': list({ id: '/models/q.gguf', owned_by: 'llamacpp', meta: { n_ctx: 8_192, n_ctx_train: 32_768 } }),
    '/props': { default_generation_settings: { n_ctx: 8_192, params: {} }, total_slots: 1 },
  },
  modelId: 'm-1',
}

export const lmStudio: Provider = {
  title: 'LM Studio',
  seesPictures: false,
  rules: [
    without('tool_choice', github('lmstudio-ai/lmstudio-bug-tracker#670'), (value) =>
      typeof value === 'string'
        ? undefined
        : "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
    ),
  ],
  error: ({ message }) => ({ error: message }),
  dialect: chatDialect({
    callId: (n) => String(123_456_789 + n),
    usage: 'asked',
  }),
  others: { '/v1/models': list({ id: 'qwen3-8b', owned_by: 'organization_owner' }) },
  modelId: 'qwen3-8b',
}

/** Ollama with a model that can do this, loaded with 8,192 tokens; without its rules, as the two below. */
export const startOllama = (replies: Replies, capabilities = ['completion', 'tools']): Promise<StandIn> =>
  startModelServer(replies, ollama.dialect, { ...ollama.others, '/api/show': show(capabilities) })

export const startVllm = (replies: Replies): Promise<StandIn> => startModelServer(replies, vllm.dialect, vllm.others)

export const startLlamaCpp = (replies: Replies): Promise<StandIn> =>
  startModelServer(replies, llamaCpp.dialect, llamaCpp.others)
