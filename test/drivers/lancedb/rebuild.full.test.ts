import { cp, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKnowledge, migrateKnowledge, type Knowledge } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { request } from '../../knowledge/requests.ts'

interface Opened {
  readonly knowledge: Knowledge
  readonly messages: string[]
  close(): Promise<void>
}

/** Opens the knowledge in a folder as a process would. */
async function open(folder: string): Promise<Opened> {
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  await migrateKnowledge(db)
  const messages: string[] = []
  const knowledge = createKnowledge({
    db,
    index: lancedbIndex({ folder: join(folder, 'index') }),
    worker: { lingerMs: 0, pollMs: 20 },
    onError: (error) => messages.push(isInlayError(error) ? error.message : String(error)),
  })
  await knowledge.start()
  const close = async (): Promise<void> => {
    await knowledge.close()
    await db.destroy()
  }
  onTestFinished(close)
  return { knowledge, messages, close }
}

async function makeFilled(): Promise<{ folder: string; opened: Opened }> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-rebuild-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const opened = await open(folder)
  const accept = (id: string): Promise<unknown> =>
    opened.knowledge.accept(
      request({ id, semantic_identifier: id, text: `The heron ${id} waits.`, metadata: { place: 'pond' } }),
    )
  for (const id of ['a', 'b', 'c']) await accept(id)
  await opened.knowledge.whenIdle()
  return { folder, opened }
}

const herons = async ({ knowledge }: Opened): Promise<string[]> =>
  (await knowledge.search({ text: 'heron', limit: 10 })).map(({ document }) => document.document_id).toSorted()

async function filesBelow(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name))
}

const isWhole = (opened: Opened): Promise<void> =>
  vi.waitFor(async () => expect(await herons(opened)).toEqual(['a', 'b', 'c']), { timeout: 60_000, interval: 50 })

test('an index folder that was deleted is filled again by the next start', async () => {
  const { folder, opened } = await makeFilled()
  await opened.close()
  await rm(join(folder, 'index'), { recursive: true })
  const next = await open(folder)
  expect(next.messages).toEqual([expect.stringContaining('The index is lost.')])
  await isWhole(next)
})

test('an index folder that is deleted under a running process is filled again', async () => {
  const { folder, opened } = await makeFilled()
  expect(await herons(opened)).toEqual(['a', 'b', 'c'])
  // The running process may write meanwhile.
  await rm(join(folder, 'index'), { recursive: true, maxRetries: 10 })
  await isWhole(opened)
  expect(opened.messages.some((message) => message.startsWith('The index is lost.'))).toBe(true)
})

test.each([
  ['cut short', (file: string) => truncate(file, 20)],
  ['overwritten', (file: string) => writeFile(file, 'no longer what it was '.repeat(500))],
])('an index whose data files are %s is filled again', async (_, damage) => {
  const { folder, opened } = await makeFilled()
  await opened.close()
  for (const file of await filesBelow(join(folder, 'index'), '.lance')) await damage(file).catch(() => {})
  const next = await open(folder)
  await isWhole(next)
  expect(next.messages.some((message) => message.startsWith('The index is damaged.'))).toBe(true)
  await next.close()
  const last = await open(folder)
  expect(last.messages).toEqual([])
  await isWhole(last)
})

test('an index without a readable list of its files is filled again', async () => {
  const { folder, opened } = await makeFilled()
  await opened.close()
  for (const file of await filesBelow(join(folder, 'index'), '.manifest')) await writeFile(file, 'nonsense')
  await isWhole(await open(folder))
})

/** A filter reads other files of the index than the words do. */
const filteredHerons = async ({ knowledge }: Opened): Promise<string[]> =>
  (
    await knowledge.search({
      text: 'heron',
      limit: 10,
      filters: { source_type: ['file'], tags: [{ tag_key: 'place', tag_value: 'pond' }] },
    })
  )
    .map(({ document }) => document.document_id)
    .toSorted()

test('whichever file of its indexes is missing, everything is found again', async () => {
  const { folder, opened } = await makeFilled()
  await opened.close()
  const files = await filesBelow(join(folder, 'index', 'chunks.lance', '_indices'), '.lance')
  expect(files.length).toBeGreaterThan(8)
  for (const file of files) {
    const copy = await mkdtemp(join(tmpdir(), 'inlay-rebuild-'))
    onTestFinished(() => rm(copy, { recursive: true, force: true, maxRetries: 10 }))
    await cp(folder, copy, { recursive: true })
    await rm(file.replace(folder, copy))
    const next = await open(copy)
    await vi.waitFor(async () => expect(await filteredHerons(next), file).toEqual(['a', 'b', 'c']), {
      timeout: 60_000,
      interval: 50,
    })
    await next.close()
  }
})
