import type { PGlite } from '@electric-sql/pglite'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { pgvectorIndex } from '@inlay/drivers/pgvector'
import { createKnowledge, migrateKnowledge, type Knowledge } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres } from '../../stand-in/pglite.ts'

let database: PGlite
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database.close())

interface Opened {
  readonly knowledge: Knowledge
  readonly messages: string[]
  close(): Promise<void>
}

async function makeRecords(): Promise<Kysely<unknown>> {
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: ':memory:' }) })
  await migrateKnowledge(db)
  onTestFinished(() => db.destroy())
  return db
}

/** Opens the knowledge over its records and an index, as a process would. */
async function open(db: Kysely<unknown>, prefix: string): Promise<Opened> {
  const messages: string[] = []
  const knowledge = createKnowledge({
    db,
    index: pgvectorIndex({ client: database, prefix }),
    worker: { lingerMs: 0, pollMs: 20 },
    onError: (error) => messages.push(isInlayError(error) ? error.message : String(error)),
  })
  await knowledge.start()
  onTestFinished(knowledge.close)
  return { knowledge, messages, close: knowledge.close }
}

async function fill({ knowledge }: Opened): Promise<void> {
  for (const id of ['a', 'b', 'c'])
    await knowledge.accept({ document: { id, sections: [{ text: 'The heron waits.' }] } })
  await knowledge.whenIdle()
}

const herons = async ({ knowledge }: Opened): Promise<string[]> =>
  (await knowledge.search({ text: 'heron', limit: 10 })).map(({ document }) => document.document_id).toSorted()

const isWhole = (opened: Opened): Promise<void> =>
  vi.waitFor(async () => expect(await herons(opened)).toEqual(['a', 'b', 'c']), { timeout: 60_000, interval: 50 })

async function drop(prefix: string, ...tables: readonly string[]): Promise<void> {
  for (const table of tables) await database.exec(`drop table ${prefix}_${table}`)
}

test('an index whose tables are gone is filled again by the next start', async () => {
  const db = await makeRecords()
  const first = await open(db, 'gone')
  await fill(first)
  await first.close()
  await drop('gone', 'rows', 'words', 'meta')
  const next = await open(db, 'gone')
  expect(next.messages).toEqual([expect.stringContaining('The index is lost.')])
  await isWhole(next)
})

test('a table that is dropped under a running process is filled again', async () => {
  const opened = await open(await makeRecords(), 'running')
  await fill(opened)
  expect(await herons(opened)).toEqual(['a', 'b', 'c'])
  await drop('running', 'rows')
  await isWhole(opened)
  expect(opened.messages.some((message) => message.startsWith('The index is lost.'))).toBe(true)
})

test('a part of the index that is gone is noticed by the first search that needs it', async () => {
  const opened = await open(await makeRecords(), 'part')
  await fill(opened)
  await drop('part', 'words')
  await vi.waitFor(
    async () => {
      await opened.knowledge.search({ text: 'herno', limit: 10 })
      expect(await herons(opened)).toEqual(['a', 'b', 'c'])
    },
    { timeout: 60_000, interval: 50 },
  )
  expect(opened.messages.some((message) => message.startsWith('The index is damaged.'))).toBe(true)
})

test('the index of other records is left alone, and the documents come into a new one', async () => {
  const [ours, theirs] = [await makeRecords(), await makeRecords()]
  const first = await open(ours, 'ours')
  await fill(first)
  await first.close()
  const other = await open(theirs, 'theirs')
  await fill(other)
  await other.close()
  await drop('ours', 'rows', 'words', 'meta')
  for (const table of ['rows', 'words', 'meta'])
    await database.exec(`alter table theirs_${table} rename to ours_${table}`)
  const next = await open(ours, 'ours')
  expect(next.messages).toEqual([expect.stringContaining('does not belong to these documents')])
  await isWhole(next)
})
