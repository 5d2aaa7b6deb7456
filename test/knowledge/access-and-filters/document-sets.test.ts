import { expect, test } from 'vitest'
import { makeKnowledge } from '../setup.ts'

test('a set keeps what it was given, and what a change leaves out', async () => {
  const { knowledge } = await makeKnowledge({ now: () => 7000 })
  const { id: wiki } = await knowledge.pairs.create({ name: 'Wiki' })
  const set = await knowledge.documentSets.create({ name: 'All', pairIds: [wiki, 1, 1], users: ['ana'] })
  expect(set).toEqual({
    id: 1,
    name: 'All',
    description: '',
    pairIds: [1, wiki],
    isPublic: true,
    users: ['ana'],
    groups: [],
    createdAt: 7000,
  })
  expect(await knowledge.documentSets.update(1, { description: 'both' })).toEqual({ ...set, description: 'both' })
  expect(await knowledge.documentSets.update(1, { pairIds: [] })).toMatchObject({ pairIds: [], description: 'both' })
  await knowledge.documentSets.remove(1)
  expect(await knowledge.documentSets.list()).toEqual([])
  await expect(knowledge.documentSets.remove(1)).rejects.toMatchObject({ code: 'DOCUMENT_SET_NOT_FOUND' })
  await expect(knowledge.documentSets.update(1, {})).rejects.toMatchObject({ code: 'DOCUMENT_SET_NOT_FOUND' })
})

test('names are unique, pairs must exist, and a refused change changes nothing', async () => {
  const { knowledge } = await makeKnowledge()
  await knowledge.documentSets.create({ name: 'a' })
  const { id } = await knowledge.documentSets.create({ name: 'b', pairIds: [1] })
  await expect(knowledge.documentSets.create({ name: 'a' })).rejects.toMatchObject({ code: 'DUPLICATE_RESOURCE' })
  await expect(knowledge.documentSets.update(id, { name: 'a' })).rejects.toMatchObject({ code: 'DUPLICATE_RESOURCE' })
  await expect(knowledge.documentSets.update(id, { name: 'c', pairIds: [1, 99] })).rejects.toMatchObject({
    code: 'CONNECTOR_NOT_FOUND',
  })
  expect(await knowledge.documentSets.list()).toMatchObject([{ name: 'a' }, { name: 'b', pairIds: [1] }])
  expect(await knowledge.documentSets.update(id, { name: 'b' })).toMatchObject({ name: 'b' })
})

test('callers see public sets and those that name them', async () => {
  const { knowledge } = await makeKnowledge()
  await knowledge.documentSets.create({ name: 'public' })
  await knowledge.documentSets.create({ name: 'staff', isPublic: false, groups: ['staff'] })
  const names = async (groups?: string[]): Promise<string[]> =>
    (await knowledge.documentSets.list({ caller: { id: 'ana', scopes: ['chat'], groups } })).map(({ name }) => name)
  expect(await names()).toEqual(['public'])
  expect(await names(['staff'])).toEqual(['public', 'staff'])
})

test('a removed pair is no longer part of any set', async () => {
  const { knowledge } = await makeKnowledge()
  const { id } = await knowledge.pairs.create({ name: 'going' })
  await knowledge.documentSets.create({ name: 'set', pairIds: [1, id] })
  await knowledge.pairs.remove(id)
  expect(await knowledge.documentSets.list()).toMatchObject([{ pairIds: [1] }])
  await expect(knowledge.documentSets.update(1, { pairIds: [1, id] })).rejects.toMatchObject({
    code: 'CONNECTOR_NOT_FOUND',
  })
})

test('a pair and a set of the same number each keep their own people', async () => {
  const { knowledge } = await makeKnowledge()
  const pair = await knowledge.pairs.create({ name: 'Wiki', isPublic: false, users: ['ana'], groups: ['board'] })
  await knowledge.documentSets.create({ name: 'first' })
  const set = await knowledge.documentSets.create({ name: 'staff', isPublic: false, users: ['ben'], groups: ['press'] })
  expect(set.id).toBe(pair.id)
  const pairOf = async () => (await knowledge.pairs.list()).find(({ id }) => id === pair.id)
  const setOf = async () => (await knowledge.documentSets.list()).find(({ id }) => id === set.id)
  expect([await pairOf(), await setOf()]).toEqual([pair, set])
  const changed = await knowledge.pairs.update(pair.id, { users: ['cy'], groups: [] })
  expect([await pairOf(), await setOf()]).toEqual([changed, set])
  await knowledge.documentSets.remove(set.id)
  expect(await pairOf()).toEqual(changed)
})

test('nothing is left of a removed set', async () => {
  const { knowledge, db } = await makeKnowledge()
  await knowledge.documentSets.create({ name: 'staff', pairIds: [1], users: ['ana'], groups: ['board'] })
  await knowledge.documentSets.remove(1)
  for (const table of ['inlay_document_sets', 'inlay_document_set_pairs', 'inlay_grants'] as const)
    expect(await db.selectFrom(table).selectAll().execute()).toEqual([])
})

test('people of a set and of a pair with the same number are kept apart', async () => {
  const { knowledge } = await makeKnowledge()
  const { id: pair } = await knowledge.pairs.create({ name: 'pair', users: ['ana'], groups: ['staff'] })
  const ids: number[] = []
  while (!ids.includes(pair)) ids.push((await knowledge.documentSets.create({ name: `set ${ids.length}` })).id)
  await knowledge.documentSets.update(pair, { users: ['ben'], groups: ['board'] })
  const pairs = async () => (await knowledge.pairs.list()).filter(({ id }) => id === pair)
  expect(await pairs()).toMatchObject([{ users: ['ana'], groups: ['staff'] }])
  await knowledge.pairs.update(pair, { users: ['eve'], groups: [] })
  const sets = (await knowledge.documentSets.list()).filter(({ id }) => id === pair)
  expect(sets).toMatchObject([{ users: ['ben'], groups: ['board'] }])
  await knowledge.documentSets.remove(pair)
  expect(await pairs()).toMatchObject([{ users: ['eve'], groups: [] }])
})
