import type { KyselyPlugin } from 'kysely'
import { expect, test } from 'vitest'
import { ana, arriving, incoming, memoryIndex, newFiles, type FileSetting } from './setting.ts'

/** An index whose `put` waits until it is let go. */
function slowIndex(): ReturnType<typeof memoryIndex> & { release(): void; begun: Promise<void> } {
  const inner = memoryIndex()
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    ...inner,
    begun: begun.promise,
    release: gate.resolve,
    put: async (file) => {
      begun.resolve()
      await gate.promise
      await inner.put(file)
    },
  }
}

async function uploadOne({ files }: FileSetting): Promise<string> {
  const { files: uploads } = await files.upload(arriving(incoming('a.txt', 'A heron.')), { caller: ana })
  await files.worker.whenIdle()
  return uploads[0]!.id
}

test('a file that one process puts into the index while another removes it is not left in the index', async () => {
  const setting = await newFiles()
  const id = await uploadOne(setting)
  const index = slowIndex()
  const reader = setting.again({ index })
  const indexed = reader.wantIndexed([id])
  await index.begun
  const remover = setting.again({ index })
  await remover.remove(id, ana)
  await expect(remover.get(id, ana)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await remover.worker.whenIdle()
  // The file goes once its reader has ended, not under it.
  expect(await setting.db.selectFrom('inlay_files').select('work').execute()).toEqual([{ work: 'remove' }])
  index.release()
  await indexed
  await reader.worker.whenIdle()
  const filesLeft = async (): Promise<unknown> => {
    reader.worker.notify()
    await reader.worker.whenIdle()
    return setting.db.selectFrom('inlay_files').selectAll().execute()
  }
  await expect.poll(filesLeft).toEqual([])
  expect([...index.held.keys()]).toEqual([])
})

test('a reader that comes back after its lease takes out what it put in too late', async () => {
  const setting = await newFiles()
  const id = await uploadOne(setting)
  const index = slowIndex()
  const reader = setting.again({ index })
  await reader.wantIndexed([id])
  await index.begun
  const remover = setting.again({ index })
  await remover.remove(id, ana)
  // Simulates a suspended reader, whose lease has expired.
  setting.clock.time += 60_000
  remover.worker.notify()
  await remover.worker.whenIdle()
  expect(await setting.db.selectFrom('inlay_files').selectAll().execute()).toEqual([])
  index.release()
  await reader.worker.whenIdle()
  expect([...index.held.keys()]).toEqual([])
})

test('a file that somebody else has read since it was claimed stays', async () => {
  const { db, again } = await newFiles()
  const claims = new WeakSet<object>()
  const readBySomebody: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      if (node.kind === 'UpdateQueryNode' && JSON.stringify(node.returning ?? null).includes('"attempts"'))
        claims.add(queryId)
      return node
    },
    transformResult: async ({ result, queryId }) => {
      if (claims.has(queryId)) await db.updateTable('inlay_files').set({ work: null, status: 'COMPLETED' }).execute()
      return result
    },
  }
  const files = again({ db: db.withPlugin(readBySomebody), waitMs: 0 })
  await files.upload(arriving(incoming('a.txt', 'A heron.')), { caller: ana })
  await files.worker.whenIdle()
  const rows = await db.selectFrom('inlay_files').select(['name', 'status', 'work', 'claim']).execute()
  expect(rows).toEqual([{ name: 'a.txt', status: 'COMPLETED', work: null, claim: null }])
})
