import { expect, test } from 'vitest'
import { ana, ben, newSetting } from '../../agent/setting.ts'

test('pinned sessions are listed last pinned first, to their owner alone', async () => {
  const { agent, clock } = await newSetting([])
  const { sessions } = agent
  const ids: string[] = []
  for (const description of ['Bees', 'Wasps', 'Ants']) ids.push((await sessions.create({ description }, ana)).id)
  const pinned = async (caller = ana) => (await sessions.listPinned(caller)).map(({ name }) => name)
  for (const id of [ids[1]!, ids[0]!, ids[1]!]) {
    clock.time += 1_000
    await sessions.setPinned(id, true, ana)
  }
  expect(await pinned()).toEqual(['Bees', 'Wasps'])
  expect(await pinned(ben)).toEqual([])
  await expect(sessions.setPinned(ids[2]!, true, ben)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  await sessions.setPinned(ids[0]!, false, ana)
  await sessions.setPinned(ids[0]!, false, ana)
  expect(await pinned()).toEqual(['Wasps'])
})

test('no more than a hundred sessions are pinned, and the refusal says what to do', async () => {
  const { agent } = await newSetting([])
  const { sessions } = agent
  const ids: string[] = []
  for (let count = 0; count < 101; count++) ids.push((await sessions.create({}, ana)).id)
  for (const id of ids.slice(0, 100)) await sessions.setPinned(id, true, ana)
  const last = ids[100]!
  await expect(sessions.setPinned(last, true, ana)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: 'At most 100 chats can be pinned: unpin one of them first.',
  })
  // A hidden one does not count.
  await sessions.remove(ids[0]!, ana)
  await sessions.setPinned(last, true, ana)
  expect(await sessions.listPinned(ana)).toHaveLength(100)
  // Back again, it hides none of the others.
  await sessions.restore(ids[0]!, ana)
  expect(new Set((await sessions.listPinned(ana)).map(({ id }) => id))).toEqual(new Set(ids))
})

test('requests at once pin no more than a hundred sessions together', async () => {
  const { agent } = await newSetting([])
  const { sessions } = agent
  const ids: string[] = []
  for (let count = 0; count < 102; count++) ids.push((await sessions.create({}, ana)).id)
  const outcomes = await Promise.allSettled(ids.map((id) => sessions.setPinned(id, true, ana)))
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(2)
  expect(await sessions.listPinned(ana)).toHaveLength(100)
})

test('a removed session comes back whole, but private; an erased or strange one does not', async () => {
  const { agent, send } = await newSetting(() => ['Bees swarm in May.'])
  const { sessions } = agent
  const run = await send({ message: 'Bees?' })
  await run.whole()
  const id = run.sessionId
  await sessions.setPinned(id, true, ana)
  await sessions.share(id, 'public', ana)
  await sessions.restore(id, ana)
  // It was not removed.
  expect((await sessions.get(id, ana)).isPublic).toBe(true)
  await sessions.remove(id, ana)
  expect(await sessions.listPinned(ana)).toEqual([])
  await expect(sessions.restore(id, ben)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  await sessions.restore(id, ana)
  const back = await sessions.get(id, ana)
  expect([back.isDeleted, back.isPublic]).toEqual([false, false])
  expect(back.messages.map(({ text }) => text)).toEqual(['', 'Bees?', 'Bees swarm in May.'])
  expect((await sessions.listPinned(ana)).map((listed) => listed.id)).toEqual([id])
  expect((await sessions.search('swarm', ana)).groups).toHaveLength(1)
  await sessions.remove(id, ana, { erase: true })
  await expect(sessions.restore(id, ana)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
})
