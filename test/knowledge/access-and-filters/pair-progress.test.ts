import type { Caller } from '@inlay/knowledge'
import { expect, test } from 'vitest'
import { fakeEmbedder } from '../fake-embedder.ts'
import { makeKnowledge, request, startKnowledge } from '../setup.ts'

const broken = fakeEmbedder({
  answer: (texts) => {
    if (texts.some((text) => text.includes('poison'))) throw new Error('cannot read this')
  },
})

test('a pair tells how many documents are in which state, and what was given up', async () => {
  const { knowledge } = await startKnowledge({ embedder: broken, worker: { maxAttempts: 1 } })
  const { id } = await knowledge.pairs.create({ name: 'Wiki' })
  for (const text of ['one', 'two', 'poison']) await knowledge.accept(request({ id: text, text }, id))
  await knowledge.whenIdle()
  await knowledge.pairs.update(id, { isPaused: true })
  await knowledge.accept(request({ id: 'waits' }, id))
  await knowledge.accept(request({ id: 'both' }, id))
  await knowledge.accept(request({ id: 'both' }, 1))
  await knowledge.whenIdle()
  const [first, wiki] = await knowledge.pairs.progress()
  expect(first).toMatchObject({ id: 1, documents: { pending: 0, indexing: 0, indexed: 1, failed: 0 }, failures: [] })
  expect(wiki).toMatchObject({
    id,
    name: 'Wiki',
    isPaused: true,
    documents: { pending: 1, indexing: 0, indexed: 3, failed: 1 },
    failures: [{ documentId: 'poison', phase: 'failed', attempts: 1 }],
  })
})

test('the last activity is when a document came in, and when one became searchable', async () => {
  const clock = { now: 1000 }
  const { knowledge } = await startKnowledge({ now: () => clock.now })
  const { id } = await knowledge.pairs.create({ name: 'Wiki' })
  const activity = async (): Promise<unknown> =>
    (await knowledge.pairs.progress()).map((pair) => [pair.lastAcceptedAt, pair.lastIndexedAt])
  expect(await activity()).toEqual([
    [null, null],
    [null, null],
  ])
  await knowledge.accept(request({}, id), { waitMs: 60_000 })
  expect(await activity()).toEqual([
    [null, null],
    [1000, 1000],
  ])
  await knowledge.pairs.update(id, { isPaused: true })
  clock.now = 2000
  await knowledge.accept(request({ id: 'next' }, id))
  expect(await activity()).toEqual([
    [null, null],
    [2000, 1000],
  ])
})

test('the latest failures come first, at most ten of them', async () => {
  const clock = { now: 1000 }
  const { knowledge } = await startKnowledge({
    now: () => clock.now,
    embedder: broken,
    worker: { maxAttempts: 1 },
  })
  for (let at = 0; at < 12; at++) {
    clock.now += 1000
    await knowledge.accept(request({ id: `${at}`, text: `poison ${at}` }))
    await knowledge.whenIdle()
  }
  const [{ failures, documents } = { failures: [], documents: undefined }] = await knowledge.pairs.progress()
  expect(documents).toMatchObject({ failed: 12 })
  expect(failures.map(({ documentId }) => documentId)).toEqual(Array.from({ length: 10 }, (_, at) => String(11 - at)))
})

test('callers see the pairs they may see, and no other exists for them', async () => {
  const { knowledge } = await makeKnowledge()
  const { id } = await knowledge.pairs.create({ name: 'hidden', isPublic: false, users: ['ana@example.com'] })
  const ana: Caller = { id: '7', email: 'ana@example.com', scopes: ['ingest'] }
  const bob: Caller = { id: 'bob', scopes: ['ingest'] }
  expect((await knowledge.pairs.progress({ caller: ana })).map((pair) => pair.id)).toEqual([1, id])
  expect((await knowledge.pairs.progress({ caller: bob })).map((pair) => pair.id)).toEqual([1])
  expect(await knowledge.pairs.get(id, { caller: ana })).toMatchObject({ name: 'hidden' })
  await expect(knowledge.pairs.get(id, { caller: bob })).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
  await expect(knowledge.pairs.get(99)).rejects.toMatchObject({ code: 'CONNECTOR_NOT_FOUND' })
})
