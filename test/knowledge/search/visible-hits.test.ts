import { expect, test } from 'vitest'
import { findVisible, type VisibleHits } from '@inlay/knowledge/internal/search/find-visible-passages'
import { memoryIndex, type MemoryIndex } from '../memory-index.ts'
import { makeWorker, request, type TestWorker } from '../setup.ts'

/** A worker over an index in which something may happen between its answer and the look into the records. */
async function makeFixture(): Promise<
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
  const fixture = await makeWorker({ index: overtaken })
  const { db, clock } = fixture
  const find = (limit = 10): Promise<VisibleHits> =>
    findVisible({ text: 'common', limit }, { db, index: overtaken, now: () => clock.now })
  return { ...fixture, between, find }
}

const texts = ({ hits }: VisibleHits): string[] => hits.map(({ text }) => text)

async function update({ accept, worker }: TestWorker, ...documents: [id: string, text: string][]): Promise<void> {
  await accept(...documents.map(([id, text]) => request({ id, text })))
  await worker.runOnce()
}

test('a document that is updated in the middle of a search is found in its new version, once', async () => {
  const fixture = await makeFixture()
  await update(fixture, ['a', 'common'], ['b', 'common and old, with more words beside it'], ['c', 'words in common'])
  let updates = 0
  fixture.between.work = async () => {
    if (updates++ === 0) await update(fixture, ['b', 'common and new, with more words beside it'])
  }
  // All three match alike, so the others come in the order in which they were indexed.
  const match = texts(await fixture.find())
  expect(match.toSorted()).toEqual(['common', 'common and new, with more words beside it', 'words in common'])
  expect(updates).toBe(2)
})

test('also when it never holds still: in a version that was shown after the search began', async () => {
  const fixture = await makeFixture()
  await update(fixture, ['a', 'common 0'])
  let updates = 0
  fixture.between.work = () => update(fixture, ['a', `common ${++updates}`])
  expect(texts(await fixture.find())).toEqual(['common 1'])
  expect(updates).toBe(2)
})

test('also when the rows of that version are cleared away at once', async () => {
  const fixture = await makeFixture()
  await update(fixture, ['a', 'common 0'])
  let updates = 0
  fixture.between.work = async () => {
    if (++updates === 3) return
    await update(fixture, ['a', `common ${updates}`])
    if (updates === 1) fixture.index.store.rows = fixture.index.store.rows.filter(({ text }) => text !== 'common 1')
  }
  expect(texts(await fixture.find())).toEqual(['common 2'])
})

test('a document that is removed when it is asked for again is not shown', async () => {
  const fixture = await makeFixture()
  await update(fixture, ['a', 'common 0'])
  let updates = 0
  fixture.between.work = async () => {
    if (++updates === 1) await update(fixture, ['a', 'common 1'])
    else await fixture.remove('a')
  }
  expect(texts(await fixture.find())).toEqual([])
})

test('a document removed in the middle is not shown, and not asked for again', async () => {
  const fixture = await makeFixture()
  await update(fixture, ['a', 'common'])
  let searches = 0
  fixture.between.work = async () => {
    if (searches++ === 0) await fixture.remove('a')
  }
  expect(await fixture.find()).toEqual({ hits: [], isAll: true })
  expect(searches).toBe(1)
})

test('a version that does not match any more costs one further question, and none later', async () => {
  const fixture = await makeFixture()
  await update(fixture, ['a', 'common'])
  await update(fixture, ['a', 'other'])
  let searches = 0
  fixture.between.work = async () => void searches++
  expect(texts(await fixture.find())).toEqual([])
  expect(searches).toBe(2)
  fixture.clock.now += 5000
  expect(texts(await fixture.find())).toEqual([])
  expect(searches).toBe(3)
})

test('whether there is more is told by what the index gave, not by what of it may be shown', async () => {
  const fixture = await makeFixture()
  await update(fixture, ['a', 'common'], ['b', 'common'])
  await fixture.remove('a')
  expect((await fixture.find(2)).isAll).toBe(false)
  expect((await fixture.find(3)).isAll).toBe(true)
})
