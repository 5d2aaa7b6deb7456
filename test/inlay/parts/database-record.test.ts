import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createInlay, type Inlay } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { describeLoss, type Held } from 'inlay/internal/parts/database-record'
import { temporaryFolder } from '../../life/process.ts'

const apiKey = 'inlay_key-of-the-record-test'

const held: Held = { id: 'a', revision: 10, documents: 8, sessions: 2, files: 1, at: '2026-01-01T00:00:00.000Z' }

test('only another database or a lower last revision is a loss, not what people delete', () => {
  expect(describeLoss({}, held)).toBeUndefined()
  expect(describeLoss({ held }, { ...held, documents: 0, sessions: 0, files: 0 })).toBeUndefined()
  expect(describeLoss({ held }, { ...held, revision: 11 })).toBeUndefined()
  expect(describeLoss({ held }, { ...held, revision: 9, documents: 7 })).toMatch(
    /lost changes: on 2026-01-01T00:00:00.000Z it held 8 documents, .* \(last revision 10\), and now 7 documents/,
  )
  expect(describeLoss({ held }, { ...held, id: 'b', revision: 99 })).toMatch(/lost, emptied or replaced/)
})

test('a loss stays one while the database grows, and ends when the lost database is back', () => {
  const cut = { held, actual: { ...held, revision: 9 } }
  expect(describeLoss(cut, { ...held, revision: 50 })).toMatch(/lost changes/)
  const exchanged = { held, actual: { ...held, id: 'b', revision: 0 } }
  expect(describeLoss(exchanged, { ...held, id: 'b', revision: 50 })).toMatch(/replaced/)
  expect(describeLoss(exchanged, held)).toBeUndefined()
})

function folderOf() {
  const folder = temporaryFolder()
  onTestFinished(folder.remove)
  const log: string[] = []
  const open = async (): Promise<Inlay> => {
    const onError = (error: unknown): void => void log.push((error as Error).message)
    const inlay = createInlay({ dataFolder: folder.path, apiKey, worker: { lingerMs: 0, pollMs: 20 }, onError })
    onTestFinished(() => inlay.close())
    await inlay.start()
    return inlay
  }
  const notesOf = async (inlay: Inlay): Promise<string[]> => {
    const headers = { authorization: `Bearer ${apiKey}` }
    const get = async (path: string): Promise<{ [name: string]: { code: string; message: string }[] }> =>
      (await inlay.fetch(new Request(`http://host.example/api${path}`, { headers }))).json()
    const { notes } = await get('/health/ready')
    const { details } = await get('/service-api/notices')
    // Anybody reads that some are missing, the operator which and what to do.
    const isMissing = details!.length > 0
    expect(notes).toEqual(isMissing ? [{ code: 'records_missing', message: 'records are missing' }] : [])
    return details!.map(({ message }) => message)
  }
  const file = (name: string): string => join(folder.path, name)
  return { open, notesOf, log, file }
}

const note = {
  id: 'note',
  semantic_identifier: 'Note',
  sections: [{ text: 'The heron waits.' }],
  metadata: {},
  source: 'web',
} as const

/** An assistant that held a document and was closed. */
async function withDocument() {
  const all = folderOf()
  const inlay = await all.open()
  await inlay.knowledge.accept({ document: note })
  await inlay.knowledge.whenIdle()
  expect(await all.notesOf(inlay)).toEqual([])
  await inlay.close()
  expect(JSON.parse(readFileSync(all.file('database.json'), 'utf8'))).toMatchObject({
    held: { revision: 1, documents: 1, sessions: 0, files: 0 },
  })
  return all
}

test('a database that is gone is told until the documents are indexed again on request', async () => {
  const { open, notesOf, log, file } = await withDocument()
  rmSync(file('inlay.db'))
  const first = await open()
  expect(await notesOf(first)).toEqual([expect.stringMatching(/it held 1 documents, .* and now 0 documents/)])
  expect(log).toContainEqual(expect.stringContaining('lost, emptied or replaced'))
  await first.close()

  const second = await open()
  expect(await notesOf(second)).toHaveLength(1)
  await second.knowledge.reindex()
  expect(await notesOf(second)).toEqual([])
  await second.close()
  expect(await notesOf(await open())).toEqual([])
})

test('a database that is empty beside files or an index is told, also without a record', async () => {
  const { open, notesOf, file } = await withDocument()
  rmSync(file('database.json'))
  writeFileSync(file('inlay.db'), '')
  const inlay = await open()
  expect(await notesOf(inlay)).toEqual([expect.stringContaining('files or index of an earlier one')])
})

test('a database that lost its last changes is told until the record is deleted', async () => {
  const { open, notesOf, file } = await withDocument()
  const database = new DatabaseSync(file('inlay.db'))
  database.exec(`update inlay_counters set value = 0 where name = 'revision'`)
  database.close()
  const first = await open()
  expect(await notesOf(first)).toEqual([expect.stringContaining('lost changes')])
  await first.close()
  rmSync(file('database.json'))
  expect(await notesOf(await open())).toEqual([])
})
