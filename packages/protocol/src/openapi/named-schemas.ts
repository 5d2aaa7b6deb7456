import type * as v from 'valibot'
import { nameOf } from '../fields.ts'

/** Properties of valibot schemas that contain other schemas or bound a value. */
export interface SchemaParts {
  readonly type?: string
  readonly kind?: string
  readonly entries?: Readonly<Record<string, v.GenericSchema>>
  readonly options?: readonly unknown[]
  readonly wrapped?: v.GenericSchema
  readonly item?: v.GenericSchema
  readonly value?: unknown
  readonly pipe?: readonly object[]
  readonly requirement?: unknown
  readonly default?: unknown
}

const isSchema = (value: unknown): value is v.GenericSchema =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema'

/** Direct child schemas; for a pipe, those of its first schema. */
function childrenOf(schema: v.GenericSchema): v.GenericSchema[] {
  // Every valibot schema is an object with these properties.
  const { entries = {}, options = [], wrapped, item, value } = schema as SchemaParts
  return [...Object.values(entries), ...options, wrapped, item, value].filter(isSchema)
}

/** All named schemas reachable from the given ones, including themselves, by name. */
export function namedBelow(schemas: readonly v.GenericSchema[]): Map<string, v.GenericSchema> {
  const named = new Map<string, v.GenericSchema>()
  const seen = new Set<v.GenericSchema>()
  const visit = (schema: v.GenericSchema): void => {
    if (seen.has(schema)) return
    seen.add(schema)
    const name = nameOf(schema)
    if (name !== undefined && !named.has(name)) named.set(name, schema)
    childrenOf(schema).forEach(visit)
  }
  schemas.forEach(visit)
  return named
}
