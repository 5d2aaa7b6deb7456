import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { dialectOf, type AnyDatabase } from './dialect.ts'

/**
 * SQL condition: a column is one of the values. The values are passed as one parameter, so there may be any number of
 * them; drivers refuse more than 65,535 parameters (PostgreSQL) or 32,766 (SQLite). Always false for an empty list.
 * @param column as in a query, such as `id` or `pair.id`
 * @example query.where(isAmong(db, 'id', ids))
 */
export function isAmong(
  db: AnyDatabase,
  column: string,
  values: readonly string[] | readonly number[],
): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} ${amongValues(db, values)}`
}

/** The right-hand side of {@link isAmong}, for a column that is an expression. */
export function amongValues(db: AnyDatabase, values: readonly string[] | readonly number[]): RawBuilder<SqlBool> {
  if (dialectOf(db) === 'sqlite') return sql`in (select value from json_each(${JSON.stringify(values)}))`
  // An empty set has no type; here PostgreSQL uses that of the column.
  if (values.length === 0) return sql`= any('{}')`
  const type = sql.raw(values.every((value) => typeof value === 'number') ? 'bigint[]' : 'text[]')
  // `= any(…)` would compare each row with each value if there is no index.
  return sql`in (select unnest(cast(${arrayLiteral(values)} as ${type})))`
}

/** Ids as the one parameter that {@link isAmongIds} takes. */
export function idList(db: AnyDatabase, ids: readonly string[] | readonly number[]): string {
  return dialectOf(db) === 'sqlite' ? JSON.stringify(ids) : arrayLiteral(ids)
}

/** As {@link isAmong}, for a statement that is prepared: the same for any ids. @param ids made by {@link idList} */
export function isAmongIds(
  db: AnyDatabase,
  column: string,
  ids: string,
  type: 'bigint' | 'text' = 'bigint',
): RawBuilder<SqlBool> {
  const values =
    dialectOf(db) === 'sqlite'
      ? sql`select value from json_each(${ids})`
      : sql`select unnest(cast(${ids} as ${sql.raw(type)}[]))`
  return sql<SqlBool>`${sql.ref(column)} in (${values})`
}

/** An array literal of PostgreSQL, which works with any driver. */
export function arrayLiteral(values: readonly (string | number)[]): string {
  const items = values.map((value) =>
    typeof value === 'number' ? String(value) : `"${value.replaceAll(/["\\]/g, '\\$&')}"`,
  )
  return `{${items.join(',')}}`
}
