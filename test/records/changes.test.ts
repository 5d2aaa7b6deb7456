import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { postgres } from '@inlay/drivers/postgres'
import {
  copiedTables,
  copyRows,
  copySequence,
  createTables,
  dropNoted,
  forgetChanges,
  keysOf,
  notedChanges,
  onChanges,
  type AnyDatabase,
} from '@inlay/records'
import { Kysely, sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { poolOf, startPostgres } from '../stand-in/pglite.ts'

const databases = {
  SQLite: async (): Promise<AnyDatabase> => new Kysely({ dialect: nodeSqlite({ file: ':memory:' }) }),
  Postgres: async (): Promise<AnyDatabase> => {
    server ??= startPostgres()
    await (await server).exec('drop schema public cascade; create schema public')
    return new Kysely({ dialect: postgres({ pool: poolOf(await server) }) })
  },
}

let server: ReturnType<typeof startPostgres> | undefined
afterAll(async () => (await server)?.close())

async function filled(name: keyof typeof databases, rows: number): Promise<AnyDatabase> {
  const db = await databases[name]()
  await createTables(db, {
    inlay_birds: 'id generated, name text not null unique, seen_at bigint, weight double precision',
    inlay_nests:
      'place text not null, number integer not null, note text, constraint nests_key primary key (place, number)',
  })
  for (let at = 1; at <= rows; at++) {
    await db
      .insertInto('inlay_birds')
      .values({ name: `bird ${at}`, seen_at: 2 ** 40 + at, weight: at / 3 })
      .execute()
    await db
      .insertInto('inlay_nests')
      .values({ place: `"tree" ${at % 3}`, number: at, note: null })
      .execute()
  }
  return db
}

const tablesOf = (db: AnyDatabase) => copiedTables(db, (name) => /birds|nests/.test(name))

describe.each([
  ['SQLite', 'Postgres'],
  ['Postgres', 'SQLite'],
] as const)('from %s to %s', (from, to) => {
  test('rows are equal after a copy, ids of deleted rows are not used again, and a second copy writes nothing', async () => {
    const [source, target] = [await filled(from, 7), await filled(to, 0)]
    await source.deleteFrom('inlay_birds').where('id', '=', 7).execute()
    const tables = await tablesOf(source)
    expect(tables.map(({ name, key }) => [name, key])).toEqual([
      ['inlay_birds', ['id']],
      ['inlay_nests', ['place', 'number']],
    ])
    const copied = async (): Promise<number> => {
      let count = 0
      for (const table of tables)
        for await (const keys of keysOf(source, table, 2))
          count += (await copyRows(source, target, table, keys)).rows.length
      return count
    }
    expect([await copied(), await copied()]).toEqual([13, 0])
    for (const table of tables) await copySequence(source, target, table)
    await target.insertInto('inlay_birds').values({ name: 'new' }).execute()
    expect((await target.selectFrom('inlay_birds').select('id').where('name', '=', 'new').execute())[0]).toEqual({
      id: 8,
    })
    await source.deleteFrom('inlay_nests').where('number', '=', 1).execute()
    expect((await copyRows(source, target, tables[1]!, [['"tree" 1', 1]])).rows).toMatchObject([{ after: undefined }])
  })
})

describe.each(Object.keys(databases) as (keyof typeof databases)[])('%s', (name) => {
  test('a row whose unique value another row still has is unsettled, and settles after that one', async () => {
    const [source, target] = [await filled('SQLite', 2), await filled(name, 2)]
    const [birds] = await tablesOf(source)
    for (const [from, to] of [
      ['bird 1', 'gone'],
      ['bird 2', 'bird 1'],
    ] as const)
      await source.updateTable('inlay_birds').set({ name: to }).where('name', '=', from).execute()
    expect((await copyRows(source, target, birds!, [[2]])).unsettled).toEqual([[2]])
    expect((await copyRows(source, target, birds!, [[1], [2]])).unsettled).toEqual([])
  })

  test('changes are noted by key, then refused with a time to come back, then free again', async () => {
    const db = await filled(name, 2)
    const tables = await tablesOf(db)
    await onChanges(db, tables, 'note')
    await db.insertInto('inlay_nests').values({ place: 'a "b"', number: 1 }).execute()
    await db.updateTable('inlay_birds').set({ id: 9 }).where('id', '=', 1).execute()
    await db.deleteFrom('inlay_birds').where('id', '=', 2).execute()
    const noted = await notedChanges(db, 100)
    expect([...noted.keys].map(([table, keys]) => [table, keys.toSorted()])).toEqual([
      ['inlay_nests', [['a "b"', 1]]],
      ['inlay_birds', [[1], [2], [9]]],
    ])
    await dropNoted(db, noted)
    expect((await notedChanges(db, 100)).ids).toEqual([])

    await onChanges(db, tables, 'inlay_moving')
    for (const write of [
      db.insertInto('inlay_birds').values({ name: 'late' }),
      db.updateTable('inlay_birds').set({ name: 'late' }),
      db.deleteFrom('inlay_birds'),
    ])
      await expect(write.execute()).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        retryable: true,
        data: { retryAfterSeconds: 5 },
      })
    expect((await sql<{ name: string }>`select name from inlay_birds`.execute(db)).rows).toEqual([{ name: 'bird 1' }])

    await forgetChanges(db, tables)
    await db.insertInto('inlay_birds').values({ name: 'free' }).execute()
  })
})

test('on Postgres, changes are noted whatever the search path and the rights of the writer', async () => {
  const db = await filled('Postgres', 0)
  await onChanges(db, await tablesOf(db), 'note')
  await db.connection().execute(async (writer) => {
    for (const statement of [
      'create role bird_writer',
      'grant usage on schema public to bird_writer',
      'grant insert on inlay_birds to bird_writer',
      'set role bird_writer',
      'set search_path to elsewhere',
      "insert into public.inlay_birds (name) values ('heron')",
    ])
      await sql.raw(statement).execute(writer)
    for (const statement of ['reset search_path', 'reset role', 'drop owned by bird_writer', 'drop role bird_writer'])
      await sql.raw(statement).execute(writer)
  })
  expect((await notedChanges(db, 9)).keys.get('inlay_birds')).toEqual([[1]])
})
