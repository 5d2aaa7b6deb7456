import { sql } from 'kysely'
import { dialectOf, type AnyDatabase } from './dialect.ts'

export interface TableSize {
  readonly table: string
  /** Estimated on Postgres, and on SQLite above 100,000 rows. */
  readonly rows: number
  /** On disk, with indexes; null on SQLite, where it is unknown. */
  readonly bytes: number | null
}

const maxCounted = 100_000

/** Sizes of all our tables, by name. Cheap at any size: large tables are estimated, not counted. */
export async function tableSizes(db: AnyDatabase): Promise<TableSize[]> {
  return dialectOf(db) === 'postgres' ? postgresSizes(db) : sqliteSizes(db)
}

/** From the statistics of Postgres. */
async function postgresSizes(db: AnyDatabase): Promise<TableSize[]> {
  const { rows } = await sql<{ name: string; rows: string; bytes: string }>`
    select relname as name, n_live_tup as rows, pg_total_relation_size(relid) as bytes
    from pg_stat_user_tables
    where schemaname = current_schema() and starts_with(relname, 'inlay_')
    order by relname`.execute(db)
  return rows.map(({ name, rows: count, bytes }) => ({ table: name, rows: Number(count), bytes: Number(bytes) }))
}

async function sqliteSizes(db: AnyDatabase): Promise<TableSize[]> {
  const tables = (await db.introspection.getTables())
    .map(({ name }) => name)
    .filter((name) => name.startsWith('inlay_'))
  const sizes: TableSize[] = []
  for (const table of tables.toSorted()) sizes.push({ table, rows: await sqliteRows(db, table), bytes: null })
  return sizes
}

/** Counted up to a limit. Above it, the range of row ids, which is too high by the number of deleted rows. */
async function sqliteRows(db: AnyDatabase, table: string): Promise<number> {
  const name = sql.table(table)
  const counted = await sql<{
    rows: number
  }>`select count(*) as rows from (select 1 from ${name} limit ${sql.lit(maxCounted + 1)})`.execute(db)
  const rows = Number(counted.rows[0]?.rows ?? 0)
  if (rows <= maxCounted) return rows
  const span = await sql<{
    rows: number
  }>`select (select max(rowid) from ${name}) - (select min(rowid) from ${name}) + 1 as rows`.execute(db)
  return Number(span.rows[0]?.rows ?? rows)
}
