import { postgres } from '@inlay/drivers/postgres'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createTables, tableSizes, type AnyDatabase } from '@inlay/records'
import { Kysely, sql, type Dialect } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { poolOf, startPostgres } from '../stand-in/pglite.ts'

async function filled(dialect: Dialect, rows: number): Promise<AnyDatabase> {
  const db: AnyDatabase = new Kysely({ dialect })
  onTestFinished(() => db.destroy())
  await createTables(db, {
    inlay_some: 'id generated, name text',
    inlay_none: 'id text primary key',
    others: 'id integer',
  })
  await sql`insert into inlay_some (name)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(rows)}) select 'a' from n`.execute(
    db,
  )
  return db
}

test('SQLite counts small tables and estimates large ones, and looks at no table of others', async () => {
  const small = await filled(nodeSqlite({ file: ':memory:' }), 7)
  expect(await tableSizes(small)).toEqual([
    { table: 'inlay_none', rows: 0, bytes: null },
    { table: 'inlay_some', rows: 7, bytes: null },
  ])
  const large = await filled(nodeSqlite({ file: ':memory:' }), 150_000)
  await sql`delete from inlay_some where id <= 30000`.execute(large)
  expect(await tableSizes(large)).toContainEqual({ table: 'inlay_some', rows: 120_000, bytes: null })
})

test('Postgres tells bytes as well', async () => {
  const database = await startPostgres()
  onTestFinished(() => database.close())
  const db = await filled(postgres({ pool: poolOf(database) }), 5000)
  const sizes = await tableSizes(db)
  expect(sizes.map(({ table }) => table)).toEqual(['inlay_none', 'inlay_some'])
  expect(sizes[1]!.bytes).toBeGreaterThan(100_000)
  await expect.poll(async () => (await tableSizes(db))[1]!.rows).toBe(5000)
})
