import { chatDialect, forCalls, resultsFollowCalls } from './chat.ts'
import { github, isJson, objects, type Json, type Provider, type Refusal, type Rule } from './provider.ts'
import {
  chatTools,
  first,
  forSchemas,
  forTools,
  toTool,
  typesOf,
  type OfferedTool,
  type SchemaPart,
} from './schemas.ts'
import type { Dialect, RecordedRequest, ReplyPart } from '../model-server.ts'

// The fields of a schema in Gemini's API, which reads it as a message of its own and refuses any other field.
const schemaFields = new Set(
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  ),
)
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Where a schema stands, as Gemini writes it: `properties[ids].items` of what it read, `properties[0].value` before. */
function placeOf({ path, tool }: SchemaPart, isRead = true): string {
  let place = ''
  let schema: unknown = tool.schema
  for (let at = 0; at < path.length; at++) {
    const field = path[at]!
    place += `.${snake(field)}`
    schema = isJson(schema) ? schema[field] : undefined
    if (!['properties', '$defs', 'definitions', 'anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(field)) continue
    const name = path[++at]!
    const isMap = isJson(schema)
    place += isRead || !isMap ? `[${name}]` : `[${Object.keys(schema as Json).indexOf(name)}].value`
    schema = Reflect.get(schema as object, name)
  }
  return place
}

type Tools = (request: RecordedRequest) => readonly OfferedTool[]

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}
const errorOf = ({ message, status = 400 }: Refusal): Json => ({
  error: { code: status, message, status: statuses[status] ?? 'INTERNAL' },
})

/** What Gemini demands of tools, by either of its APIs. */
export const geminiTools = (tools: Tools): readonly Rule[] => [
  forTools('names of tools', github('AstrBotDevs/AstrBot#5416'), tools, ({ name, at }) =>
    /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name)
      ? undefined
      : `* GenerateContentRequest.tools[0].function_declarations[${at}].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n`,
  ),
  forSchemas('no unknown keywords', github('Mirrowel/LLM-API-Key-Proxy#86'), tools, (part) => {
    const unknown = Object.keys(part.schema).find((key) => !schemaFields.has(key))
    const place = `request.tools[0].function_declarations[${part.tool.at}].parameters${placeOf(part, false)}`
    return unknown === undefined
      ? undefined
      : `Invalid JSON payload received. Unknown name "${unknown}" at '${place}': Cannot find field.`
  }),
  forSchemas('one type', github('zed-industries/zed#53919'), tools, (part) =>
    Array.isArray(part.schema['type'])
      ? `Invalid JSON payload received. Unknown name "type" at 'request.tools[0].function_declarations[${part.tool.at}].parameters${placeOf(part, false)}': Proto field is not repeating, cannot start list.`
      : undefined,
  ),
  forSchemas('arrays have items', github('cline/cline#7926'), tools, (part) =>
    typesOf(part.schema).includes('array') && !('items' in part.schema)
      ? `* GenerateContentRequest.tools[0].function_declarations[${part.tool.at}].parameters${placeOf(part)}.items: missing field.\n`
      : undefined,
  ),
  forSchemas('enums are texts', github('google-gemini/gemini-cli#4120'), tools, (part) => {
    const values = Array.isArray(part.schema['enum']) ? part.schema['enum'] : []
    const at = values.findIndex((value) => typeof value !== 'string' || value === '')
    if (at < 0) return undefined
    const place = `tools[0].function_declarations[${part.tool.at}].parameters${placeOf(part, values[at] === '')}.enum[${at}]`
    return values[at] === ''
      ? `* GenerateContentRequest.${place}: cannot be empty\n`
      : `Invalid value at 'request.${place}' (TYPE_STRING), ${JSON.stringify(values[at])}`
  }),
  forSchemas('required names are known', github('iBUHub/AIStudioToAPI#154'), tools, (part) => {
    const names = Object.keys(isJson(part.schema['properties']) ? part.schema['properties'] : {})
    const required = Array.isArray(part.schema['required']) ? part.schema['required'] : []
    const at = required.findIndex((name) => !names.includes(String(name)))
    return at < 0
      ? undefined
      : `* GenerateContentRequest.tools[0].function_declarations[${part.tool.at}].parameters${placeOf(part)}.required[${at}]: property is not defined\n`
  }),
]

const signed = (n: number): Json => ({
  extra_content: { google: { thought_signature: Buffer.from(`thought ${n}`).toString('base64') } },
})

