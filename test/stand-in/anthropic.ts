import { startModelServer, type Dialect, type Replies, type ReplyPart, type StandIn } from './model-server.ts'

const reasons: Record<string, string> = { stop: 'end_turn', tool_calls: 'tool_use' }
const event = (value: { type: string; [name: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`

/** Writes one content block: start, deltas, end. */
function block(index: number, start: Record<string, unknown>, deltas: readonly Record<string, unknown>[]): string[] {
  return [
    event({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ]
}

function createMessages(): Dialect {
  let next = 0
  const write = (part: ReplyPart): string[] => {
    if ('text' in part) return block(next++, { type: 'text', text: '' }, [{ type: 'text_delta', text: part.text }])
    if ('reasoning' in part)
      return block(next++, { type: 'thinking', thinking: '' }, [
        { type: 'thinking_delta', thinking: part.reasoning },
        { type: 'signature_delta', signature: 's' },
      ])
    if ('error' in part) return [event({ type: 'error', error: part.error })]
    if (!('calls' in part)) return []
    return part.calls.flatMap(({ id, name, input }) => {
      const text = JSON.stringify(input)
      const deltas = [text.slice(0, 4), text.slice(4)].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }))
      return block(next++, { type: 'tool_use', id, name, input: {} }, deltas)
    })
  }
  return {
    path: '/v1/messages',
    start: (model) => {
      next = 0
      const message = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 12, output_tokens: 1 },
      }
      return [event({ type: 'message_start', message })]
    },
    write,
    finish: (reason) => [
      event({
        type: 'message_delta',
        delta: { stop_reason: reasons[reason] ?? reason, stop_sequence: null },
        usage: { output_tokens: 7 },
      }),
      event({ type: 'message_stop' }),
    ],
    whole: (parts, model) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: parts.flatMap((part) => ('text' in part ? [{ type: 'text', text: part.text }] : [])),
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 12, output_tokens: 7 },
    }),
  }
}

/** Starts a stand-in for the Anthropic messages API; its base URL is `${origin}/v1`. */
export const startAnthropic = (replies: Replies): Promise<StandIn> => startModelServer(replies, createMessages())
