import { expect, test } from 'vitest'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import { ana, newSetting } from '../../agent/setting.ts'

test('pages cut by time hold each session once, also of sessions made at the same moment', async () => {
  const { agent, send } = await newSetting(() => ['x'])
  const created: string[] = []
  for (let count = 0; count < 4; count++) {
    created.unshift((await agent.sessions.create({}, ana)).id)
    const run = await send()
    await run.whole()
    created.unshift(run.sessionId)
  }
  // A message moves its session to the front.
  const oldest = created.pop() ?? ''
  await (await send({ chat_session_id: oldest })).whole()
  created.unshift(oldest)
  const seen: string[] = []
  for (let before: number | undefined; ;) {
    const page = await agent.sessions.list(ana, { limit: 3, before })
    expect(page.sessions.length).toBeLessThanOrEqual(3)
    seen.push(...page.sessions.map(({ id }) => id))
    if (!page.hasMore) break
    before = Date.parse(page.sessions.at(-1)?.timeUpdated ?? '')
  }
  expect(seen).toEqual(created)
})

test('sessions are listed by project, or those of none', async () => {
  const { agent, db } = await newSetting([])
  const inside = await agent.sessions.create({}, ana)
  const outside = await agent.sessions.create({}, ana)
  await db
    .withTables<ConversationTables>()
    .updateTable('inlay_chat_sessions')
    .set({ project_id: 7 })
    .where('id', '=', inside.id)
    .execute()
  const listed = async (projectId?: number | null) =>
    (await agent.sessions.list(ana, { projectId })).sessions.map(({ id }) => id)
  expect(await listed(7)).toEqual([inside.id])
  expect(await listed(null)).toEqual([outside.id])
  expect(await listed(8)).toEqual([])
  expect(new Set(await listed())).toEqual(new Set([inside.id, outside.id]))
})
