import { postgres } from '@inlay/drivers/postgres'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createTables, idList, isAmong, isAmongIds, type AnyDatabase } from '@inlay/records'
import { Kysely, sql, type Dialect } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { poolOf, startPostgres } from '../stand-in/pglite.ts'

async function expectSets(dialect: Dialect): Promise<void> {
  const db: AnyDatabase = new Kysely({ dialect })
  onTestFinished(() => db.destroy())
  await createTables(db, { inlay_some: 'id integer, name text' })
  await sql`insert into inlay_some (id, name) values (1, 'a'), (2, 'b')`.execute(db)
  const count = async (column: string, values: readonly string[] | readonly number[]): Promise<number> => {
    const { rows } = await sql`select id from inlay_some where ${isAmong(db, column, values)}`.execute(db)
    return rows.length
  }
  expect(await count('id', [2, 3])).toBe(1)
  expect(await count('name', ['a', 'b', 'it’s "x"'])).toBe(2)
  expect(await count('id', [])).toBe(0)
  expect(await count('name', [])).toBe(0)
  for (const [column, type, ids, most] of [
    ['id', 'bigint', [2, 3], 1],
    ['id', 'bigint', [], 0],
    ['name', 'text', ['a', 'it’s "x"', '{b}'], 1],
    ['name', 'text', [], 0],
  ] as const) {
    const condition = isAmongIds(db, column, idList(db, ids), type)
    const { rows } = await sql`select id from inlay_some where ${condition}`.execute(db)
    expect(rows).toHaveLength(most)
  }
  const { rows } = await sql`select id from inlay_some where not (${isAmong(db, 'name', [])})`.execute(db)
  expect(rows).toHaveLength(2)
}

test('sets of numbers, of texts and of nothing are compared in SQLite', async () => {
  await expectSets(nodeSqlite({ file: ':memory:' }))
})

test('sets of numbers, of texts and of nothing are compared in Postgres', async () => {
  const database = await startPostgres()
  await expectSets(postgres({ pool: poolOf(database) }))
})
