import { createProcessRecord, dropTables, migrate, type Migrations } from '@inlay/records'
import { Kysely, MysqlDialect, sql } from 'kysely'
import { expect, test } from 'vitest'
import { openFile } from './open-file.ts'

/** Steps that cannot be carried out twice. */
const expand: Migrations = {
  '001': { up: (db) => db.schema.createTable('first').addColumn('id', 'integer').execute() },
  '002': { up: (db) => db.schema.createTable('second').addColumn('id', 'integer').execute() },
}

test('processes that start on a new database at once carry out each step once', async () => {
  const open = await openFile()
  await Promise.all(Array.from({ length: 6 }, () => migrate(open(), { name: 'test', expand })))
  const { rows } = await sql<{ name: string }>`select name from inlay_test_migration order by name`.execute(open())
  expect(rows.map(({ name }) => name)).toEqual(['001', '002'])
})

test('a start that ends in the middle of a step leaves nothing that stops the next', async () => {
  const open = await openFile()
  const broken: Migrations = {
    ...expand,
    '002': {
      up: async (db) => {
        await expand['002']!.up(db)
        throw new Error('ended here')
      },
    },
  }
  await expect(migrate(open(), { name: 'test', expand: broken })).rejects.toThrow('ended here')
  await migrate(open(), { name: 'test', expand })
  expect(await open().selectFrom('second').selectAll().execute()).toEqual([])
})

test('packages keep their steps apart', async () => {
  const open = await openFile()
  await migrate(open(), { name: 'one', expand: { '001': expand['001']! } })
  await migrate(open(), { name: 'other', expand: { '001': expand['002']! } })
  expect(await open().selectFrom('first').selectAll().execute()).toEqual([])
})

test('a database that records cannot be kept in is refused by name', async () => {
  const db = new Kysely<unknown>({ dialect: new MysqlDialect({ pool: () => Promise.reject(new Error('unused')) }) })
  await expect(migrate(db, { name: 'test', expand })).rejects.toMatchObject({ code: 'UNSUPPORTED' })
})

test('dropping the tables leaves the connection as it was', async () => {
  const db = (await openFile())()
  await migrate(db, { name: 'test', expand })
  const before = await sql`pragma foreign_keys`.execute(db)
  expect(before.rows).toEqual([{ foreign_keys: 1 }])
  await dropTables(db)
  expect((await sql`pragma foreign_keys`.execute(db)).rows).toEqual(before.rows)
})

const plan = { name: 'test', expand }
const contract: Migrations = { '001': { up: (db) => db.schema.dropTable('first').execute() } }

test('an upgrade only expands; a new database and a call of its own contract', async () => {
  const open = await openFile()
  const tables = async (): Promise<string[]> => {
    const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(open())
    return rows.map(({ name }) => name).filter((name) => !name.startsWith('inlay_'))
  }
  await migrate(open(), { name: 'test', expand: { '001': expand['001']! } })
  const next = { ...plan, contract }
  const [second, removal] = await migrate(open(), next, 'check')
  expect([second, removal]).toEqual([
    { plan: 'test', name: '002', phase: 'expand' },
    { plan: 'test', name: '001', phase: 'contract' },
  ])
  expect(await tables()).toEqual(['first'])
  expect(await migrate(open(), next)).toEqual([second])
  expect(await tables()).toEqual(['first', 'second'])
  // The version before knows neither the second step nor the removal: it goes on until the tables are contracted.
  await migrate(open(), { name: 'test', expand: { '001': expand['001']! } })
  expect(await migrate(open(), next, 'contract')).toEqual([removal])
  expect(await tables()).toEqual(['second'])
  await expect(migrate(open(), plan)).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  const fresh = await openFile()
  expect(await migrate(fresh(), next)).toHaveLength(3)
})

test('processes of another version are known until they close, end, or are silent for long', async () => {
  const db = (await openFile())()
  await sql`create table inlay_processes (owner text primary key, version text, seen_at bigint)`.execute(db)
  let time = 1_000_000
  const record = (owner: string, version: string) =>
    createProcessRecord(db, { presence: { owner, isGone: (other) => other === 'killed' }, version, now: () => time })
  const own = record('own', '2')
  const older = record('older', '1')
  for (const each of [own, older, record('same', '2'), record('killed', '0')]) await each.register()
  expect(await own.otherVersions()).toEqual(['1'])
  expect(await older.otherVersions()).toEqual(['2'])
  time += 31 * 60_000
  expect(await own.otherVersions()).toEqual([])
  await older.register()
  expect(await own.otherVersions()).toEqual(['1'])
  await older.close()
  expect(await own.otherVersions()).toEqual([])
  await own.close()
})
