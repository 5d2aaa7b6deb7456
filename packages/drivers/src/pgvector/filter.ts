import type { IndexFilter, TimeRange } from '@inlay/knowledge'

/** Parameters of a statement; each value gets its `$n`, so no value is ever part of the SQL text. */
export interface Parameters {
  readonly values: unknown[]
  /** Adds a value. @returns its placeholder */
  add(value: unknown): string
}

export function createParameters(): Parameters {
  const values: unknown[] = []
  return { values, add: (value) => `$${values.push(value)}` }
}

export const vectorText = (vector: Float32Array): string => `[${vector.join(',')}]`

function range(column: string, { start, end }: TimeRange, parameters: Parameters): string[] {
  return [
    ...(start === undefined ? [] : [`${column} >= ${parameters.add(start)}::bigint`]),
    ...(end === undefined ? [] : [`${column} <= ${parameters.add(end)}::bigint`]),
    `${column} is not null`,
  ]
}

/** The SQL condition of a filter; `true` for none. */
export function conditionsOf(filter: IndexFilter | undefined, parameters: Parameters): string {
  if (!filter) return 'true'
  const { add } = parameters
  const conditions = [
    ...(filter.sources ? [`source = any(${add(filter.sources)}::text[])`] : []),
    ...(filter.pairs ? [`pairs && ${add(filter.pairs)}::int[]`] : []),
    ...(filter.tags ?? []).map((any) => `tags && ${add(any)}::text[]`),
    ...(filter.documentIds ? [`document_id = any(${add(filter.documentIds)}::text[])`] : []),
    ...(filter.createdAt ? range('created_at', filter.createdAt, parameters) : []),
    ...(filter.ownUpdatedAt ? range('own_updated_at', filter.ownUpdatedAt, parameters) : []),
    ...(filter.updatedOrCreatedSince === undefined
      ? []
      : [`greatest(updated_at, created_at) >= ${add(filter.updatedOrCreatedSince)}::bigint`]),
  ]
  return conditions.length > 0 ? conditions.join(' and ') : 'true'
}
