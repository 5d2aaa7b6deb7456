import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { migrateKnowledge } from '@inlay/knowledge'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { makeRecords } from '../setup.ts'

test('migrating again changes nothing', async () => {
  const db = await makeRecords()
  await db.updateTable('inlay_pairs').set({ name: 'renamed' }).execute()
  await migrateKnowledge(db)
  expect(await db.selectFrom('inlay_pairs').select('name').execute()).toEqual([{ name: 'renamed' }])
})

test('several processes may migrate a new database at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const connections = Array.from(
    { length: 4 },
    () => new Kysely<unknown>({ dialect: nodeSqlite({ file: join(folder, 'db') }) }),
  )
  await Promise.all(connections.map((db) => migrateKnowledge(db)))
  await Promise.all(connections.map((db) => db.destroy()))
})

test.each([
  [
    "select id from inlay_documents where state = 'pending' and due_at <= 5 order by due_at, revision",
    'inlay_documents_pending',
  ],
  ["select count(*) from inlay_documents where state = 'failed'", 'inlay_documents_failed'],
  ["update inlay_documents set claim = null where claim = 'x' and state = 'indexing'", 'inlay_documents_indexing'],
])('%s reads the index of its phase', async (query, index) => {
  const db = await makeRecords()
  const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(query)}`.execute(db)
  expect(rows.map(({ detail }) => detail).join()).toContain(index)
  expect(rows.map(({ detail }) => detail).join()).not.toContain('TEMP B-TREE')
})