/** Gemini's endpoint for clients of OpenAI. */
export const geminiCompatible: Provider = {
  title: "Gemini, OpenAI's API",
  seesPictures: true,
  rules: [
    ...geminiTools(chatTools),
    forCalls('signatures', github('earendil-works/pi#3234'), ({ call, name, at, index }) => {
      const extra = isJson(call['extra_content']) ? call['extra_content']['google'] : undefined
      // Only the first of parallel calls carries one.
      return index > 0 || (isJson(extra) && typeof extra['thought_signature'] === 'string')
        ? undefined
        : `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${at}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`
    }),
    resultsFollowCalls(github('google-gemini/gemini-cli#16415'), {
      missing: () =>
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      orphaned: () => 'Please ensure that function response turn comes immediately after a function call turn.',
    }),
  ],
  error: (refusal) => [errorOf(refusal)],
  dialect: chatDialect({
    path: '/v1beta/openai/chat/completions',
    opening: [],
    delta: { role: 'assistant' },
    callId: (n) => `function-call-${1_234_567_890 + n}`,
    calls: 'unnumbered',
    signCall: signed,
    // Thoughts are told only to those who ask by `extra_body`.
    thought: () => ({}),
    // Calls end with this reason as well.
    reasons: { tool_calls: 'stop' },
    usage: 'asked',
  }),
  modelId: 'gemini-3-pro-preview',
  base: '/v1beta/openai',
}

const contentsOf = ({ body }: Pick<RecordedRequest, 'body'>): readonly Json[] => objects(body['contents'])
const partsOf = (content: Json | undefined, kind: string): Json[] =>
  objects(content?.['parts']).filter((part) => kind in part)

const nativeTools = ({ body }: RecordedRequest): OfferedTool[] =>
  objects(body['tools']).flatMap(({ functionDeclarations }) =>
    // What comes as `parametersJsonSchema` may have any keyword.
    objects(functionDeclarations).map((declaration, at) => toTool(declaration, declaration['parameters'], at)),
  )

function nativeDialect(request: RecordedRequest): Dialect {
  const path = request.path.split('?')[0]!
  let called = contentsOf(request).reduce((sum, content) => sum + partsOf(content, 'functionCall').length, 0)
  const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19, thoughtsTokenCount: 3 }
  const whole = (parts: readonly Json[], more: Json = {}): Json => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    usageMetadata,
    modelVersion: 'gemini-3-pro-preview',
    responseId: 'rX9paeW',
  })
  const toParts = (part: ReplyPart): Json[] => {
    if ('text' in part) return [{ text: part.text }]
    if (!('calls' in part)) return []
    return part.calls.map(({ name, input }, index) => {
      const thoughtSignature = Buffer.from(`thought ${called++}`).toString('base64')
      return { functionCall: { name, args: input }, ...(index === 0 && { thoughtSignature }) }
    })
  }
  const event = (value: Json): string => `data: ${JSON.stringify(value)}\r\n\r\n`
  return {
    path,
    streams: path.endsWith(':streamGenerateContent'),
    start: () => [],
    write: (part) =>
      'error' in part ? [event({ error: part.error })] : toParts(part).map((each) => event(whole([each]))),
    // Calls end with this reason as well.
    finish: () => [event(whole([{ text: '' }], { finishReason: 'STOP' }))],
    whole: (parts) => whole(parts.flatMap(toParts), { finishReason: 'STOP' }),
  }
}

/** Gemini by its own API. */
export const gemini: Provider = {
  title: 'Gemini',
  seesPictures: true,
  rules: [
    ...geminiTools(nativeTools),
    {
      name: 'signatures',
      source: github('thClaws/thClaws#65'),
      refuses: (request) =>
        first(contentsOf(request), (content, at) => {
          const [call] = partsOf(content, 'functionCall')
          const name = call && isJson(call['functionCall']) ? call['functionCall']['name'] : undefined
          return call === undefined || typeof call['thoughtSignature'] === 'string'
            ? undefined
            : `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${String(name)}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`
        }),
    },
    {
      name: 'results right after calls',
      source: github('google-gemini/gemini-cli#16415'),
      refuses: (request) =>
        first(contentsOf(request), (content, at) => {
          const [before, next] = [contentsOf(request)[at - 1], contentsOf(request)[at + 1]]
          const calls = partsOf(content, 'functionCall').length
          if (calls > 0 && before?.['role'] !== 'user')
            return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
          if (calls > 0 && partsOf(next, 'functionResponse').length !== calls)
            return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
          return partsOf(content, 'functionResponse').length > 0 && partsOf(before, 'functionCall').length === 0
            ? 'Please ensure that function response turn comes immediately after a function call turn.'
            : undefined
        }),
    },
    {
      name: 'last turn',
      source: github('babaohuang/GeminiProChat#68'),
      refuses: (request) =>
        contentsOf(request).at(-1)?.['role'] === 'model'
          ? 'Please ensure that multiturn requests end with a user role or a function response.'
          : undefined,
    },
  ],
  error: errorOf,
  dialect: (request) =>
    /^\/v1beta\/models\/gemini-3-pro-preview:(?:streamG|g)enerateContent/.test(request.path)
      ? nativeDialect(request)
      : undefined,
  api: 'google',
  modelId: 'gemini-3-pro-preview',
  base: '/v1beta',
}
