import { isJsonObject, readJson } from '@inlay/protocol'
import {
  lacksThoughts,
  refusedInMessages,
  withoutCalls,
  withPlainMessages,
  type MessageOmission,
} from './refused-messages.ts'

/** A part of a request that some servers refuse; the name of a field means omitting that field. */
export type Omission =
  | 'tools'
  | MessageOmission
  | 'schema keywords'
  | 'schema details'
  | 'required calls'
  | 'chat completions'
  | 'responses'
  | 'thinking with tools'
  | 'max_tokens'
  | 'max_completion_tokens'
  | Optional

type Optional = (typeof optionalFields)[number]

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

const refusal =
  /unsupported|not (?:be )?support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not accept|extra (?:inputs|fields)|extra_forbidden|invalid|requires?\b|only the default|must be|wrong type|cannot|deprecated/i
const noTools =
  /(?:not|n't) support (?:tools?|functions?|tool use|function calling)\b|support tool use|auto\W{0,3}tool choice requires|tools param requires|unexpected keyword argument '?tools\b|tools?(?: use| calling)? (?:is|are) not supported|function calling is not (?:supported|enabled)/i
// Error message of OpenAI for its newer models.
const wantsResponses = /\/?v1\/responses\b/
const noThinking = /tools with reasoning_effort are not supported/i
const noSchema =
  /json schema conversion failed|unable to generate parser|failed to (?:parse|initialize) (?:grammar|samplers)|invalid (?:json )?schema|schema .{0,60}(?:not supported|unsupported|not permitted)|\$schema|unsupported .{0,20}schema/i

/**
 * Determines which part of a request a server refused.
 * @param text the response of the server
 * @param known parts already omitted
 * @returns undefined if the response names no part of this request
 */
export function refusedPart(
  status: number,
  text: string,
  body: Readonly<Record<string, unknown>>,
  known: ReadonlySet<Omission>,
): Omission | undefined {
  if (![400, 404, 405, 415, 422, 500, 501].includes(status)) return undefined
  const hasTools = Array.isArray(body['tools']) && body['tools'].length > 0
  if (Array.isArray(body['messages']) && wantsResponses.test(text) && !known.has('responses')) return 'chat completions'
  if (hasTools && noThinking.test(text)) return known.has('thinking with tools') ? 'tools' : 'thinking with tools'
  if (hasTools && noTools.test(text)) return 'tools'
  const messages = Array.isArray(body['messages']) ? body['messages'] : []
  const inMessages = refusedInMessages(text, messages)
  if (inMessages && !known.has(inMessages)) return inMessages
  if (hasTools && noSchema.test(text)) {
    const next = known.has('schema keywords') ? 'schema details' : 'schema keywords'
    return known.has(next) ? undefined : next
  }
  if (!refusal.test(text)) return undefined
  const limit = refusedLimit(text, body)
  if (limit) return limit
  // The first name in the text is the one that was refused.
  const named = optionalFields
    .map((name) => ({ name, at: text.search(new RegExp(`\\b${name}\\b|${name.replaceAll('_', '[ .]?')}`, 'i')) }))
    .filter(({ name, at }) => at >= 0 && body[name] !== undefined)
    .toSorted((a, b) => a.at - b.at)[0]?.name
  if (named === 'temperature' && /between|less than|greater than|range/i.test(text)) return undefined
  if (named === 'tool_choice' && body['tool_choice'] === 'required') return 'required calls'
  if (named) return named
  const saysTools = hasTools && /["'`.\s(]tools["'`\s:,)]/.test(text)
  return saysTools && status !== 500 ? 'tools' : undefined
}

function refusedLimit(text: string, body: Readonly<Record<string, unknown>>): Omission | undefined {
  if (!/max_(?:completion_)?tokens/.test(text) || /context.?length|too large|less than|at most/i.test(text))
    return undefined
  if (body['max_tokens'] !== undefined) return 'max_tokens'
  return body['max_completion_tokens'] === undefined ? undefined : 'max_completion_tokens'
}

/** The body without the refused parts; the same object if nothing changes. */
export function withoutRefused(
  body: Readonly<Record<string, unknown>>,
  refused: ReadonlySet<Omission>,
): Readonly<Record<string, unknown>> {
  const changed: Record<string, unknown> = { ...body }
  if (refused.has('thinking with tools') && body['tools'] !== undefined) changed['reasoning_effort'] = 'none'
  for (const name of optionalFields) if (refused.has(name)) delete changed[name]
  if (refused.has('max_tokens')) rename(changed, 'max_tokens', 'max_completion_tokens')
  else if (refused.has('max_completion_tokens')) rename(changed, 'max_completion_tokens', 'max_tokens')
  if (refused.has('tools')) {
    for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) delete changed[name]
    if (Array.isArray(body['messages'])) changed['messages'] = withoutCalls(body['messages'])
  }
  const isAsked = typeof changed['tool_choice'] === 'object' && changed['tool_choice'] !== null
  // Several servers support only strings; with a single tool, `required` is equivalent.
  if (isAsked && Array.isArray(body['tools']) && body['tools'].length === 1) changed['tool_choice'] = 'required'
  if (refused.has('required calls') && changed['tool_choice'] === 'required') changed['tool_choice'] = 'auto'
  if (refused.has('schema keywords')) changed['tools'] = withPlainSchemas(changed['tools'], refused)
  if (Array.isArray(changed['messages'])) {
    const messages = withPlainMessages(changed['messages'], refused)
    changed['messages'] = messages
    if (refused.has('thinking with calls without thoughts') && lacksThoughts(messages)) delete changed['thinking']
  }
  return changed
}

function rename(body: Record<string, unknown>, from: string, to: string): void {
  if (body[from] === undefined) return
  body[to] = body[from]
  delete body[from]
}

const refusedKeywords = new Set(['$schema', 'pattern', 'format', 'default', 'examples', '$id', '$comment'])
const plainKeywords = new Set(['type', 'properties', 'required', 'items', 'enum', 'description', 'anyOf'])

function withPlainSchemas(tools: unknown, refused: ReadonlySet<Omission>): unknown {
  if (!Array.isArray(tools)) return tools
  const keeps = (name: string): boolean =>
    refused.has('schema details') ? plainKeywords.has(name) : !refusedKeywords.has(name)
  return tools.map((tool: unknown) => {
    const described = isJsonObject(tool) ? tool['function'] : undefined
    if (!isJsonObject(tool) || !isJsonObject(described)) return tool
    return { ...tool, function: { ...described, parameters: plainSchema(described['parameters'], keeps) } }
  })
}

function plainSchema(schema: unknown, keeps: (name: string) => boolean): unknown {
  if (Array.isArray(schema)) return schema.map((part) => plainSchema(part, keeps))
  if (!isJsonObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) => {
      // Arguments may have the name of a keyword.
      if (name === 'properties' && isJsonObject(value)) {
        return [[name, Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plainSchema(part, keeps)]))]]
      }
      return keeps(name) ? [[name, plainSchema(value, keeps)]] : []
    }),
  )
}

/** The fields of a request to a model; undefined for anything but a JSON object that names one. */
export function readRequest(
  body: unknown,
): (Readonly<Record<string, unknown>> & { readonly model: string }) | undefined {
  const value = typeof body === 'string' ? readJson(body) : undefined
  return isJsonObject(value) && typeof value['model'] === 'string' ? { ...value, model: value['model'] } : undefined
}
