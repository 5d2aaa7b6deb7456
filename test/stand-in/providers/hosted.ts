import { chatDialect, forCalls, forMessages, resultsFollowCalls, without } from './chat.ts'
import { openAiError } from './openai.ts'
import { github, objects, type Json, type Provider, type Refusal } from './provider.ts'
import { responsesDialect } from './responses.ts'
import { atMost, chatTools } from './schemas.ts'

const hex = (n: number, length: number): string => (n + 0xabc_def).toString(16).padStart(length, '0123456789abcdef')

/** Whether the thoughts of a model are on, as they are unless a request turns them off. */
const thinks = ({ thinking }: Json): boolean => objects([thinking])[0]?.['type'] !== 'disabled'

export const deepseek: Provider = {
  title: 'DeepSeek',
  seesPictures: false,
  rules: [
    {
      name: 'thoughts come back with calls',
      source: github('mnfst/modelparams.dev#29'),
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
    resultsFollowCalls(github('langgenius/dify#32222'), {
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
  api: 'deepseek',
  modelId: 'deepseek-v4-pro',
}

export const kimi: Provider = {
  title: 'Kimi (Moonshot)',
  seesPictures: true,
  rules: [
    {
      name: 'thoughts come back with calls',
      source: github('bytedance/deer-flow#3043'),
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
    without('tool_choice', github('bestruirui/octopus#251'), (value, body) =>
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

const forbidden = (loc: readonly (string | number)[], input: unknown): Refusal => ({
  status: 422,
  message: JSON.stringify([{ type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted', input }]),
})
const order = (message: string): Refusal => ({ message, type: 'invalid_request_message_order', code: '3230' })

export const mistral: Provider = {
  title: 'Mistral',
  seesPictures: true,
  rules: [
    without('max_completion_tokens', github('editor-code-assistant/eca#231'), (value) =>
      forbidden(['body', 'max_completion_tokens'], value),
    ),
    forMessages('no thoughts', github('charmbracelet/crush#1590'), (message, at) => {
      const known = ['role', 'content', 'tool_calls', 'prefix', 'name', 'tool_call_id']
      const unknown = Object.keys(message).find((field) => !known.includes(field))
      return unknown === undefined
        ? undefined
        : forbidden(['body', 'messages', at, String(message['role']), unknown], message[unknown])
    }),
    forCalls('ids of calls', github('karthink/gptel#1203'), ({ id }) =>
      /^[a-zA-Z0-9]{9}$/.test(id) ? undefined : `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
    ),
    forMessages('order of roles', github('datapizza-labs/datapizza-ai#98'), (message, at, all) => {
      const [role, before] = [message['role'], all[at - 1]?.['role']]
      const isOrphaned = role === 'tool' && before !== 'tool' && objects(all[at - 1]?.['tool_calls']).length === 0
      return (role === 'user' && before === 'tool') || isOrphaned
        ? order(`Unexpected role '${String(role)}' after role '${String(before)}'`)
        : undefined
    }),
    forMessages('last role', github('0xPlaygrounds/rig#1130'), ({ role, prefix }, at, all) =>
      at === all.length - 1 && role === 'assistant' && prefix !== true
        ? order('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant')
        : undefined,
    ),
  ],
  error: ({ status, message, type = 'invalid_request_error', code = null }) => ({
    object: 'error',
    message: status === 422 ? { detail: JSON.parse(message) as unknown } : message,
    type,
    param: null,
    code,
  }),
  dialect: chatDialect({
    headers: { 'x-ratelimit-remaining-tokens-minute': '499000' },
    callId: (n) => `D681Pev${String(n).padStart(2, '0')}`,
    calls: 'whole',
    thought: (text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
    usage: 'with reason',
  }),
  api: 'mistral',
  modelId: 'magistral-medium-latest',
}

export const groq: Provider = {
  title: 'Groq',
  seesPictures: false,
  rules: [
    atMost(128, github('gsd-build/gsd-2#4376'), chatTools, () => "'tools' : maximum number of items is 128"),
    forMessages('no thoughts', github('janhq/jan#8136'), (message, at) =>
      'reasoning_content' in message
        ? `'messages.${at}' : for 'role:${String(message['role'])}' the following must be satisfied[('messages.${at}' : property 'reasoning_content' is unsupported)]`
        : undefined,
    ),
    without('store', github('fanenr/chatbot#21'), () => "property 'store' is unsupported, did you mean 'stop'?"),
  ],
  error: ({ message, type = 'invalid_request_error', code }) => ({ error: { message, type, ...(code && { code }) } }),
  dialect: chatDialect({
    path: '/openai/v1/chat/completions',
    headers: { 'x-ratelimit-remaining-tokens': '7900', 'x-ratelimit-reset-tokens': '7.66s' },
    base: { system_fingerprint: 'fp_179b0f92c9', x_groq: { id: 'req_01k0' } },
    callId: (n) => `fc_${hex(n, 16)}`,
    calls: 'whole',
    thought: (text) => ({ reasoning: text, channel: 'analysis' }),
    usage: 'with reason',
  }),
  api: 'groq',
  modelId: 'openai/gpt-oss-120b',
  base: '/openai/v1',
}

const xaiChat = chatDialect({
  base: { system_fingerprint: 'fp_156d35dcaa' },
  delta: { role: 'assistant' },
  callId: (n) => `call_${String(10_000_000 + n)}`,
  calls: 'whole',
  usage: 'always',
})

export const xai: Provider = {
  title: 'xAI',
  seesPictures: true,
  rules: [
    atMost(
      200,
      github('anomalyco/opencode#28911'),
      chatTools,
      (count) => `Maximum tools limit reached. ${count} tools have been provided but the maximum is 200.`,
    ),
    without(
      'reasoning_effort',
      github('NousResearch/hermes-agent#23435'),
      (_, { model }) => `Model ${String(model)} does not support parameter reasoningEffort.`,
    ),
    without(
      'presence_penalty',
      github('miaoxworld/NativeTavern#83'),
      (_, { model }) => `Model ${String(model)} does not support parameter presencePenalty.`,
    ),
  ],
  error: ({ message }) => ({ code: 'Client specified an invalid argument', error: message }),
  // Its own client speaks the responses API.
  dialect: (request) => (request.path === '/v1/responses' ? responsesDialect(request) : xaiChat(request)),
  api: 'xai',
  modelId: 'grok-4',
}

const sealed = (n: number): string => Buffer.from(`sealed ${n}`).toString('base64')
const format = 'google-gemini-v1'

export const openrouter: Provider = {
  title: 'OpenRouter (Gemini)',
  seesPictures: true,
  rules: [
    forMessages('thoughts come back with calls', github('RooCodeInc/Roo-Code#10640'), (message) => {
      const [call] = objects(message['tool_calls'])
      const described = call && objects([call['function']])[0]
      const details = objects(message['reasoning_details'])
      return described === undefined ||
        details.some(({ type, id }) => type === 'reasoning.encrypted' && id === call?.['id'])
        ? undefined
        : `Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning-blocks. Upstream error: {\n  "error": {\n    "code": 400,\n    "message": "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${String(described['name'])}\` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",\n    "status": "INVALID_ARGUMENT"\n  }\n}\n`
    }),
  ],
  error: ({ message, status = 400 }) => ({
    error: {
      message: 'Provider returned error',
      code: status,
      metadata: { raw: message, provider_name: 'Google AI Studio' },
    },
    user_id: 'user_2',
  }),
  dialect: chatDialect({
    path: '/api/v1/chat/completions',
    base: { provider: 'Google AI Studio' },
    comment: ': OPENROUTER PROCESSING\n\n',
    delta: { role: 'assistant', content: '' },
    callId: (n, name) => `tool_${n}_${name}_Zk3Q`,
    calls: 'whole',
    thought: (text) => ({
      reasoning: text,
      reasoning_details: [{ type: 'reasoning.text', text, format, index: 0 }],
    }),
    signMessage: (id, n) => ({
      reasoning: null,
      reasoning_details: [{ type: 'reasoning.encrypted', data: sealed(n), id, format, index: 0 }],
    }),
    usage: 'always',
  }),
  api: 'openrouter',
  modelId: 'google/gemini-3-pro-preview',
  base: '/api/v1',
}
