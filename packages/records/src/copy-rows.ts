import { sql, type RawBuilder } from 'kysely'
import { dialectOf, type AnyDatabase } from './dialect.ts'
import { arrayLiteral } from './value-sets.ts'

/** A table whose rows are copied to another database. */
export interface CopiedTable {
  readonly name: string
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[]
  readonly columns: readonly string[]
  /** Columns of whole numbers, which PostgreSQL returns as texts if they have 64 bits. */
  readonly numbers: ReadonlySet<string>
}

/** A row in the form that is the same for each database: the values of its columns. */
type Row = readonly unknown[]
export type RowKey = readonly (string | number)[]

/** Our tables with their primary keys, by name. @param isCopied which of them */
export async function copiedTables(db: AnyDatabase, isCopied: (name: string) => boolean): Promise<CopiedTable[]> {
  const isSqlite = dialectOf(db) === 'sqlite'
  const { rows } = await sql<{ name: string; column: string; type: string; place: number | null }>`${sql.raw(
    isSqlite
      ? `select list.name, info.name as "column", info.type, nullif(info.pk, 0) as place
         from pragma_table_list as list, pragma_table_info(list.name) as info
         where list.schema = 'main' and list.type = 'table' order by list.name, info.cid`
      : `select class.relname as name, attname as column, atttypid::regtype::text as type,
           array_position(index.indkey::int[], attnum::int) + 1 as place
         from pg_class as class join pg_attribute on attrelid = class.oid and attnum > 0 and not attisdropped
         left join pg_index as index on index.indrelid = class.oid and indisprimary
         where relkind = 'r' and relnamespace = current_schema()::text::regnamespace order by class.relname, attnum`,
  )}`.execute(db)
  const ours = rows.filter(({ name }) => name.startsWith('inlay_') && isCopied(name))
  return [...Map.groupBy(ours, ({ name }) => name)].map(([name, columns]) => ({
    name,
    key: columns
      .filter(({ place }) => place !== null)
      .toSorted((left, right) => left.place! - right.place!)
      .map(({ column }) => column),
    columns: columns.map(({ column }) => column),
    numbers: new Set(columns.filter(({ type }) => /int/i.test(type)).map(({ column }) => column)),
  }))
}

const listOf = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((name) => sql.ref(name)))
const tuple = (values: readonly unknown[]): RawBuilder<unknown> => sql`(${sql.join(values)})`

/** Rows in the order of their keys, in pages. Rows that are added or removed meanwhile may be among them or not. */
export async function* rowsOf(
  db: AnyDatabase,
  { name, key, columns }: Pick<CopiedTable, 'name' | 'key' | 'columns'>,
  where: RawBuilder<unknown>,
  limit: number,
): AsyncGenerator<Readonly<Record<string, unknown>>[]> {
  for (let after: readonly unknown[] | undefined; ;) {
    const rest = after ? sql`and (${listOf(key)}) > ${tuple(after)}` : sql``
    const { rows } = await sql<Record<string, unknown>>`select ${listOf(columns)} from ${sql.table(name)}
      where ${where} ${rest} order by ${listOf(key)} limit ${sql.lit(limit)}`.execute(db)
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    after = key.map((column) => rows.at(-1)![column])
  }
}

/** The keys of all rows, as {@link rowsOf}. */
export async function* keysOf(db: AnyDatabase, { name, key }: CopiedTable, limit: number): AsyncGenerator<RowKey[]> {
  for await (const rows of rowsOf(db, { name, key, columns: key }, sql`1 = 1`, limit))
    yield rows.map((row) => key.map((column) => row[column] as string | number))
}

const amongKeys = (db: AnyDatabase, key: readonly string[], keys: readonly RowKey[]): RawBuilder<unknown> =>
  sql`(${listOf(key)}) in (${dialectOf(db) === 'sqlite' ? sql`values ` : sql``}${sql.join(keys.map(tuple))})`

/** The same text for a key of a row, a key read from the log of changes, and a key that PostgreSQL returned as text. */
const nameOf = (key: readonly unknown[]): string => JSON.stringify(key.map(String))

