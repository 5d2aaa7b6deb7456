import { sql } from 'kysely'
import { dialectOf, type AnyDatabase } from './dialect.ts'

export interface TableSize {
  readonly table: string
  /** Estimated on Postgres, and on SQLite above 100,000 rows. */
  readonly rows: number
  /** On disk, with indexes; null where SQLite would have to read too much to tell. */
  readonly bytes: number | null
}

const maxCounted = 100_000

/**
 * Sizes of all our tables, by name. Cheap at any size: large tables are estimated, not counted.
 * @param readsAll on SQLite, also reads all pages of a large database for the bytes
 */
export async function tableSizes(
  db: AnyDatabase,
  { readsAll = false }: { readonly readsAll?: boolean } = {},
): Promise<TableSize[]> {
  return dialectOf(db) === 'postgres' ? postgresSizes(db) : sqliteSizes(db, readsAll)
}

/** From the statistics of Postgres. */
async function postgresSizes(db: AnyDatabase): Promise<TableSize[]> {
  const { rows } = await db.transaction().execute(async (held) => {
    // Waits for each table that somebody has locked.
    await sql`set local lock_timeout = '3s'`.execute(held)
    return sql<{ name: string; rows: string; bytes: string }>`
      select relname as name, n_live_tup as rows, pg_total_relation_size(relid) as bytes
      from pg_stat_user_tables
      where schemaname = current_schema() and starts_with(relname, 'inlay_')
      order by relname`.execute(held)
  })
  return rows.map(({ name, rows: count, bytes }) => ({ table: name, rows: Number(count), bytes: Number(bytes) }))
}

async function sqliteSizes(db: AnyDatabase, readsAll: boolean): Promise<TableSize[]> {
  const tables = (await db.introspection.getTables())
    .map(({ name }) => name)
    .filter((name) => name.startsWith('inlay_'))
  const bytes = await sqliteBytes(db, readsAll)
  const sizes: TableSize[] = []
  for (const table of tables.toSorted())
    sizes.push({ table, rows: await sqliteRows(db, table), bytes: bytes.get(table) ?? null })
  return sizes
}

/** Pages that are read in some 70 ms, in which a server answers nobody. */
const maxPages = 10_000

async function sqliteBytes(db: AnyDatabase, readsAll: boolean): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ name: string; bytes: number }>`
    select tbl_name as name, sum(pgsize) as bytes from dbstat join sqlite_master using (name)
    where aggregate = 1 and (${readsAll ? 1 : 0} = 1 or (select page_count from pragma_page_count) <= ${maxPages})
    group by tbl_name`
    .execute(db)
    // Not every SQLite has `dbstat`.
    .catch(() => ({ rows: [] }))
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
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
