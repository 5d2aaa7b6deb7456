import { postgres } from '@inlay/drivers/postgres'
import { copiedTables, createTables, notedChanges, onChanges } from '@inlay/records'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../knowledge/postgres-server.ts'

test('a transaction that stays open while writes are refused is named, and what it wrote is noted once writes go on', async () => {
  const server = await startPostgres()
  // oxlint-disable-next-line typescript/no-explicit-any -- tables of the test alone
  const db = new Kysely<any>({
    dialect: postgres({ connectionString: await server.takeDatabase(), maxConnections: 3 }),
  })
  onTestFinished(async () => {
    await db.destroy()
    await server.stop()
  })
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
