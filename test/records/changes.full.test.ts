import { copiedTables, createTables, notedChanges, onChanges, type AnyDatabase } from '@inlay/records'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo } from '../knowledge/connect-to.ts'
import { startPostgres } from '../knowledge/postgres-server.ts'

test('a transaction that stays open while writes are refused is named, and what it wrote is noted once writes go on', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  const db: AnyDatabase = connectTo(await server.takeDatabase(), 3)
  await createTables(db, { inlay_birds: 'id generated, name text not null' })
  const tables = await copiedTables(db, (name) => name === 'inlay_birds')
  await onChanges(db, tables, 'note')
  const open = await db.startTransaction().execute()
  await open.insertInto('inlay_birds').values({ name: 'heron' }).execute()
  await expect(onChanges(db, tables, 'inlay_moving')).rejects.toThrow(
    'A transaction that has written to inlay_birds is still open: end it, and run the command again.',
  )
  await onChanges(db, tables, 'note')
  await open.commit().execute()
  expect([...(await notedChanges(db, 9)).keys]).toEqual([['inlay_birds', [[1]]]])
}, 60_000)
