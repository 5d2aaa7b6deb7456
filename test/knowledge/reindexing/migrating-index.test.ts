import type { Hit, IndexRow, VectorIndex } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import { describe, expect, test } from 'vitest'
import { isLetGo } from '@inlay/knowledge/internal/calls/bounded-call'
import type { IndexSpace } from '@inlay/knowledge/internal/reindexing/index-space'
import { createMigratingIndex } from '@inlay/knowledge/internal/reindexing/migrating-index'
import { newGate } from '../../gate.ts'
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
  // As if it were a new one each time.
  staging: () => ({ ...(beside ?? memoryIndex()), close: async () => {} }),
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

test('where no new index may be made, the present one stays', async () => {
  const db = await makeRecords()
  const refused = new InlayError('SERVICE_UNAVAILABLE', { message: 'The role lacks a privilege.' })
  const next = { ...memoryIndex(), open: () => Promise.reject(refused) }
  const parts = { db, index: finding([hit('Herons', 1)], next), now: () => 1 }
  const index = createMigratingIndex(parts)
  await index.open()
  await expect(index.replace()).rejects.toBe(refused)
  await expect(createMigratingIndex({ ...parts, embedder: fakeEmbedder() }).changeEmbedder()).rejects.toBe(refused)
  expect(await index.spaces()).toMatchObject([{ number: 0, phase: 'open', rebuildReason: null }])
  expect(await index.search({ text: 'herons', limit: 10 })).toHaveLength(1)
})

test('a new index that an ended attempt left for another embedder is made anew', async () => {
  const db = await makeRecords()
  let isLeft = true
  const next: VectorIndex = {
    ...memoryIndex(),
    open: async () => {
      if (isLeft) throw new InlayError('INDEX_MISMATCH')
    },
    drop: async () => void (isLeft = false),
  }
  const index = createMigratingIndex({ db, index: finding([], next), now: () => 1 })
  await index.open()
  await index.replace()
  expect(await index.spaces()).toHaveLength(2)
  await index.open()
})

describe('when the index of a replaced space is removed', () => {
  const row = { generation: 'g', documentId: 'd', position: 0, text: 'Herons', searchText: 'herons' } as IndexRow

  /** Two spaces, the first of which is being removed: its index closes when the test says so. */
  async function removeFirst() {
    const db = await makeRecords()
    const gate = newGate()
    const own = finding([hit('before', 1)], finding([hit('after', 1)]))
    const first = memoryIndex()
    const holding = (work: () => Promise<void>) => async () => {
      await gate.pass()
      await work()
    }
    const parts = { ...own, ...pick(first), close: holding(first.close), drop: holding(first.drop!) }
    // The clock stands, so spaces that were read once are not read again.
    const index = createMigratingIndex({ db, index: { ...parts, staging: own.staging! }, now: () => 1 })
    await index.open()
    await index.replace()
    await index.spaces()
    await db.updateTable('inlay_spaces').set({ phase: 'closing' }).where('number', '=', 0).execute()
    const removed = index.dropSpace({ number: 0, rebuildReason: 'requested' } as IndexSpace)
    await gate.reached
    return { index, remove: () => (gate.open(), removed) }
  }
  const pick = ({ append, remove, read, open, maintain, figures }: VectorIndex) =>
    ({ append, remove, read, open, maintain, figures }) as const

  test.each(['before', 'after'] as const)('work that begins %s it ends goes on without it', async (when) => {
    const { index, remove } = await removeFirst()
    if (when === 'after') await remove()
    const work = [
      index.remove(['g']),
      index.read('g', 0, 9),
      index.search({ text: 'herons', limit: 10 }).then((hits) => hits.map(({ text }) => text)),
      index.figures().then(({ unindexedRows }) => unindexedRows),
      index.maintain().then(({ unindexedRows }) => unindexedRows),
    ]
    await remove()
    expect(await Promise.all(work)).toEqual([undefined, [], ['after'], 0, 0])
  })

  test.each(['before', 'after'] as const)('rows appended to it %s that are indexed again later', async (when) => {
    const { index, remove } = await removeFirst()
    if (when === 'after') await remove()
    const appended = index.append([row])
    void remove()
    expect(isLetGo(await appended.catch((error: unknown) => error))).toBe(true)
  })
})
