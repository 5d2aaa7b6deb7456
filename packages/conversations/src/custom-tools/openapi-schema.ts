import { isJsonObject, type JsonObject } from '@inlay/protocol'
import { lookUp, unusable } from './openapi-references.ts'

/** Maximum number of schemas of one argument, counting repeated references. */
const maxSchemas = 5_000

const plainKeys = [
  'type',
  'format',
  'enum',
  'const',
  'title',
  'description',
  'default',
  'examples',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]
const listKeys = ['allOf', 'anyOf', 'oneOf']
const schemaKeys = ['items', 'additionalProperties', 'not']

/**
 * A schema of an OpenAPI document as JSON Schema (draft 7) that stands for itself: references are put in place, of one
 * that comes back to itself only the type is told; fields only present in responses (`readOnly`) are left out.
 * @throws VALIDATION_ERROR for references that lead nowhere, and for schemas that unfold to more than 5,000
 */
export function toJsonSchema(document: JsonObject, schema: unknown): JsonObject {
  let count = 0
  const convert = (value: unknown, open: readonly string[]): JsonObject => {
    if (++count > maxSchemas) throw unusable('the form of an argument is too large.')
    if (!isJsonObject(value)) return value === false ? { not: {} } : {}
    const reference = value['$ref']
    if (typeof reference !== 'string') return convertObject(value, open)
    const referenced = lookUp(document, reference)
    if (open.includes(reference)) return likeAbove(referenced)
    const target = convert(referenced, [...open, reference])
    const { description } = value
    return typeof description === 'string' ? { ...target, description } : target
  }
  const convertObject = (value: JsonObject, open: readonly string[]): JsonObject => {
    const result: Record<string, unknown> = {}
    for (const key of plainKeys) if (value[key] !== undefined) result[key] = value[key]
    for (const key of listKeys) {
      const list = value[key]
      if (Array.isArray(list)) result[key] = list.map((inner: unknown) => convert(inner, open))
    }
    for (const key of schemaKeys) {
      const inner = value[key]
      if (isJsonObject(inner)) result[key] = convert(inner, open)
      else if (typeof inner === 'boolean' && key === 'additionalProperties') result[key] = inner
    }
    Object.assign(
      result,
      convertProperties(value, (inner) => convert(inner, open)),
    )
    return modernised(value, result)
  }
  return convert(schema, [])
}

/** Description of a recursive value, whose schema is the one that contains it. */
function likeAbove(schema: unknown): JsonObject {
  const type = isJsonObject(schema) ? schema['type'] : undefined
  return typeof type === 'string' ? { type } : {}
}

function convertProperties(value: JsonObject, convert: (schema: unknown) => JsonObject): JsonObject {
  const { properties, required } = value
  const isRequired = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  if (!isJsonObject(properties)) return isRequired.length > 0 ? { required: isRequired } : {}
  const sent = Object.entries(properties).filter(([, inner]) => !isJsonObject(inner) || inner['readOnly'] !== true)
  const unsent = new Set(Object.keys(properties).filter((name) => !sent.some(([inner]) => inner === name)))
  const kept = isRequired.filter((name) => !unsent.has(name))
  return {
    properties: Object.fromEntries(sent.map(([name, inner]) => [name, convert(inner)])),
    ...(kept.length > 0 ? { required: kept } : {}),
  }
}

/** Converts what OpenAPI 3.0 writes differently from JSON Schema. */
function modernised(value: JsonObject, result: Record<string, unknown>): JsonObject {
  if (value['nullable'] === true && typeof result['type'] === 'string') {
    result['type'] = [result['type'], 'null']
    if (Array.isArray(result['enum']) && !result['enum'].includes(null)) result['enum'] = [...result['enum'], null]
  }
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof result[exclusive] !== 'boolean') continue
    if (result[exclusive] && result[bound] !== undefined) {
      result[exclusive] = result[bound]
      delete result[bound]
    } else delete result[exclusive]
  }
  if (value['example'] !== undefined && result['examples'] === undefined) result['examples'] = [value['example']]
  return result
}
