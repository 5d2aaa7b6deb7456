import { createHolds } from '@inlay/records'
import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import { ana, codeOf, newDatabase, newSetting } from '../../agent/setting.ts'
import { arriving, incoming } from '../files/setting.ts'
import { after } from './after.ts'

test('a hold that is placed while retention erases keeps sessions and their files, and both go once it is lifted', async () => {
  const db = await newDatabase()
  const storage = createStorage()
  const holds = createHolds({ db })
  const first = await newSetting([['28 days.']], { db, storage })
  const { files } = await first.agent.files.upload(arriving(incoming('a.txt', 'A heron.')), { caller: ana })
  const [file] = files
  const run = await first.send({ file_descriptors: [{ id: file!.fileId, type: 'plain_text', name: 'a.txt' }] })
  await run.whole()
  const rows = async () =>
    Promise.all(
      (['inlay_chat_sessions', 'inlay_chat_messages', 'inlay_files'] as const).map(
        async (table) =>
          (await db.withTables<Record<typeof table, object>>().selectFrom(table).selectAll().execute()).length,
      ),
    )
  const before = await rows()
  // Once the sessions are hidden.
  let hold = 0
  const race = after('inlay_holds', async () => (hold = (await holds.place({ person: ana.id, reason: '' })).id))
  const second = await newSetting([], { db: db.withPlugin(race), storage })
  second.clock.time = first.clock.time + 1000
  const expiry = { unchangedSince: second.clock.time, limit: 10 }
  await second.agent.eraseExpired(expiry)
  expect(hold).toBeGreaterThan(0)
  expect(await second.agent.eraseExpired(expiry)).toBe(0)
  second.clock.time += 3_600_000
  await second.agent.files.list(ana)
  expect(await codeOf(first.agent.erase(ana.id))).toBe('CONFLICT')
  expect([await rows(), (await storage.getKeys()).length]).toEqual([before, 1])

  await holds.lift(hold)
  expect(await first.agent.eraseExpired(expiry)).toBe(1)
  await first.agent.close()
  await second.agent.close()
  const third = await newSetting([], { db, storage })
  third.clock.time = second.clock.time + 3_600_000
  await third.agent.erase(ana.id)
  expect([await rows(), await storage.getKeys()]).toEqual([[0, 0, 0], []])
})
