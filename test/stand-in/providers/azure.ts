import { chatDialect } from './chat.ts'
import { openAiError, openAiMessages, openAiTools } from './openai.ts'
import type { Provider } from './provider.ts'

const filtered = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } }

export const azure: Provider = {
  title: 'Azure OpenAI',
  seesPictures: true,
  rules: [
    {
      name: 'api-version',
      source: 'https://github.com/MicrosoftDocs/azure-docs/issues/114602',
      refuses: ({ path }) =>
        new URL(path, 'http://host').searchParams.has('api-version')
          ? undefined
          : { status: 404, message: 'Resource not found', code: '404' },
    },
    ...openAiTools,
    ...openAiMessages,
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
