import {
  startModelServer,
  type Dialect,
  type Events,
  type RecordedRequest,
  type Replies,
  type ReplyPart,
  type StandIn,
} from '../model-server.ts'
import { openAiError, openAiTools, schemaError } from './openai.ts'
import { github, objects, type Json, type Provider } from './provider.ts'
import { chatTools, first } from './schemas.ts'

const itemsOf = ({ body }: Pick<RecordedRequest, 'body'>): readonly Json[] => objects(body['input'])
const event = (type: string, value: Json): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`
const usage = { input_tokens: 12, output_tokens: 7, output_tokens_details: { reasoning_tokens: 3 }, total_tokens: 19 }

/** The responses API, of OpenAI and of those who offer it as well. */
export function responsesDialect(request: RecordedRequest): Dialect {
  const { body } = request
  const isSealed = Array.isArray(body['include']) && body['include'].includes('reasoning.encrypted_content')
  let called = itemsOf(request).filter(({ type }) => type === 'function_call').length
  let output = -1
  const sent: Json[] = []
  const response = { id: 'resp_68', object: 'response', created_at: 1_700_000_000, model: body['model'], output: sent }
  const itemsFor = (part: ReplyPart): Json[] => {
    if ('text' in part) {
      const content = [{ type: 'output_text', text: part.text, annotations: [] }]
      return [{ type: 'message', id: `msg_${called}`, status: 'completed', role: 'assistant', content }]
    }
    if ('reasoning' in part) {
      const encrypted_content = isSealed ? Buffer.from(part.reasoning).toString('base64') : null
      return [{ type: 'reasoning', id: `rs_${called}`, summary: [], encrypted_content, status: 'completed' }]
    }
    if (!('calls' in part)) return []
    return part.calls.map(({ name, input }) => {
      const n = called++
      const id = { id: `fc_${n}`, call_id: `call_${String(n).padStart(24, 'R')}` }
      return { type: 'function_call', ...id, name, arguments: JSON.stringify(input), status: 'completed' }
    })
  }
  const write = (part: ReplyPart): Events =>
    itemsFor(part).flatMap((item) => {
      sent.push(item)
      const at = { output_index: ++output, item_id: item['id'] }
      const started = 'arguments' in item ? { ...item, arguments: '', status: 'in_progress' } : { ...item, content: [] }
      const deltas =
        'arguments' in item
          ? [event('response.function_call_arguments.delta', { ...at, delta: item['arguments'] })]
          : 'text' in part
            ? [event('response.output_text.delta', { ...at, content_index: 0, delta: part.text, obfuscation: 'Zq' })]
            : []
      return [
        event('response.output_item.added', { output_index: output, item: started }),
        ...deltas,
        event('response.output_item.done', { output_index: output, item }),
      ]
    })
  return {
    path: request.path,
    start: () =>
      ['response.created', 'response.in_progress'].map((type) =>
        event(type, { response: { ...response, status: 'in_progress' } }),
      ),
    write,
    finish: () => [event('response.completed', { response: { ...response, status: 'completed', usage } })],
    whole: (parts) => ({ ...response, status: 'completed', output: parts.flatMap(itemsFor), usage }),
  }
}

/** OpenAI, for a model that has the responses API alone. */
export const openaiResponses: Provider = {
  title: 'OpenAI, responses',
  seesPictures: true,
  rules: [
    {
      name: 'no chat completions',
      source: github('sigoden/aichat#1318'),
      refuses: ({ path }) =>
        path.endsWith('/chat/completions')
          ? {
              status: 404,
              message: 'This model is only supported in v1/responses and not in v1/chat/completions.',
              param: 'model',
            }
          : undefined,
    },
    ...openAiTools((at) => `tools[${at}].`),
    {
      name: 'strict schemas are closed',
      source: github('bytedance/trae-agent#173'),
      refuses: (request) =>
        first(
          chatTools(request).filter(({ at }) => objects(request.body['tools'])[at]?.['strict'] === true),
          ({ name, at, schema }) =>
            schema['additionalProperties'] === false
              ? undefined
              : schemaError(
                  name,
                  `tools[${at}].`,
                  "In context=(), 'additionalProperties' is required to be supplied and to be false.",
                ),
        ),
    },
    {
      name: 'nothing is kept',
      source: github('vercel/ai#7543'),
      refuses: (request) =>
        first(itemsOf(request), ({ type, id, encrypted_content: sealed }) =>
          (type === 'reasoning' && typeof sealed !== 'string') || type === 'item_reference'
            ? {
                status: 404,
                message: `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
                param: 'input',
              }
            : undefined,
        ),
    },
    {
      name: 'thoughts before what follows',
      source: github('OpenHands/software-agent-sdk#2178'),
      refuses: (request) =>
        first(itemsOf(request), ({ type, id }, at) => {
          const next = itemsOf(request)[at + 1]
          return type !== 'reasoning' ||
            ['function_call', 'reasoning'].includes(String(next?.['type'])) ||
            next?.['role'] === 'assistant'
            ? undefined
            : {
                message: `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`,
                param: 'input',
              }
        }),
    },
    {
      name: 'results of calls',
      source: github('router-for-me/CLIProxyAPI#2368'),
      refuses: (request) => {
        const ids = (type: string): unknown[] =>
          itemsOf(request).flatMap((item) => (item['type'] === type ? [item['call_id']] : []))
        const [calls, results] = [ids('function_call'), ids('function_call_output')]
        const missing = calls.find((id) => !results.includes(id))
        const orphaned = results.find((id) => !calls.includes(id))
        if (missing !== undefined)
          return { message: `No tool output found for function call ${String(missing)}.`, param: 'input' }
        return orphaned === undefined
          ? undefined
          : { message: `No tool call found for function call output with call_id ${String(orphaned)}.`, param: 'input' }
      },
    },
  ],
  error: openAiError,
  dialect: (request) =>
    /^\/v1\/(?:responses|chat\/completions)$/.test(request.path) ? responsesDialect(request) : undefined,
  api: 'openai',
  modelId: 'gpt-5-pro',
}

/** The responses API alone, without the rules of OpenAI. */
export const startResponses = (replies: Replies): Promise<StandIn> =>
  startModelServer(replies, (request) => (request.path === '/v1/responses' ? responsesDialect(request) : undefined))