async function read(db: AnyDatabase, table: CopiedTable, keys: readonly RowKey[]): Promise<Map<string, Row>> {
  const { name, key, columns, numbers } = table
  const { rows } = await sql<Record<string, unknown>>`
    select ${listOf(columns)} from ${sql.table(name)} where ${amongKeys(db, key, keys)}`.execute(db)
  const valueOf = (column: string, value: unknown): unknown => {
    // SQLite stores a list of words with a space on both sides of each.
    if (Array.isArray(value)) return ` ${value.join(' ')} `
    return numbers.has(column) && typeof value === 'string' ? Number(value) : value
  }
  return new Map(
    rows.map((row) => [
      nameOf(key.map((column) => row[column])),
      columns.map((column) => valueOf(column, row[column])),
    ]),
  )
}

/** A row that differed, before and after; undefined where there was or is none. */
export interface CopiedRow {
  readonly before: Readonly<Record<string, unknown>> | undefined
  readonly after: Readonly<Record<string, unknown>> | undefined
}

export interface CopiedRows {
  readonly rows: readonly CopiedRow[]
  /** Keys whose rows could not be made equal: another row has a value that must be unique, and has changed, too. */
  readonly unsettled: readonly RowKey[]
}

/**
 * Makes the rows with these keys equal in both databases: reads both, writes those that differ in one transaction, and
 * reads what it wrote.
 */
export async function copyRows(
  from: AnyDatabase,
  to: AnyDatabase,
  table: CopiedTable,
  keys: readonly RowKey[],
): Promise<CopiedRows> {
  const [wanted, present] = await Promise.all([read(from, table, keys), read(to, table, keys)])
  const differs = (now: ReadonlyMap<string, Row>) => (key: RowKey) =>
    JSON.stringify(now.get(nameOf(key))) !== JSON.stringify(wanted.get(nameOf(key)))
  const changed = keys.filter(differs(present))
  if (changed.length === 0) return { rows: [], unsettled: [] }
  const rows = changed.map((key) => wanted.get(nameOf(key))).filter((row) => row !== undefined)
  const unsettled = await to.transaction().execute(async (transaction) => {
    const { name, key, columns } = table
    await sql`delete from ${sql.table(name)} where ${amongKeys(to, key, changed)}`.execute(transaction)
    const toColumn = dialectOf(to) === 'sqlite' ? (value: unknown) => value : toPostgres(name, columns)
    const values = rows.map((row) => tuple(row.map(toColumn)))
    if (rows.length > 0)
      await sql`insert into ${sql.table(name)} (${listOf(columns)}) values ${sql.join(values)}
        on conflict do nothing`.execute(transaction)
    return changed.filter(differs(await read(transaction, table, changed)))
  })
  const objectOf = (row: Row | undefined): CopiedRow['after'] =>
    row && Object.fromEntries(table.columns.map((column, at) => [column, row[at]]))
  const nameAndRow = (key: RowKey): CopiedRow => ({
    before: objectOf(present.get(nameOf(key))),
    after: objectOf(wanted.get(nameOf(key))),
  })
  return { rows: changed.map(nameAndRow), unsettled }
}

/** Words are a list in PostgreSQL, and a text in SQLite. */
const toPostgres =
  (table: string, columns: readonly string[]) =>
  (value: unknown, at: number): unknown =>
    table === 'inlay_chat_search' && columns[at] === 'words' ? arrayLiteral(String(value).trim().split(' ')) : value

export async function countRows(db: AnyDatabase, { name }: CopiedTable): Promise<number> {
  const { rows } = await sql<{ count: unknown }>`select count(*) as count from ${sql.table(name)}`.execute(db)
  return Number(rows[0]?.count)
}

/** Continues the generated ids of a table where another database is, so that the id of a deleted row is not reused. */
export async function copySequence(from: AnyDatabase, to: AnyDatabase, { name, columns }: CopiedTable): Promise<void> {
  if (!columns.includes('id')) return
  const sequence = sql`pg_get_serial_sequence(${name}, 'id')`
  const { rows } = await sql<{ last: unknown }>`${
    dialectOf(from) === 'sqlite'
      ? sql`select seq as last from sqlite_sequence where name = ${name}`
      : sql`select pg_sequence_last_value(${sequence}::regclass) as last`
  }`.execute(from)
  const last = Number(rows[0]?.last ?? 0)
  if (last === 0) return
  if (dialectOf(to) === 'postgres') return void (await sql`select setval(${sequence}, ${last})`.execute(to))
  await sql`delete from sqlite_sequence where name = ${name}`.execute(to)
  await sql`insert into sqlite_sequence (name, seq) values (${name}, ${last})`.execute(to)
}
