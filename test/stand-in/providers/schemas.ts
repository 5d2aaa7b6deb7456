import { isJson, objects, type Json, type Outcome, type Rule } from './provider.ts'
import type { RecordedRequest } from '../model-server.ts'

/** A tool of a request, whatever its provider calls the parts. */
export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly schema: Json
  /** Number in its list. */
  readonly at: number
}

/** A schema within the schema of a tool. `path` is empty at the top. */
export interface SchemaPart {
  readonly schema: Json
  readonly path: readonly string[]
  readonly tool: OfferedTool
}

export const chatTools = ({ body }: Pick<RecordedRequest, 'body'>): OfferedTool[] =>
  objects(body['tools']).flatMap((tool, at) => {
    const described = isJson(tool['function']) ? tool['function'] : tool
    return [toTool(described, described['parameters'], at)]
  })

export const toTool = (described: Json, schema: unknown, at: number): OfferedTool => ({
  name: String(described['name']),
  description: String(described['description'] ?? ''),
  schema: isJson(schema) ? schema : {},
  at,
})

const maps = ['properties', 'patternProperties', '$defs', 'definitions']
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const singles = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames']

function* walk(schema: Json, path: readonly string[], tool: OfferedTool): Generator<SchemaPart> {
  yield { schema, path, tool }
  for (const key of maps)
    for (const [name, part] of Object.entries(isJson(schema[key]) ? schema[key] : {}))
      if (isJson(part)) yield* walk(part, [...path, key, name], tool)
  for (const key of lists)
    for (const [at, part] of objects(schema[key]).entries()) yield* walk(part, [...path, key, String(at)], tool)
  for (const key of singles) if (isJson(schema[key])) yield* walk(schema[key], [...path, key], tool)
}

type Tools = (request: RecordedRequest) => readonly OfferedTool[]
/** A rule for each tool. */
export const forTools = (
  name: string,
  source: string,
  tools: Tools,
  refuses: (tool: OfferedTool) => Outcome,
): Rule => ({
  name,
  source,
  refuses: (request) => first(tools(request), refuses),
})

/** A rule for each schema within those of the tools. */
export const forSchemas = (
  name: string,
  source: string,
  tools: Tools,
  refuses: (part: SchemaPart) => Outcome,
): Rule => ({
  name,
  source,
  refuses: (request) => first(tools(request), (tool) => first([...walk(tool.schema, [], tool)], refuses)),
})

/** The first refusal among these. */
export function first<Item>(items: readonly Item[], refuses: (item: Item, at: number) => Outcome): Outcome {
  for (const [at, item] of items.entries()) {
    const refusal = refuses(item, at)
    if (refusal) return refusal
  }
  return undefined
}

/** At most so many tools. */
export const atMost = (limit: number, source: string, tools: Tools, words: (count: number) => Outcome): Rule => ({
  name: `${limit} tools at most`,
  source,
  refuses: (request) => {
    const count = tools(request).length
    return count > limit && words(count)
  },
})

/** The first of these keywords in a schema. */
export const keywordOf = (schema: Json, keywords: readonly string[]): string | undefined =>
  keywords.find((keyword) => keyword in schema)

export const typesOf = ({ type }: Json): readonly unknown[] => (Array.isArray(type) ? type : [type])
