import type { Hit, VectorIndex } from '@inlay/knowledge'
import { expect, test } from 'vitest'
import { createMigratingIndex } from '@inlay/knowledge/internal/reindexing/migrating-index'
import { fakeEmbedder } from '../fake-embedder.ts'
import { memoryIndex } from '../memory-index.ts'
import { makeRecords } from '../setup.ts'

const hit = (text: string, score: number): Hit => ({
  documentId: text,
  generation: '0',
  position: 0,
  text,
  chunkMetadata: '',
  source: 'file',
  updatedAt: 0,
  score,
})

/** An index that finds these, whatever is asked. */
const finding = (hits: readonly Hit[], beside?: VectorIndex): VectorIndex => ({
  ...memoryIndex(),
  search: async ({ limit }) => hits.slice(0, limit),
  staging: () => beside ?? memoryIndex(),
})

async function searchBoth(text: string, spaces: { before: readonly Hit[]; after: readonly Hit[] }): Promise<string[]> {
  const db = await makeRecords()
  const index = finding(spaces.before, finding(spaces.after))
  const parts = { db, index, now: () => 1 }
  const first = createMigratingIndex({ ...parts, embedder: { ...fakeEmbedder(), id: 'first' } })
  await first.open()
  const both = createMigratingIndex({ ...parts, embedder: { ...fakeEmbedder(), id: 'second' } })
  await both.changeEmbedder()
  await both.open()
  return (await both.search({ text, limit: 10 })).map((hit) => hit.text)
}

test.each([
  ['before', 'after'],
  ['after', 'before'],
] as const)(
  'a name that only the index %s the change holds comes before words that both hold',
  async (holder, other) => {
    const spaces = { before: [], after: [] }
    const passages = await searchBoth('animal7 animal', {
      ...spaces,
      [holder]: [hit('Animal7 lives here', 1), hit('Animal3 lives here', 0.2)],
      [other]: [hit('Animal1 lives here', 1), hit('Animal2 lives here', 1)],
    })
    expect(passages[0]).toBe('Animal7 lives here')
    expect(passages).toHaveLength(4)
  },
)

test('while documents are moved to another embedder, words alone are searched for', async () => {
  const db = await makeRecords()
  const vectors: unknown[] = []
  const noting = (beside?: VectorIndex): VectorIndex => ({
    ...finding([hit('Herons', 1)], beside),
    search: async ({ vector }) => {
      vectors.push(vector)
      return [hit('Herons', 1)]
    },
  })
  const parts = { db, index: noting(noting()), now: () => 1 }
  const first = createMigratingIndex({ ...parts, embedder: { ...fakeEmbedder(), id: 'first' } })
  await first.open()
  const both = createMigratingIndex({ ...parts, embedder: { ...fakeEmbedder(), id: 'second' } })
  await both.changeEmbedder()
  await both.open()
  await both.search({ text: 'herons', vector: new Float32Array([1]), limit: 10 })
  expect(vectors).toEqual([undefined, undefined])
})
