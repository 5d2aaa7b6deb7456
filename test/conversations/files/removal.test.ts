import type { KyselyPlugin } from 'kysely'
import { hideFile, holdPresent, queueRemoval, showFile } from '@inlay/conversations/internal/files/file-records'
import { expect, test } from 'vitest'
import { newGate } from '../../gate.ts'
import { ana, arriving, incoming, memoryIndex, newFiles, type FileSetting } from './setting.ts'

/** An index whose `put` waits until it is let go. */
function slowIndex(): ReturnType<typeof memoryIndex> & { release(): void; begun: Promise<void> } {
  const inner = memoryIndex()
  const gate = newGate()
  return {
    ...inner,
    begun: gate.reached,
    release: gate.open,
    put: async (file) => {
      await gate.pass()
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

test('a file that is gone, hidden or on its way out is put to no new use', async () => {
  const setting = await newFiles()
  const { db } = setting
  const id = await uploadOne(setting)
  const refusal = { code: 'NOT_FOUND', message: 'No such file: upload it first.' }
  await holdPresent(db, [id])
  await expect(holdPresent(db, [id, 'unknown'])).rejects.toMatchObject(refusal)
  await hideFile(db, id, 0)
  await expect(holdPresent(db, [id])).rejects.toMatchObject(refusal)
  await showFile(db, id)
  await holdPresent(db, [id])
  await queueRemoval(db, id)
  await expect(holdPresent(db, [id])).rejects.toMatchObject(refusal)
  // What is being removed is not shown again.
  await showFile(db, id)
  await expect(holdPresent(db, [id])).rejects.toMatchObject(refusal)
})
