import { chatDialect, forCalls, forMessages, picturesOf, resultsFollowCalls, without } from './chat.ts'
import { keyed, type Provider, type Refusal, type Rule } from './provider.ts'
import { atMost, chatTools, forSchemas, forTools, keywordOf, typesOf } from './schemas.ts'

const type = 'invalid_request_error'
const tooLong = (param: string, limit: number, length: number): Refusal => ({
  message: `Invalid '${param}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${length} instead.`,
  param,
  code: 'string_above_max_length',
})
const schemaError = (name: string, at: number, why: string): Refusal => ({
  message: `Invalid schema for function '${name}': ${why}`,
  param: `tools[${at}].function.parameters`,
  code: 'invalid_function_parameters',
})

export const openAiError = ({ message, param = undefined, code, type: kind = type }: Refusal): unknown => ({
  error: { message, type: kind, param: param ?? null, code: code ?? null },
})

/** What OpenAI demands of tools; Azure demands the same. */
export const openAiTools: readonly Rule[] = [
  atMost(128, 'https://github.com/vishalmysore/Tools4AI/issues/16', chatTools, (count) => ({
    message: `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${count} instead.`,
    param: 'tools',
    code: 'array_above_max_length',
  })),
  forTools('names of tools', 'https://github.com/mcp-use/mcp-use/issues/90', chatTools, ({ name, at }) => {
    const param = `tools[${at}].function.name`
    if (name.length > 64) return tooLong(param, 64, name.length)
    return /^[a-zA-Z0-9_-]+$/.test(name)
      ? undefined
      : {
          message: `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
          param,
          code: 'invalid_value',
        }
  }),
  forTools('descriptions', 'https://github.com/getsentry/sentry-mcp/issues/106', chatTools, ({ description, at }) =>
    description.length > 1024 ? tooLong(`tools[${at}].function.description`, 1024, description.length) : undefined,
  ),
  forTools(
    'no union at the top',
    'https://github.com/nspady/google-calendar-mcp/issues/39',
    chatTools,
    ({ name, at, schema }) => {
      if (Object.keys(schema).length === 0) return undefined
      if (schema['type'] !== 'object')
        return schemaError(
          name,
          at,
          `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema['type'] ?? null)}"'.`,
        )
      return keywordOf(schema, ['oneOf', 'anyOf', 'allOf', 'enum', 'not']) === undefined
        ? undefined
        : schemaError(
            name,
            at,
            "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
          )
    },
  ),
  forSchemas(
    'arrays have items',
    'https://github.com/modelscope/ms-agent/pull/610',
    chatTools,
    ({ schema, path, tool }) =>
      typesOf(schema).includes('array') && !('items' in schema) && !('prefixItems' in schema)
        ? schemaError(
            tool.name,
            tool.at,
            `In context=(${path.map((part) => `'${part}'`).join(', ')}), array schema missing items.`,
          )
        : undefined,
  ),
]

const reasoningModel = (model: unknown): boolean => /^(?:o\d|gpt-5)/.test(String(model))

/** What OpenAI demands of the rest of a request; Azure demands the same. */
export const openAiMessages: readonly Rule[] = [
  resultsFollowCalls('https://github.com/BerriAI/litellm/issues/10083', {
    missing: (ids, at) => ({
      message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
      param: `messages.[${at + 1}].role`,
    }),
    orphaned: (at) => ({
      message:
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      param: `messages.[${at}].role`,
    }),
  }),
  forCalls('ids of calls', 'https://github.com/agno-agi/agno/issues/5382', ({ id, at, index }) =>
    id.length > 40 ? tooLong(`messages[${at}].tool_calls[${index}].id`, 40, id.length) : undefined,
  ),
  forCalls('names of calls', 'https://github.com/mcp-use/mcp-use/issues/90', ({ name, at, index }) =>
    /^[a-zA-Z0-9_-]{1,64}$/.test(name)
      ? undefined
      : {
          message: `Invalid 'messages[${at}].tool_calls[${index}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
          param: `messages[${at}].tool_calls[${index}].function.name`,
          code: 'invalid_value',
        },
  ),
  forMessages('text of messages', 'https://github.com/docker/docker-agent/issues/63', (message, at) =>
    typeof message['content'] !== 'string' && !Array.isArray(message['content']) && !('tool_calls' in message)
      ? {
          message: "Invalid value for 'content': expected a string, got null.",
          param: `messages.[${at}].content`,
        }
      : undefined,
  ),
  forMessages('no empty lists of calls', 'https://github.com/chatboxai/chatbox/issues/2079', (message, at) =>
    Array.isArray(message['tool_calls']) && message['tool_calls'].length === 0
      ? {
          message: `Invalid 'messages[${at}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
          param: `messages[${at}].tool_calls`,
          code: 'empty_array',
        }
      : undefined,
  ),
  without('max_tokens', 'https://github.com/decolua/9router/issues/560', (_, { model }) =>
    reasoningModel(model)
      ? {
          message:
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          param: 'max_tokens',
          code: 'unsupported_parameter',
        }
      : undefined,
  ),
  without('temperature', 'https://github.com/decolua/9router/issues/560', (value, { model }) =>
    reasoningModel(model) && value !== 1
      ? {
          message: `Unsupported value: 'temperature' does not support ${String(value)} with this model. Only the default (1) value is supported.`,
          param: 'temperature',
          code: 'unsupported_value',
        }
      : undefined,
  ),
  without('parallel_tool_calls', 'https://github.com/openai/openai-openapi/pull/287', (_, { tools }) =>
    tools === undefined
      ? {
          message:
            "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
          param: 'parallel_tool_calls',
        }
      : undefined,
  ),
  without('tool_choice', 'https://github.com/writer/writer-framework/pull/1013', (_, { tools }) =>
    tools === undefined
      ? {
          message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
          param: 'tool_choice',
        }
      : undefined,
  ),
  {
    name: 'pictures',
    source: 'https://portkey.ai/error-library/file-type-error-10079',
    refuses: (request) =>
      picturesOf(request).every(({ url }) => /^data:image\/(?:png|jpeg|gif|webp);base64,|^https?:/.test(url))
        ? undefined
        : { message: 'Invalid MIME type. Only image types are supported.', code: 'invalid_image_format' },
  },
]

const rateLimits = {
  'x-ratelimit-limit-requests': '500',
  'x-ratelimit-remaining-requests': '499',
  'x-ratelimit-reset-requests': '120ms',
}

export const openai: Provider = {
  title: 'OpenAI, chat completions',
  seesPictures: true,
  rules: [
    keyed('authorization', 'https://github.com/Koischizo/AI-Vtuber/issues/40', {
      message: "You didn't provide an API key.",
    }),
    ...openAiTools,
    ...openAiMessages,
  ],
  error: openAiError,
  dialect: chatDialect({
    headers: rateLimits,
    base: { service_tier: 'default', system_fingerprint: 'fp_44709d6fcb', obfuscation: 'x7Kq' },
    opening: [
      {
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, finish_reason: null }],
        usage: null,
      },
    ],
    callId: (n) => `call_${String(n).padStart(24, 'aB3dE6gH9jK2mN5pQ8sT1vW4')}`,
    // Thoughts stay with the provider.
    thought: () => ({}),
    usage: 'asked',
  }),
  api: 'openai',
  modelId: 'gpt-5',
}
