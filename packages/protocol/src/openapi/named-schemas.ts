import type * as v from 'valibot'
import { nameOf } from '../fields.ts'

/** The parts that valibot's schemas have, as far as they lead to further schemas or bound a value. */
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

/** The schemas right below a schema; those of a pipe's first schema are its own. */
function childrenOf(schema: v.GenericSchema): v.GenericSchema[] {
  // Every schema of valibot is an object of these parts.
  const { entries = {}, options = [], wrapped, item, value } = schema as SchemaParts
  return [...Object.values(entries), ...options, wrapped, item, value].filter(isSchema)
}

/**
 * Every schema with a name below the given ones, and the given ones themselves, by name.
 * @throws Error when two schemas that are not of one kind have the same name
 */
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
