import { expect, test } from 'vitest'
import { purgeRemovedPairs } from '@inlay/knowledge/internal/upkeep/removed-pairs'
import { makeKnowledge, request, startKnowledge } from '../setup.ts'

test('the default pair exists from the start and cannot be removed', async () => {
  const { knowledge } = await makeKnowledge()
  expect(await knowledge.pairs.list()).toMatchObject([
    { id: 1, isPublic: true, isPaused: false, users: [], groups: [] },
  ])
  await expect(knowledge.pairs.remove(1)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('a pair keeps what it was given, and what a change leaves out', async () => {
  const { knowledge } = await makeKnowledge({ now: () => 5000 })
  const pair = await knowledge.pairs.create({
    name: 'Wiki',
    isPublic: false,
    users: ['b', 'a', 'b'],
    groups: ['staff'],
  })
  expect(pair).toEqual({
    id: 2,
    name: 'Wiki',
    isPublic: false,
    isPaused: false,
    users: ['a', 'b'],
    groups: ['staff'],
    createdAt: 5000,
  })
  expect(await knowledge.pairs.update(2, { name: "it's \n 'quoted'" })).toEqual({ ...pair, name: "it's \n 'quoted'" })
  expect(await knowledge.pairs.update(2, { users: [], isPublic: true })).toMatchObject({
    users: [],
    groups: ['staff'],
    isPublic: true,
  })
  expect(await knowledge.pairs.update(2, {})).toMatchObject({ isPublic: true })
})

test('a pair that is not there cannot be changed or removed, and its number is never given again', async () => {
  const { knowledge, db } = await makeKnowledge()
  await expect(knowledge.pairs.update(2, { name: 'x' })).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
  await expect(knowledge.pairs.remove(2)).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
  const { id } = await knowledge.pairs.create({ name: 'short-lived' })
  await knowledge.pairs.remove(id)
  await expect(knowledge.pairs.update(id, { name: 'x' })).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
  await expect(knowledge.pairs.remove(id)).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
  await purgeRemovedPairs(db)
  expect((await knowledge.pairs.create({ name: 'next' })).id).toBe(id + 1)
})

test('documents of a paused pair wait, and go on when it is resumed; others are not held up', async () => {
  const { knowledge } = await startKnowledge()
  const { id } = await knowledge.pairs.create({ name: 'slow', isPaused: true })
  await knowledge.accept(request({ id: 'waits' }, id))
  await knowledge.accept(request({ id: 'goes' }))
  await knowledge.whenIdle()
  expect(await knowledge.status('waits')).toMatchObject({ phase: 'pending' })
  expect(await knowledge.status('goes')).toMatchObject({ phase: 'indexed' })
  await knowledge.pairs.update(id, { isPaused: false })
  await knowledge.whenIdle()
  expect(await knowledge.status('waits')).toMatchObject({ phase: 'indexed' })
})

test('a resumed pair does not wait for the next look at the queue', async () => {
  const { knowledge } = await startKnowledge({ worker: { pollMs: 3_600_000 } })
  const { id } = await knowledge.pairs.create({ name: 'slow', isPaused: true })
  await knowledge.accept(request({ id: 'waits' }, id))
  // Once it is indexed, the queue has been looked at.
  await knowledge.accept(request({ id: 'goes' }), { waitMs: 60_000 })
  await knowledge.pairs.update(id, { isPaused: false })
  await expect.poll(() => knowledge.status('waits')).toMatchObject({ phase: 'indexed' })
})

test('a paused pair stays searchable', async () => {
  const { knowledge } = await startKnowledge()
  await knowledge.accept(request(), { waitMs: 60_000 })
  await knowledge.pairs.update(1, { isPaused: true })
  expect(await knowledge.search({ text: 'some', limit: 5 })).toHaveLength(1)
})

test('removing a pair takes its documents along, but not those of other pairs', async () => {
  const { knowledge, db } = await makeKnowledge()
  const { id } = await knowledge.pairs.create({ name: 'going', users: ['ana'] })
  for (let at = 0; at < 450; at++) await knowledge.accept(request({ id: `only ${at}` }, id))
  await knowledge.accept(request({ id: 'shared' }, id))
  await knowledge.accept(request({ id: 'shared' }))
  await knowledge.pairs.remove(id)
  await purgeRemovedPairs(db)
  expect((await knowledge.list()).documents).toMatchObject([{ documentId: 'shared', pairIds: [1] }])
  for (const table of ['inlay_contents', 'inlay_document_pairs', 'inlay_pairs'] as const)
    expect(await db.selectFrom(table).selectAll().execute()).toHaveLength(1)
  expect(await db.selectFrom('inlay_grants').selectAll().execute()).toEqual([])
})
