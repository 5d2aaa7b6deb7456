import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

/**
 * The JSON Schema (draft 7) of the input of a schema. Checks without a JSON Schema equivalent are omitted.
 * @example toInputJsonSchema(v.object({ query: v.string() }))
 */
export function toInputJsonSchema(schema: GenericSchema): Readonly<Record<string, unknown>> {
  const { $schema: _, ...plain } = toJsonSchema(schema, { typeMode: 'input', target: 'draft-07', errorMode: 'ignore' })
  return plain
}
