import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createConversations } from '@inlay/conversations'
import { scriptedModel } from '@inlay/agent/testing'
import { cpuMsOf } from '../../cpu-time.ts'
import { ana, ben, newSetting, providerOf } from '../../agent/setting.ts'

const characters = 9_600_000

test('huge messages of a caller cost a search, a name and nobody else anything', { timeout: 60_000 }, async () => {
  const { agent, db } = await newSetting([])
  const ids: string[] = []
  for (let count = 0; count < 12; count++) {
    const { id } = await agent.sessions.create({}, ana)
    ids.push(id)
    const root = await addMessage(id, null, 'system', '')
    const text = `whale ${'abx '.repeat(characters / 4)} beyond`
    await addMessage(id, root, 'user', text)
  }
  async function addMessage(session: string, parent: number | null, role: string, text: string): Promise<number> {
    const { rows } = await sql<{ id: number }>`
      insert into inlay_chat_messages (session_id, parent_id, role, status, created_at, text)
      values (${session}, ${parent}, ${role}, 'done', 0, ${text}) returning id`.execute(db)
    const { id } = rows[0]!
    if (parent !== null)
      await sql`update inlay_chat_messages set latest_child_id = ${id} where id = ${parent}`.execute(db)
    return id
  }
  await agent.close()
  // Simulates data of an earlier version, without the search index.
  await sql`delete from inlay_chat_search`.execute(db)
  await sql`update inlay_chat_search_fill set below = 1000000`.execute(db)
  const later = createConversations({ db, models: providerOf(scriptedModel([])), onError: () => {} })
  const find = async (query: string, caller = ana) =>
    (await later.sessions.search(query, caller, { limit: 50 })).groups.flatMap((group) => group.sessions).length
  const filling = await cpuMsOf(async () => expect(await find('whale')).toBe(12))
  expect(filling).toBeLessThan(1_500)

  const searching = await cpuMsOf(async () => {
    expect(await find('ab')).toBe(0)
    expect(await find('abx whale')).toBe(12)
    expect(await find('whale', ben)).toBe(0)
    // Beyond the part that is searched.
    expect(await find('beyond')).toBe(0)
  })
  expect(searching).toBeLessThan(200)
  let name = ''
  expect(await cpuMsOf(async () => (name = await later.sessions.rename(ids[0]!, null, ana)))).toBeLessThan(150)
  expect(name).toMatch(/^whale abx/)
  expect(await find('whale')).toBe(12)
  await later.close()
})
