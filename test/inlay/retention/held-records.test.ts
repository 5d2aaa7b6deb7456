import { createHolds } from '@inlay/records'
import { createKeys, createWorkspaceRecords, migrateServer } from '@inlay/server'
import { expect, test } from 'vitest'
import { ana, codeOf, newDatabase } from '../../agent/setting.ts'
import { after } from '../../conversations/sessions/after.ts'

const prompt = { prompt: 'a', content: 'b', active: true }

test.each(['remove', 'erase'] as const)(
  'a hold that is placed while a record is to go waits for its end: %s',
  async (how) => {
    const db = await newDatabase()
    await migrateServer(db)
    const holds = createHolds({ db })
    await createWorkspaceRecords({ db }).put('input_prompt', 7, prompt, ana.id)
    const left = async () => (await createWorkspaceRecords({ db }).list('input_prompt', ana.id)).length
    let placing: Promise<number> | undefined
    const race = after(
      'inlay_holds',
      async () => void (placing = holds.place({ person: ana.id, reason: '' }).then(left)),
    )
    const records = createWorkspaceRecords({ db: db.withPlugin(race) })
    await (how === 'remove' ? records.remove('input_prompt', 7, ana.id) : records.erase(ana.id))
    expect([await placing, await left()]).toEqual([0, 0])
  },
)

test('what belongs to somebody under a hold stays, whoever asked before it was placed', async () => {
  const db = await newDatabase()
  await migrateServer(db)
  const records = createWorkspaceRecords({ db })
  await records.put('input_prompt', 7, prompt, ana.id)
  await records.put('conversation', 7, { sessionId: 's', metadata: {} }, ana.id)
  await createHolds({ db }).place({ person: ana.id, reason: '' })
  expect(await codeOf(records.remove('input_prompt', 7, ana.id))).toBe('CONFLICT')
  expect(await codeOf(records.remove('conversation', 7, ana.id))).toBe('CONFLICT')
  expect(await codeOf(records.erase(ana.id))).toBe('CONFLICT')
  expect(await codeOf(createKeys({ db }).erase(ana.id))).toBe('CONFLICT')
})
