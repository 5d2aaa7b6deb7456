import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { dialectOf, type AnyDatabase } from './dialect.ts'

/**
 * Condition: a column holds one of the values. They travel as one parameter, so there may be any number of them; drivers
 * refuse more than 65,535 parameters (PostgreSQL) or 32,766 (SQLite). No value: the condition never holds.
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

/** The right side of {@link isAmong}, for a column that is an expression. */
export function amongValues(db: AnyDatabase, values: readonly string[] | readonly number[]): RawBuilder<SqlBool> {
  if (dialectOf(db) === 'sqlite') return sql`in (select value from json_each(${JSON.stringify(values)}))`
  // Nothing tells the type of an empty set; here PostgreSQL takes that of the column.
  if (values.length === 0) return sql`= any('{}')`
  const type = sql.raw(values.every((value) => typeof value === 'number') ? 'bigint[]' : 'text[]')
  // `= any(…)` compares each row with each value where no index serves.
  return sql`in (select unnest(cast(${arrayLiteral(values)} as ${type})))`
}

/** An array as PostgreSQL writes it, which any driver passes on. */
export function arrayLiteral(values: readonly (string | number)[]): string {
  const items = values.map((value) =>
    typeof value === 'number' ? String(value) : `"${value.replaceAll(/["\\]/g, '\\$&')}"`,
  )
  return `{${items.join(',')}}`
}
