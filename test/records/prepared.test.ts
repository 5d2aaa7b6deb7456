import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { prepared } from '@inlay/records'
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
