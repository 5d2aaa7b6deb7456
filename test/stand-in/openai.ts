import { startModelServer, type Dialect, type Replies, type ReplyPart, type StandIn } from './model-server.ts'

const base = { id: 'chatcmpl-1', created: 1_700_000_000 }
const usage = {
  prompt_tokens: 12,
  completion_tokens: 7,
  total_tokens: 19,
  completion_tokens_details: { reasoning_tokens: 3 },
}

const event = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: unknown, finish: string | null = null): string =>
  event({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })

function write(part: ReplyPart): string[] {
  if ('text' in part) return [chunk({ content: part.text })]
  if ('reasoning' in part) return [chunk({ reasoning_content: part.reasoning })]
  if ('error' in part) return [event({ error: part.error })]
  if (!('calls' in part)) return []
  const inputs = part.calls.map(({ input }) => (typeof input === 'string' ? input : JSON.stringify(input)))
  const half = (text: string): number => Math.ceil(text.length / 2)
  return [
    ...part.calls.map(({ id, name }, index) =>
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ),
    ...inputs.map((text, index) =>
      chunk({ tool_calls: [{ index, function: { arguments: text.slice(0, half(text)) } }] }),
    ),
    ...inputs.map((text, index) => chunk({ tool_calls: [{ index, function: { arguments: text.slice(half(text)) } }] })),
  ]
}

const chatCompletions: Dialect = {
  path: '/v1/chat/completions',
  start: () => [chunk({ role: 'assistant' })],
  write,
  finish: (reason) => [
    chunk({}, reason),
    event({ ...base, object: 'chat.completion.chunk', choices: [], usage }),
    event('[DONE]'),
  ],
  whole: (parts, model) => {
    const join = (texts: string[]): string | null => (texts.length > 0 ? texts.join('') : null)
    const calls = parts.flatMap((part) => ('calls' in part ? part.calls : []))
    const message = {
      role: 'assistant',
      content: join(parts.flatMap((part) => ('text' in part ? [part.text] : []))),
      reasoning_content: join(parts.flatMap((part) => ('reasoning' in part ? [part.reasoning] : []))),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, input }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        })),
      }),
    }
    const end = parts.find((part) => 'end' in part)
    const reason = end && 'end' in end ? end.end : calls.length > 0 ? 'tool_calls' : 'stop'
    return { ...base, object: 'chat.completion', model, choices: [{ index: 0, message, finish_reason: reason }], usage }
  },
}

/**
 * Starts a stand-in for an OpenAI-compatible chat API; its base URL is `${origin}/v1`.
 * @param others what other paths answer, as JSON
 */
export const startOpenAi = (replies: Replies, others?: Readonly<Record<string, unknown>>): Promise<StandIn> =>
  startModelServer(replies, chatCompletions, others)
