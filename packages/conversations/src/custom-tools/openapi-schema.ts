import { isJsonObject, type JsonObject } from '@inlay/protocol'
import { lookUp } from './openapi-references.ts'

// A model reads every argument of every function with each message.
const maxCharacters = 40_000
const schemaCharacters = 10
const depths = [Infinity, 8, 6, 5, 4, 3, 2, 1, 0]

const plainKeys = (
  'type format enum const title description default examples minimum maximum exclusiveMinimum exclusiveMaximum ' +
  'multipleOf minLength maxLength pattern minItems maxItems uniqueItems minProperties maxProperties contentEncoding'
).split(' ')
const outlineKeys = ['type', 'description']
const listKeys = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const schemaKeys = ['items', 'additionalProperties', 'not']

/**
 * A schema of an OpenAPI 3.1 document as JSON Schema that stands for itself: references are put in place, of one that
 * comes back to itself only the type is told; fields only present in responses (`readOnly`) are left out. Of a schema
 * that is too large for a model, the inner levels are left open.
 * @throws NotCallable for references that lead nowhere
 */
export function toJsonSchema(document: JsonObject, schema: unknown): JsonObject {
  for (const depth of depths) {
    const result = convertTo(depth, document, schema)
    if (result) return result
  }
  return {}
}

/** The schema with inner levels down to a depth; undefined if it is too large. */
function convertTo(maxDepth: number, document: JsonObject, schema: unknown): JsonObject | undefined {
  let characters = 0
  const pick = (value: JsonObject, keys: readonly string[]): Record<string, unknown> => {
    const picked = Object.fromEntries(keys.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]]])))
    characters += schemaCharacters + JSON.stringify(picked).length
    return picked
  }
  /** @param open the references that the schema is inside of */
  const convert = (value: unknown, open: readonly string[], depth: number): JsonObject => {
    characters += schemaCharacters
    if (characters > maxCharacters) return {}
    if (!isJsonObject(value)) return value === false ? { not: {} } : {}
    const { $ref: reference, ...own } = value
    if (typeof reference !== 'string') return convertObject(value, open, depth)
    const referenced = lookUp(document, reference)
    if (open.includes(reference)) return isJsonObject(referenced) ? pick(referenced, outlineKeys) : {}
    return { ...convert(referenced, [...open, reference], depth), ...convertObject(own, open, depth) }
  }
  const convertObject = (value: JsonObject, open: readonly string[], depth: number): JsonObject => {
    if (depth > maxDepth) return pick(value, outlineKeys)
    const inner = (schema: unknown): JsonObject => convert(schema, open, depth + 1)
    const result = pick(value, plainKeys)
    for (const key of listKeys) {
      const list = value[key]
      if (Array.isArray(list)) result[key] = few(list).map(inner)
    }
    for (const key of schemaKeys) {
      const schema = value[key]
      if (isJsonObject(schema)) result[key] = inner(schema)
      else if (typeof schema === 'boolean' && key === 'additionalProperties') result[key] = schema
    }
    return Object.assign(result, convertProperties(value, inner))
  }
  const result = convert(schema, [], 0)
  return characters > maxCharacters ? undefined : result
}

/** As many entries as a schema may have before it is too large. */
function few<Entry>(entries: readonly Entry[]): readonly Entry[] {
  return entries.slice(0, maxCharacters / schemaCharacters)
}

function convertProperties({ properties, required }: JsonObject, convert: (schema: unknown) => JsonObject): JsonObject {
  const isRequired = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  if (!isJsonObject(properties)) return isRequired.length > 0 ? { required: isRequired } : {}
  const isUnsent = (schema: unknown): boolean => isJsonObject(schema) && schema['readOnly'] === true
  const sent = Object.entries(properties).filter(([, schema]) => !isUnsent(schema))
  const kept = isRequired.filter((name) => !Object.hasOwn(properties, name) || !isUnsent(properties[name]))
  return {
    properties: Object.fromEntries(few(sent).map(([name, schema]) => [name, convert(schema)])),
    ...(kept.length > 0 ? { required: kept } : {}),
  }
}
