import type { JsonObject } from '../json.ts'
import type { SchemaParts } from './named-schemas.ts'

/** Checks with a JSON Schema equivalent: the keyword for texts, lists and numbers. */
const keywords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  min_length: { string: 'minLength', array: 'minItems' },
  max_length: { string: 'maxLength', array: 'maxItems' },
  min_value: { number: 'minimum', integer: 'minimum' },
  max_value: { number: 'maximum', integer: 'maximum' },
}

/**
 * Adds bounds that come after a transformation, where the converter stops. They also apply to the input, as no
 * transformation of the wire makes a value longer.
 * @param json converted JSON Schema of `schema`
 */
export function withBounds(json: JsonObject, schema: unknown): JsonObject {
  // Callers pass only schemas and pipe steps.
  const { wrapped, item, pipe, kind, type = '', requirement } = schema as SchemaParts
  if ('$ref' in json) return json
  if (pipe) return pipe.reduce((bounded: JsonObject, step) => withBounds(bounded, step), json)
  if (wrapped) return inValue(json, (value) => withBounds(value, wrapped))
  if (kind === 'validation') return inValue(json, (value) => bounded(value, type, requirement))
  if (item && json['items']) return { ...json, items: withBounds(json['items'] as JsonObject, item) }
  return json
}

/** Changes the schema of the value inside a nullable schema. */
function inValue(json: JsonObject, change: (value: JsonObject) => JsonObject): JsonObject {
  const options = json['anyOf']
  if (!Array.isArray(options)) return change(json)
  // The converter represents an optional value as its schema and null.
  const [value, nothing, ...more] = options as JsonObject[]
  if (!value || nothing?.['type'] !== 'null' || more.length > 0) return json
  return { ...json, anyOf: [change(value), nothing] }
}

function bounded(json: JsonObject, check: string, requirement: unknown): JsonObject {
  const keyword = keywords[check]?.[String(json['type'])]
  return keyword === undefined || keyword in json || typeof requirement !== 'number'
    ? json
    : { ...json, [keyword]: requirement }
}
