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
    // A page for the rows, and one for the index of the key.
    { table: 'inlay_none', rows: 0, bytes: 8192 },
    { table: 'inlay_some', rows: 7, bytes: 4096 },
  ])
  const large = await filled(nodeSqlite({ file: ':memory:' }), 150_000)
  await sql`delete from inlay_some where id <= 30000`.execute(large)
  expect((await tableSizes(large))[1]).toMatchObject({ table: 'inlay_some', rows: 120_000 })
})

test('the bytes of a large SQLite database are read only when they are asked for', async () => {
  const db = await filled(nodeSqlite({ file: ':memory:' }), 45_000)
  await sql`update inlay_some set name = ${'x'.repeat(1000)}`.execute(db)
  expect((await tableSizes(db))[1]!.bytes).toBeNull()
  expect((await tableSizes(db, { readsAll: true }))[1]!.bytes).toBeGreaterThan(45_000_000)
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
