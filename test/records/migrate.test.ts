import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { dropTables, migrate, type Migrations } from '@inlay/records'
import { Kysely, MysqlDialect, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

async function openFile(): Promise<() => Kysely<Record<string, Record<string, unknown>>>> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-records-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return () => {
    const db = new Kysely<Record<string, Record<string, unknown>>>({
      dialect: nodeSqlite({ file: join(folder, 'db') }),
    })
    onTestFinished(() => db.destroy())
    return db
  }
}

/** Steps that cannot be carried out twice. */
const migrations: Migrations = {
  '001': { up: (db) => db.schema.createTable('first').addColumn('id', 'integer').execute() },
  '002': { up: (db) => db.schema.createTable('second').addColumn('id', 'integer').execute() },
}

test('processes that start on a new database at once carry out each step once', async () => {
  const open = await openFile()
  await Promise.all(Array.from({ length: 6 }, () => migrate(open(), { name: 'test', migrations })))
  const { rows } = await sql<{ name: string }>`select name from inlay_test_migration order by name`.execute(open())
  expect(rows.map(({ name }) => name)).toEqual(['001', '002'])
})

test('a start that ends in the middle of a step leaves nothing that stops the next', async () => {
  const open = await openFile()
  const broken: Migrations = {
    ...migrations,
    '002': {
      up: async (db) => {
        await migrations['002']!.up(db)
        throw new Error('ended here')
      },
    },
  }
  await expect(migrate(open(), { name: 'test', migrations: broken })).rejects.toThrow('ended here')
  await migrate(open(), { name: 'test', migrations })
  expect(await open().selectFrom('second').selectAll().execute()).toEqual([])
})

test('packages keep their steps apart', async () => {
  const open = await openFile()
  await migrate(open(), { name: 'one', migrations: { '001': migrations['001']! } })
  await migrate(open(), { name: 'other', migrations: { '001': migrations['002']! } })
  expect(await open().selectFrom('first').selectAll().execute()).toEqual([])
})

test('a database that records cannot be kept in is refused by name', async () => {
  const db = new Kysely<unknown>({ dialect: new MysqlDialect({ pool: () => Promise.reject(new Error('unused')) }) })
  await expect(migrate(db, { name: 'test', migrations })).rejects.toMatchObject({ code: 'UNSUPPORTED' })
})

test('dropping the tables leaves the connection as it was', async () => {
  const db = (await openFile())()
  await migrate(db, { name: 'test', migrations })
  const before = await sql`pragma foreign_keys`.execute(db)
  expect(before.rows).toEqual([{ foreign_keys: 1 }])
  await dropTables(db)
  expect((await sql`pragma foreign_keys`.execute(db)).rows).toEqual(before.rows)
})
