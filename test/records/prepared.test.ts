import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { prepared, preparedRows } from '@inlay/records'
import { CamelCasePlugin, Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'

interface Tables {
  notes: { id: number; text: string | null }
}

async function makeNotes(plugins: CamelCasePlugin[] = []): Promise<Kysely<Tables>> {
  const db = new Kysely<Tables>({ dialect: nodeSqlite({ file: ':memory:' }), plugins })
  onTestFinished(() => db.destroy())
  await db.schema.createTable('notes').addColumn('id', 'integer').addColumn('text', 'text').execute()
  return db
}

function newInsert() {
  let built = 0
  const insert = prepared((db: Kysely<Tables>, { id, text }: Tables['notes']) => {
    built++
    return db.insertInto('notes').values({ text, id }).returning('id')
  })
  return { insert, built: () => built }
}

test('a prepared statement is built once for each database and takes the values of each run', async () => {
  const { insert, built } = newInsert()
  const [first, second] = [await makeNotes(), await makeNotes()]
  expect(await insert(first, { id: 1, text: 'one' })).toEqual([{ id: 1 }])
  await first.transaction().execute((transaction) => insert(transaction, { id: 2, text: null }))
  expect(built()).toBe(1)
  await insert(second, { id: 3, text: 'three' })
  expect(built()).toBe(2)
  expect(await first.selectFrom('notes').selectAll().execute()).toEqual([
    { id: 1, text: 'one' },
    { id: 2, text: null },
  ])
})

test('plugins of a host see each statement', async () => {
  const { insert, built } = newInsert()
  const db = await makeNotes([new CamelCasePlugin()])
  await insert(db, { id: 1, text: 'one' })
  await insert(db, { id: 2, text: 'two' })
  expect(built()).toBe(2)
  expect(await db.selectFrom('notes').selectAll().execute()).toHaveLength(2)
})

test('any number of rows is inserted by a few statements, which are built once', async () => {
  const sizes: number[] = []
  const insert = preparedRows(['id', 'text'], (db: Kysely<Tables>, rows: readonly Tables['notes'][]) => {
    sizes.push(rows.length)
    return db.insertInto('notes').values(rows)
  })
  const db = await makeNotes()
  const rows = Array.from({ length: 201 }, (_, id) => ({ id, text: id % 3 === 0 ? null : `note ${id}` }))
  await insert(db, [])
  await insert(db, rows.slice(0, 150))
  await db.transaction().execute((transaction) => insert(transaction, rows.slice(150)))
  expect(await db.selectFrom('notes').selectAll().orderBy('id').execute()).toEqual(rows)
  expect(sizes.toSorted((left, right) => left - right)).toEqual([1, 2, 4, 16, 32, 64])
})

test('plugins of a host see each insert of rows', async () => {
  const insert = preparedRows(['id', 'text'], (db: Kysely<Tables>, rows: readonly Tables['notes'][]) =>
    db.insertInto('notes').values(rows),
  )
  const db = await makeNotes([new CamelCasePlugin()])
  const rows = Array.from({ length: 7 }, (_, id) => ({ id, text: `note ${id}` }))
  await insert(db, rows)
  expect(await db.selectFrom('notes').selectAll().orderBy('id').execute()).toEqual(rows)
})
