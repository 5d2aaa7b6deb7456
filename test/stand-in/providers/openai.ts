import { chatDialect, forCalls, forMessages, picturesOf, resultsFollowCalls, without } from './chat.ts'
import { github, keyed, type Outcome, type Provider, type Refusal, type Rule } from './provider.ts'
import { atMost, chatTools, forSchemas, forTools, keywordOf, typesOf } from './schemas.ts'

const no = (message: string, param?: string, code?: string): Refusal => ({
  message,
  ...(param && { param }),
  ...(code && { code }),
})
const tooLong = (param: string, limit: number, text: string): Outcome =>
  text.length > limit &&
  no(
    `Invalid '${param}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${text.length} instead.`,
    param,
    'string_above_max_length',
  )
const misnamed = (param: string, name: string): Outcome =>
  tooLong(param, 64, name) ||
  (!/^[a-zA-Z0-9_-]+$/.test(name) &&
    no(
      `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      param,
      'invalid_value',
    ))

export const openAiError = ({ message, param, code, type = 'invalid_request_error' }: Refusal): unknown => ({
  error: { message, type, param: param ?? null, code: code ?? null },
})

export const schemaError = (name: string, param: string, why: string): Refusal =>
  no(`Invalid schema for function '${name}': ${why}`, `${param}parameters`, 'invalid_function_parameters')
const unions = "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."

/** What OpenAI demands of tools, with the place where they describe themselves. */
export const openAiTools = (place: (at: number) => string): readonly Rule[] => [
  atMost(128, github('vishalmysore/Tools4AI#16'), chatTools, (count) =>
    no(
      `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${count} instead.`,
      'tools',
      'array_above_max_length',
    ),
  ),
  forTools('names of tools', github('mcp-use/mcp-use#90'), chatTools, ({ name, at }) =>
    misnamed(`${place(at)}name`, name),
  ),
  forTools('descriptions', github('getsentry/sentry-mcp#106'), chatTools, ({ description, at }) =>
    tooLong(`${place(at)}description`, 1024, description),
  ),
  forTools('no union at the top', github('nspady/google-calendar-mcp#39'), chatTools, ({ name, at, schema }) => {
    const isOpen = schema['type'] === 'object' && !keywordOf(schema, ['oneOf', 'anyOf', 'allOf', 'enum', 'not'])
    return Object.keys(schema).length > 0 && !isOpen && schemaError(name, place(at), unions)
  }),
  forSchemas('arrays have items', github('modelscope/ms-agent#610'), chatTools, ({ schema, path, tool }) => {
    const context = path.map((part) => `'${part}'`).join(', ')
    const isBare = typesOf(schema).includes('array') && !('items' in schema) && !('prefixItems' in schema)
    return isBare && schemaError(tool.name, place(tool.at), `In context=(${context}), array schema missing items.`)
  }),
]

const isReasoning = (model: unknown): boolean => /^(?:o\d|gpt-5)/.test(String(model))
const needsTools = (field: string, thread: string): Rule =>
  without(
    field,
    github(thread),
    (_, { tools }) =>
      !tools && no(`Invalid value for '${field}': '${field}' is only allowed when 'tools' are specified.`, field),
  )

/** What OpenAI demands of chat completions; Azure demands the same. */
export const openAiChat: readonly Rule[] = [
  ...openAiTools((at) => `tools[${at}].function.`),
  resultsFollowCalls(github('BerriAI/litellm#10083'), {
    missing: (ids, at) =>
      no(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
        `messages.[${at + 1}].role`,
      ),
    orphaned: (at) =>
      no(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        `messages.[${at}].role`,
      ),
  }),
  forCalls('ids of calls', github('agno-agi/agno#5382'), ({ id, at, index }) =>
    tooLong(`messages[${at}].tool_calls[${index}].id`, 40, id),
  ),
  forCalls('names of calls', github('mcp-use/mcp-use#90'), ({ name, at, index }) =>
    misnamed(`messages[${at}].tool_calls[${index}].function.name`, name),
  ),
  forMessages('text of messages', github('docker/docker-agent#63'), (message, at) => {
    const hasText = typeof message['content'] === 'string' || Array.isArray(message['content'])
    const isEmpty = !hasText && !('tool_calls' in message)
    return isEmpty && no("Invalid value for 'content': expected a string, got null.", `messages.[${at}].content`)
  }),
  forMessages('no empty lists of calls', github('chatboxai/chatbox#2079'), ({ tool_calls: calls }, at) => {
    const param = `messages[${at}].tool_calls`
    const words = `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
    return Array.isArray(calls) && calls.length === 0 && no(words, param, 'empty_array')
  }),
  without('max_tokens', github('decolua/9router#560'), (_, { model }) => {
    const words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return isReasoning(model) && no(`Unsupported parameter: ${words}`, 'max_tokens', 'unsupported_parameter')
  }),
  without('temperature', github('decolua/9router#560'), (value, { model }) => {
    const words = `'temperature' does not support ${String(value)} with this model. Only the default (1) value is supported.`
    return isReasoning(model) && value !== 1 && no(`Unsupported value: ${words}`, 'temperature', 'unsupported_value')
  }),
  needsTools('parallel_tool_calls', 'openai/openai-openapi#287'),
  needsTools('tool_choice', 'writer/writer-framework#1013'),
  {
    name: 'pictures',
    source: 'https://portkey.ai/error-library/file-type-error-10079',
    refuses: (request) =>
      picturesOf(request).some(({ url }) => !/^data:image\/(?:png|jpeg|gif|webp);base64,|^https?:/.test(url)) &&
      no('Invalid MIME type. Only image types are supported.', 'messages', 'invalid_image_format'),
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
    keyed('authorization', github('Koischizo/AI-Vtuber#40'), {
      message: "You didn't provide an API key.",
    }),
    ...openAiChat,
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

const filtered = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } }

export const azure: Provider = {
  title: 'Azure OpenAI',
  seesPictures: true,
  rules: [
    {
      name: 'api-version',
      source: github('MicrosoftDocs/azure-docs#114602'),
      refuses: ({ path }) =>
        !new URL(path, 'http://host').searchParams.has('api-version') && {
          status: 404,
          message: 'Resource not found',
          code: '404',
        },
    },
    ...openAiChat,
  ],
  error: (refusal) =>
    refusal.status === undefined ? openAiError(refusal) : { error: { code: refusal.code, message: refusal.message } },
  dialect: chatDialect({
    path: '/openai/deployments/gpt-5/chat/completions',
    headers: { 'x-ratelimit-remaining-requests': '99', 'x-ms-region': 'Sweden Central' },
    opening: [
      {
        id: '',
        object: '',
        created: 0,
        model: '',
        choices: [],
        prompt_filter_results: [{ prompt_index: 0, content_filter_results: filtered }],
      },
      {
        object: 'chat.completion.chunk',
        choices: [
          { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null, content_filter_results: {} },
        ],
      },
    ],
    closing: [
      {
        id: '',
        object: '',
        created: 0,
        model: '',
        choices: [{ index: 0, finish_reason: null, content_filter_offsets: {}, content_filter_results: filtered }],
      },
    ],
    callId: (n) => `call_${String(n).padStart(24, 'zY3xW6vU9tS2rQ5pO8nM1lK4')}`,
    thought: () => ({}),
    usage: 'asked',
  }),
  modelId: 'gpt-5',
  base: '/openai/deployments/gpt-5?api-version=2024-10-21',
}
