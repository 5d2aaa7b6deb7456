import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { InlayError } from '@inlay/protocol'
import { createSharedTransactions } from '@inlay/records'
import { Kysely, SqliteDriver } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'

interface Tables {
  notes: { text: string }
}

async function makeNotes(): Promise<Kysely<Tables>> {
  const db = new Kysely<Tables>({ dialect: nodeSqlite({ file: ':memory:' }) })
  onTestFinished(() => db.destroy())
  await db.schema
    .createTable('notes')
    .addColumn('text', 'text', (column) => column.unique())
    .execute()
  return db
}

test('a write that fails is taken back alone', async () => {
  const db = await makeNotes()
  const transactions = createSharedTransactions(db)
  const write = (text: string, fails = false): Promise<string> =>
    transactions.run(async (transaction) => {
      await transaction.insertInto('notes').values({ text }).execute()
      if (fails) throw new Error(`no ${text}`)
      return text
    })
  const outcomes = await Promise.allSettled([write('a'), write('b', true), write('a'), write('c')])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(await db.selectFrom('notes').select('text').execute()).toEqual([{ text: 'a' }, { text: 'c' }])
})

test('writes of several parts share a transaction, and so a sync to the disk', async () => {
  const db = await makeNotes()
  const commits = vi.spyOn(SqliteDriver.prototype, 'commitTransaction')
  onTestFinished(() => void commits.mockRestore())
  const parts = [createSharedTransactions(db), createSharedTransactions(db.withoutPlugins())]
  await Promise.all(
    parts.map(({ run }, at) =>
      run((transaction) =>
        transaction
          .insertInto('notes')
          .values({ text: `${at}` })
          .execute(),
      ),
    ),
  )
  expect(commits).toHaveBeenCalledTimes(1)
})

test('a database that is away is asked once for all writes of a transaction', async () => {
  const db = await makeNotes()
  const transactions = createSharedTransactions(db)
  const away = new InlayError('SERVICE_UNAVAILABLE')
  let attempts = 0
  const write = (): Promise<never> => transactions.run(async () => Promise.reject(++attempts && away))
  const outcomes = await Promise.allSettled(Array.from({ length: 32 }, write))
  expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: away })))
  expect(attempts).toBe(1)
})
