import { expect, test } from 'vitest'
import { ana, ben, newSetting } from '../../agent/setting.ts'

const dayMs = 86_400_000

test('a session is found by its name or by what was said in it, whatever the endings', async () => {
  const { agent, send } = await newSetting(() => ['Staff get 28 days of paid leave, agreed in 2026.'])
  const { sessions } = agent
  const run = await send({ message: 'What about holidays?' })
  await run.whole()
  const named = await sessions.create({ description: 'Übungen für Bergretter' }, ana)
  const passages = async (query: string, caller = ana) =>
    (await sessions.search(query, caller)).groups.flatMap((group) => group.sessions.map(({ id }) => id))
  expect(await passages('holiday')).toEqual([run.sessionId])
  expect(await passages('the LEAVES of staff')).toEqual([run.sessionId])
  expect(await passages('übungen')).toEqual([named.id])
  expect(await passages('leave mountains')).toEqual([])
  // Words of the question and of the answer: no single text holds both.
  expect(await passages('holidays paid')).toEqual([])
  expect(await passages('aff')).toEqual([])
  expect(await passages("%_' OR 1=1")).toEqual([])
  expect(await passages('holiday', ben)).toEqual([])
})

test('a deleted session is not found', async () => {
  const { agent } = await newSetting([])
  const { id } = await agent.sessions.create({ description: 'Bees' }, ana)
  await agent.sessions.remove(id, ana)
  expect(await agent.sessions.search('bees', ana)).toEqual({ groups: [], hasMore: false })
})

test('sessions are grouped by the day they were begun on, newest first', async () => {
  const { agent, clock } = await newSetting([])
  const today = clock.time
  for (const age of [40, 31, 30, 8, 7, 2, 1, 0]) {
    clock.time = today - age * dayMs
    await agent.sessions.create({ description: `${age} days` }, ana)
  }
  // Just before midnight it is still yesterday's.
  clock.time = Math.floor(today / dayMs) * dayMs - 1
  await agent.sessions.create({ description: 'late' }, ana)
  clock.time = today
  const { groups } = await agent.sessions.search('', ana)
  expect(groups.map(({ title, sessions }) => [title, sessions.map(({ name }) => name)])).toEqual([
    ['Today', ['0 days']],
    ['Yesterday', ['late', '1 days']],
    ['This Week', ['2 days', '7 days']],
    ['This Month', ['8 days', '30 days']],
    ['Older', ['31 days', '40 days']],
  ])
})

test('pages hold each session once', async () => {
  const { agent, clock } = await newSetting([])
  for (let count = 0; count < 120; count++) {
    clock.time += 1_000
    await agent.sessions.create({ description: count % 2 === 0 ? `bee ${count}` : `wasp ${count}` }, ana)
  }
  const names: string[] = []
  for (let offset = 0; ; offset += 25) {
    const { groups, hasMore } = await agent.sessions.search('bees', ana, { offset, limit: 25 })
    names.push(...groups.flatMap(({ sessions }) => sessions.map(({ name }) => name)))
    if (!hasMore) break
  }
  expect(names).toEqual(Array.from({ length: 60 }, (_, index) => `bee ${118 - 2 * index}`))
})
