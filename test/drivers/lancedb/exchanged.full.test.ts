import { cp, mkdtemp, rename, rm, truncate, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { createKnowledge, migrateKnowledge, type Embedder, type Knowledge } from '@inlay/knowledge'
import { isInlayError } from '@inlay/protocol'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fakeEmbedder } from '../../knowledge/fake-embedder.ts'
import { request } from '../../knowledge/requests.ts'

interface Opened {
  readonly knowledge: Knowledge
  readonly messages: string[]
  close(): Promise<void>
}

/** Opens the knowledge in a folder as a process would. */
async function open(folder: string, embedder?: Embedder): Promise<Opened> {
  const db = new Kysely<unknown>({ dialect: nodeSqlite({ file: join(folder, 'records.db') }) })
  await migrateKnowledge(db)
  const messages: string[] = []
  const knowledge = createKnowledge({
    db,
    embedder,
    index: lancedbIndex({ folder: join(folder, 'index'), keepVersionsMs: 0 }),
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

const accept = ({ knowledge }: Opened, id: string, text = `The heron ${id} waits.`): Promise<unknown> =>
  knowledge.accept(request({ id, semantic_identifier: id, text }))

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-exchanged-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

async function makeFilled(ids: readonly string[], embedder?: Embedder): Promise<string> {
  const folder = await makeFolder()
  const opened = await open(folder, embedder)
  for (const id of ids) await accept(opened, id)
  await opened.knowledge.whenIdle()
  await opened.close()
  return folder
}

const matchesOf = async ({ knowledge }: Opened, text = 'heron'): Promise<string[]> =>
  (await knowledge.search({ text, limit: 50 })).map(({ document }) => document.document_id).toSorted()

const finds = (opened: Opened, ids: readonly string[], text = 'heron'): Promise<void> =>
  vi.waitFor(async () => expect(await matchesOf(opened, text)).toEqual(ids), { timeout: 15_000, interval: 50 })

const foreign = expect.stringContaining('does not belong to these documents')

test('two installations whose index folders were exchanged each get their own back', async () => {
  const [left, right] = [await makeFilled(['a', 'b']), await makeFilled(['c', 'd'])]
  await rename(join(left, 'index'), join(left, 'other'))
  await rename(join(right, 'index'), join(left, 'index'))
  await rename(join(left, 'other'), join(right, 'index'))
  for (const [folder, ids] of [
    [left, ['a', 'b']],
    [right, ['c', 'd']],
  ] as const) {
    const opened = await open(folder)
    expect(opened.messages).toEqual([foreign])
    await finds(opened, ids)
    await opened.knowledge.whenIdle()
    await opened.close()
    const next = await open(folder)
    expect(next.messages).toEqual([])
    await finds(next, ids)
  }
})

test('an index folder that was copied from another installation is not taken for the own one', async () => {
  const [own, other] = [await makeFilled(['a', 'b']), await makeFilled(['c', 'd'])]
  await rm(join(own, 'index'), { recursive: true })
  await cp(join(other, 'index'), join(own, 'index'), { recursive: true })
  const opened = await open(own)
  expect(opened.messages).toEqual([foreign])
  await finds(opened, ['a', 'b'])
})

test('an index that documents are moved from to another embedder is replaced when it is damaged meanwhile', async () => {
  const ids = Array.from({ length: 40 }, (_, at) => `d${String(at).padStart(2, '0')}`)
  const folder = await makeFilled(ids, fakeEmbedder())
  const other = { ...fakeEmbedder(), id: 'other@8' }
  const gate = Promise.withResolvers<void>()
  const slow = {
    ...other,
    embed: async (...args: Parameters<Embedder['embed']>) => (await gate.promise, other.embed(...args)),
  }
  const table = join(folder, 'index', 'chunks.lance')
  for (const name of await readdir(table, { recursive: true }))
    if (name.endsWith('.lance')) await truncate(join(table, name), 20).catch(() => {})
  const opened = await open(folder, slow)
  await opened.knowledge.reindex({ embedder: true })
  // Searches are answered with what there is, or refused while nothing is.
  await matchesOf(opened).catch((error: unknown) => expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' }))
  gate.resolve()
  await vi.waitFor(() => expect(opened.messages).toContainEqual(expect.stringContaining('The index is damaged.')), {
    timeout: 15_000,
  })
  await finds(opened, ids)
  await opened.knowledge.whenIdle()
  expect((await opened.knowledge.figures()).rebuild).toBeUndefined()
})
