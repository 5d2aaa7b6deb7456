import type { JsonObject } from '../json.ts'
import type { SchemaParts } from './named-schemas.ts'

/** Checks with a place in JSON Schema: its keyword for texts, lists and numbers. */
const keywords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  min_length: { string: 'minLength', array: 'minItems' },
  max_length: { string: 'maxLength', array: 'maxItems' },
  min_value: { number: 'minimum', integer: 'minimum' },
  max_value: { number: 'maximum', integer: 'maximum' },
}

/**
 * Adds the bounds that stand behind a transformation, where the converter stops reading: they bind what is sent as well,
 * as no transformation of the wire makes a value longer.
 * @param json what the converter made of `schema`
 */
export function withBounds(json: JsonObject, schema: unknown): JsonObject {
  // Only schemas and the steps of their pipes are passed on.
  const { wrapped, item, pipe, kind, type = '', requirement } = schema as SchemaParts
  if ('$ref' in json) return json
  if (pipe) return pipe.reduce((bounded: JsonObject, step) => withBounds(bounded, step), json)
  if (wrapped) return inValue(json, (value) => withBounds(value, wrapped))
  if (kind === 'validation') return inValue(json, (value) => bounded(value, type, requirement))
  if (item && json['items']) return { ...json, items: withBounds(json['items'] as JsonObject, item) }
  return json
}

/** Changes the schema of the value, where null is allowed beside it. */
function inValue(json: JsonObject, change: (value: JsonObject) => JsonObject): JsonObject {
  const options = json['anyOf']
  if (!Array.isArray(options)) return change(json)
  // The converter writes an optional value as its schema and null.
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
