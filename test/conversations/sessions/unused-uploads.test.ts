import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import { ana, newDatabase, newSetting } from '../../agent/setting.ts'
import { arriving, incoming } from '../files/setting.ts'
import { after } from './after.ts'

test('an upload that is sent with a message while retention looks at it stays', async () => {
  const db = await newDatabase()
  const storage = createStorage()
  const first = await newSetting([['A heron.']], { db, storage })
  const { files } = await first.agent.files.upload(arriving(incoming('a.txt', 'A heron.')), { caller: ana })
  const [file] = files
  first.clock.time += 1000
  // Once the projects were searched for the file.
  const race = after('inlay_project_files', async () => {
    const run = await first.send({ file_descriptors: [{ id: file!.fileId, type: 'plain_text', name: 'a.txt' }] })
    await run.whole()
  })
  const second = await newSetting([], { db: db.withPlugin(race), storage })
  second.clock.time = first.clock.time
  const batch = { unusedSince: first.clock.time, after: undefined, limit: 10 }
  expect(await second.agent.eraseUnusedUploads(batch)).toEqual({ last: file!.id, erased: 0 })
  expect(await first.agent.files.list(ana)).toHaveLength(1)
  expect(await storage.getKeys()).toHaveLength(1)
})

test('a message is refused whose upload retention removes before it is stored', async () => {
  const db = await newDatabase()
  const storage = createStorage()
  const erased: number[] = []
  // Once the message was checked.
  const before = async (): Promise<void> => {
    const batch = { unusedSince: setting.clock.time, after: undefined, limit: 10 }
    erased.push((await setting.agent.eraseUnusedUploads(batch)).erased)
  }
  const setting = await newSetting([], { db, storage, hooks: { before } })
  const { files } = await setting.agent.files.upload(arriving(incoming('a.txt', 'A heron.')), { caller: ana })
  setting.clock.time += 1000
  const sent = setting.send({ file_descriptors: [{ id: files[0]!.fileId, type: 'plain_text', name: 'a.txt' }] })
  await expect(sent).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'No such file: upload it first.' })
  expect(erased).toEqual([1])
  expect(await setting.agent.sessions.list(ana)).toMatchObject({ sessions: [] })
})
