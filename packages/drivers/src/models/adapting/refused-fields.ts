import { isJsonObject, readJson } from '@inlay/protocol'
import type { Transport } from '../stream/transport.ts'
import type { Step } from './step.ts'

type Fields = Readonly<Record<string, unknown>>

// Fields that a server may do without; each is left out where it is refused.
const optionalFields = [
  'stream_options',
  'parallel_tool_calls',
  'tool_choice',
  'temperature',
  'reasoning_effort',
  'response_format',
  'top_p',
  'seed',
  'user',
] as const

/** Names of the same limit, of which newer models take only the second. */
const limits = ['max_tokens', 'max_completion_tokens'] as const

const refusal =
  /unsupported|not (?:be )?support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not accept|extra (?:inputs|fields)|extra_forbidden|invalid|requires?\b|only the default|must be|wrong type|cannot|deprecated/i

/** Leaves out fields that a refusal names, or renames them. What it learns is applied by `withoutRefusedFields`. */
export const fieldStep: Step = {
  read: ({ status, text, body }) => {
    if (![400, 404, 405, 415, 422, 500, 501].includes(status) || !refusal.test(text)) return []
    const limit = limits.find((name) => body[name] !== undefined)
    const isLimit =
      /max_(?:completion_)?tokens/.test(text) && !/context.?length|too large|less than|at most/i.test(text)
    if (isLimit && limit) return [limit]
    // The first name in the text is the one that was refused.
    const named = optionalFields
      .map((name) => ({ name, at: text.search(new RegExp(`\\b${name}\\b|${name.replaceAll('_', '[ .]?')}`, 'i')) }))
      .filter(({ name, at }) => at >= 0 && body[name] !== undefined)
      .toSorted((a, b) => a.at - b.at)[0]?.name
    if (named === 'temperature' && /between|less than|greater than|range/i.test(text)) return []
    if (named === 'tool_choice' && body['tool_choice'] === 'required') return ['required calls']
    return named ? [named] : []
  },
  mend: (call, refused) => {
    const { tools = [], toolChoice } = call
    const isForced = toolChoice?.type === 'tool' || toolChoice?.type === 'required'
    if (isForced && refused.has('required calls')) return { ...call, toolChoice: { type: 'auto' } }
    // Several servers support only strings; with a single tool, `required` is equivalent.
    return toolChoice?.type === 'tool' && tools.length === 1 ? { ...call, toolChoice: { type: 'required' } } : call
  },
}

export function withoutFields(body: Fields, refused: ReadonlySet<string>): Fields {
  const changed: Record<string, unknown> = { ...body }
  for (const name of optionalFields) if (refused.has(name)) delete changed[name]
  const [from, to] = refused.has(limits[0]) ? limits : limits.toReversed()
  if (from && to && refused.has(from) && changed[from] !== undefined) {
    changed[to] = changed[from]
    delete changed[from]
  }
  return changed
}

/** Sends requests without the fields that the server has refused, as the model they name is known. */
export function withoutRefusedFields(
  transport: Transport,
  refusedBy: (modelId: string) => ReadonlySet<string>,
): Transport {
  return async (request) => {
    const body = typeof request.body === 'string' ? readJson(request.body) : undefined
    if (!isJsonObject(body) || typeof body['model'] !== 'string') return transport(request)
    const sent = withoutFields(body, refusedBy(body['model']))
    if (Object.keys(sent).join() === Object.keys(body).join()) return transport(request)
    const { 'content-length': _, ...headers } = request.headers
    return transport({ ...request, headers, body: JSON.stringify(sent) })
  }
}
