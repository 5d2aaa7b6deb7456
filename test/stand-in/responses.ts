import { startModelServer, type Dialect, type Replies, type ReplyPart, type StandIn } from './model-server.ts'

const event = (type: string, value: object): string => `data: ${JSON.stringify({ type, ...value })}\n\n`

function write(part: ReplyPart): string[] {
  if ('text' in part) {
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const item = { type: 'message', id: 'msg_1', status: 'in_progress', role: 'assistant', content: [] }
    return [
      event('response.output_item.added', { output_index: 0, item }),
      ...(part.text.match(/\S+\s*/g) ?? []).map((delta) => event('response.output_text.delta', { ...at, delta })),
      event('response.output_item.done', { output_index: 0, item: { ...item, status: 'completed' } }),
    ]
  }
  if (!('calls' in part)) return []
  return part.calls.flatMap(({ id, name, input }, index) => {
    const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name }
    const text = JSON.stringify(input)
    return [
      event('response.output_item.added', {
        output_index: index,
        item: { ...item, status: 'in_progress', arguments: '' },
      }),
      event('response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta: text }),
      event('response.output_item.done', {
        output_index: index,
        item: { ...item, status: 'completed', arguments: text },
      }),
    ]
  })
}

const responses: Dialect = {
  path: '/v1/responses',
  start: (model) => [event('response.created', { response: { id: 'resp_1', created_at: 1_700_000_000, model } })],
  write,
  finish: () => [event('response.completed', { response: { usage: { input_tokens: 12, output_tokens: 7 } } })],
  whole: () => ({}),
}

/** Starts a stand-in for OpenAI's responses API, streams alone; its base URL is `${origin}/v1`. */
export const startResponses = (replies: Replies): Promise<StandIn> => startModelServer(replies, responses)
