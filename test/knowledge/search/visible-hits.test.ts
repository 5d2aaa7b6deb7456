import { expect, test } from 'vitest'
import { findVisible, type VisibleHits } from '@inlay/knowledge/internal/search/search'
import { memoryIndex, type MemoryIndex } from '../memory-index.ts'
import { makeWorker, request, type TestWorker } from '../setup.ts'

/** A worker over an index in which something may happen between its answer and the look into the records. */
async function makeWorld(): Promise<
  TestWorker & { between: { work?: () => Promise<void> }; find: (limit?: number) => Promise<VisibleHits> }
> {
  const index = memoryIndex()
  const between: { work?: () => Promise<void> } = {}
  const overtaken: MemoryIndex = {
    ...index,
    search: async (query) => {
      const hits = await index.search(query)
      await between.work?.()
      return hits
    },
  }
  const world = await makeWorker({ index: overtaken })
  const { db, clock } = world
  const find = (limit = 10): Promise<VisibleHits> =>
    findVisible({ text: 'common', limit }, { db, index: overtaken, now: () => clock.now })
  return { ...world, between, find }
}

const texts = ({ hits }: VisibleHits): string[] => hits.map(({ text }) => text)

async function update({ accept, worker }: TestWorker, ...documents: [id: string, text: string][]): Promise<void> {
  await accept(...documents.map(([id, text]) => request({ id, text })))
  await worker.runOnce()
}

test('a document that is updated in the middle of a search is found in its new version, once', async () => {
  const world = await makeWorld()
  await update(world, ['a', 'common'], ['b', 'common and old, with more words beside it'], ['c', 'words in common'])
  let updates = 0
  world.between.work = async () => {
    if (updates++ === 0) await update(world, ['b', 'common and new, with more words beside it'])
  }
  // All three match alike, so the others come in the order in which they were indexed.
  const found = texts(await world.find())
  expect(found.toSorted()).toEqual(['common', 'common and new, with more words beside it', 'words in common'])
  expect(updates).toBe(2)
})

test('also when it never holds still: in a version that was shown after the search began', async () => {
  const world = await makeWorld()
  await update(world, ['a', 'common 0'])
  let updates = 0
  world.between.work = () => update(world, ['a', `common ${++updates}`])
  expect(texts(await world.find())).toEqual(['common 1'])
  expect(updates).toBe(2)
})

test('also when the rows of that version are cleared away at once', async () => {
  const world = await makeWorld()
  await update(world, ['a', 'common 0'])
  let updates = 0
  world.between.work = async () => {
    if (++updates === 3) return
    await update(world, ['a', `common ${updates}`])
    if (updates === 1) world.index.store.rows = world.index.store.rows.filter(({ text }) => text !== 'common 1')
  }
  expect(texts(await world.find())).toEqual(['common 2'])
})

test('a document that is removed when it is asked for again is not shown', async () => {
  const world = await makeWorld()
  await update(world, ['a', 'common 0'])
  let updates = 0
  world.between.work = async () => {
    if (++updates === 1) await update(world, ['a', 'common 1'])
    else await world.remove('a')
  }
  expect(texts(await world.find())).toEqual([])
})

test('a document removed in the middle is not shown, and not asked for again', async () => {
  const world = await makeWorld()
  await update(world, ['a', 'common'])
  let searches = 0
  world.between.work = async () => {
    if (searches++ === 0) await world.remove('a')
  }
  expect(await world.find()).toEqual({ hits: [], isAll: true })
  expect(searches).toBe(1)
})

test('a version that does not match any more costs one further question, and none later', async () => {
  const world = await makeWorld()
  await update(world, ['a', 'common'])
  await update(world, ['a', 'other'])
  let searches = 0
  world.between.work = async () => void searches++
  expect(texts(await world.find())).toEqual([])
  expect(searches).toBe(2)
  world.clock.now += 5000
  expect(texts(await world.find())).toEqual([])
  expect(searches).toBe(3)
})

test('whether there is more is told by what the index gave, not by what of it may be shown', async () => {
  const world = await makeWorld()
  await update(world, ['a', 'common'], ['b', 'common'])
  await world.remove('a')
  expect((await world.find(2)).isAll).toBe(false)
  expect((await world.find(3)).isAll).toBe(true)
})
