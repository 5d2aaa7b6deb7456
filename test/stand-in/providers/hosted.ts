import { chatDialect, resultsFollowCalls, without } from './chat.ts'
import { openAiError } from './openai.ts'
import { keyed, objects, type Json, type Provider } from './provider.ts'

const hex = (n: number, length: number): string => (n + 0xabc_def).toString(16).padStart(length, '0123456789abcdef')

/** Whether the thoughts of a model are on, as they are unless a request turns them off. */
const thinks = ({ thinking }: Json): boolean => objects([thinking])[0]?.['type'] !== 'disabled'

export const deepseek: Provider = {
  title: 'DeepSeek',
  seesPictures: false,
  rules: [
    keyed('authorization', 'https://api-docs.deepseek.com/quick_start/error_codes', {
      message: 'Authentication Fails (governor)',
      type: 'authentication_error',
      code: 'invalid_request_error',
    }),
    {
      name: 'thoughts come back with calls',
      source: 'https://github.com/mnfst/modelparams.dev/issues/29',
      refuses: ({ body }) =>
        thinks(body) &&
        objects(body['messages']).some(
          (message) => objects(message['tool_calls']).length > 0 && typeof message['reasoning_content'] !== 'string',
        )
          ? {
              message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
              code: 'invalid_request_error',
            }
          : undefined,
    },
    resultsFollowCalls('https://github.com/langgenius/dify/issues/32222', {
      missing: () => ({
        message:
          "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
        code: 'invalid_request_error',
      }),
      orphaned: () => ({
        message: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        code: 'invalid_request_error',
      }),
    }),
  ],
  error: openAiError,
  dialect: chatDialect({
    base: { system_fingerprint: 'fp_eaab8d114b_prod0820_fp8_kvcache' },
    opening: [
      {
        object: 'chat.completion.chunk',
        choices: [
          { index: 0, delta: { role: 'assistant', content: null, reasoning_content: '' }, finish_reason: null },
        ],
        usage: null,
      },
    ],
    comment: ': keep-alive\n\n',
    callId: (n) => `call_00_${hex(n, 24)}`,
    calls: 'letters',
    thought: (text) => ({ content: null, reasoning_content: text }),
    usage: 'with reason',
    usageOf: { prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 12 },
  }),
  modelId: 'deepseek-v4-pro',
}

export const kimi: Provider = {
  title: 'Kimi (Moonshot)',
  seesPictures: true,
  rules: [
    {
      name: 'thoughts come back with calls',
      source: 'https://github.com/bytedance/deer-flow/issues/3043',
      refuses: ({ body }) => {
        if (!thinks(body)) return undefined
        const at = objects(body['messages']).findIndex(
          (message) => objects(message['tool_calls']).length > 0 && !message['reasoning_content'],
        )
        return at < 0
          ? undefined
          : `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`
      },
    },
    without('tool_choice', 'https://github.com/bestruirui/octopus/pull/251', (value, body) =>
      thinks(body) && value !== 'auto' && value !== 'none'
        ? `tool_choice '${typeof value === 'string' ? value : 'specified'}' is incompatible with thinking enabled`
        : undefined,
    ),
  ],
  error: ({ message, type = 'invalid_request_error' }) => ({ error: { message, type } }),
  dialect: chatDialect({
    callId: (n, name) => `functions.${name}:${n}`,
    usage: 'in choice',
  }),
  modelId: 'kimi-k2.6',
}
