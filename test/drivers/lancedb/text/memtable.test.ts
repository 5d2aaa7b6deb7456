import type { IndexRow } from '@inlay/knowledge'
import { createUnindexedRows, Memtable } from '@inlay/drivers/internal/lancedb/text/memtable'
import { wordsOf, type Terms } from '@inlay/drivers/internal/lancedb/text/words-and-spelling'
import type { WriterPresence } from '@inlay/drivers/internal/lancedb/writer-presence'
import type { Table } from '@lancedb/lancedb'
import { describe, expect, test } from 'vitest'
import { row } from '../sample-rows.ts'

/** Each word is its own term; counts the words that were tokenized for. */
function setup(maxCharacters?: number): { memtable: Memtable; tokenized: string[] } {
  const tokenized: string[] = []
  const terms: Terms = {
    of: async (words) => {
      tokenized.push(...words)
      return [...words]
    },
  }
  return { memtable: new Memtable(terms, maxCharacters), tokenized }
}

const rows = (...ids: string[]): IndexRow[] => ids.map((id) => row(id, `text of ${id}`))

async function idsFor(memtable: Memtable, word: string): Promise<string[]> {
  const query = wordsOf(word).map((term) => ({ term, weight: 1 }))
  const postings = await memtable.prepared()
  return postings
    .search(query, { averageLength: 3, test: () => true, limit: 10 })
    .map((hit) => hit.row.documentId)
    .toSorted()
}

describe('rows in memory', () => {
  test('are found until they are released, and those that came later stay', async () => {
    const { memtable } = setup()
    memtable.add(rows('a', 'b'))
    memtable.shownTo = memtable.mark()
    const sealed = memtable.seal()
    memtable.add(rows('c'))
    memtable.shownTo = memtable.mark()
    expect(await idsFor(memtable, 'text')).toEqual(['a', 'b', 'c'])
    memtable.release(sealed)
    expect(await idsFor(memtable, 'text')).toEqual(['c'])
    expect(memtable.size).toBe(1)
  })

  test('are not prepared a second time when others go', async () => {
    const { memtable, tokenized } = setup()
    memtable.add(rows('a'))
    const sealed = memtable.seal()
    memtable.add(rows('b'))
    memtable.shownTo = memtable.mark()
    await idsFor(memtable, 'text')
    const before = tokenized.length
    memtable.release(sealed)
    expect(await idsFor(memtable, 'text')).toEqual(['b'])
    expect(tokenized).toHaveLength(before)
  })

  test('go with their generation, also from among others', async () => {
    const { memtable } = setup()
    memtable.add(rows('a', 'b', 'c'))
    memtable.shownTo = memtable.mark()
    await idsFor(memtable, 'text')
    memtable.remove(new Set(['generation of b']))
    expect(await idsFor(memtable, 'text')).toEqual(['a', 'c'])
    expect(memtable.size).toBe(2)
    memtable.remove(new Set(['generation of c']))
    expect(await idsFor(memtable, 'text')).toEqual(['a'])
    expect((await memtable.prepared()).frequencyOf('c')).toBe(0)
  })

  test('are not prepared a second time when few of them are removed', async () => {
    const { memtable, tokenized } = setup()
    memtable.add(rows('a', 'b', 'c'))
    memtable.shownTo = memtable.mark()
    await idsFor(memtable, 'text')
    const before = tokenized.length
    memtable.remove(new Set(['generation of b']))
    expect(await idsFor(memtable, 'text')).toEqual(['a', 'c'])
    expect((await memtable.prepared()).frequencyOf('b')).toBe(0)
    expect(tokenized).toHaveLength(before)
  })

  test('are not found when they are removed before they are prepared', async () => {
    const { memtable } = setup()
    memtable.add(rows('a', 'b'))
    memtable.shownTo = memtable.mark()
    await idsFor(memtable, 'text')
    memtable.add(rows('c'))
    memtable.remove(new Set(['generation of c']))
    memtable.shownTo = memtable.mark()
    expect(await idsFor(memtable, 'text')).toEqual(['a', 'b'])
  })

  test('are not waited for while nobody was told of them', async () => {
    const { memtable, tokenized } = setup()
    memtable.add(rows('a'))
    memtable.shownTo = memtable.mark()
    await idsFor(memtable, 'text')
    const before = tokenized.length
    memtable.add(rows('b'))
    expect(await idsFor(memtable, 'text')).toEqual(['a'])
    expect(tokenized).toHaveLength(before)
    memtable.shownTo = memtable.mark()
    expect(await idsFor(memtable, 'text')).toEqual(['a', 'b'])
  })
})

describe('an overflow', () => {
  /** A table without unindexed rows of others, and the only handle. */
  const table = { indexStats: async () => ({ numUnindexedRows: 0 }) } as unknown as Table
  const presence: WriterPresence = {
    commit: (work) => work(),
    soleWriter: async () => 'always',
    leave: async () => {},
  }

  test('during a fold leaves the rows to the table until the next fold', async () => {
    const { memtable } = setup(2000)
    const unindexed = createUnindexedRows(table, memtable, presence)
    expect(await unindexed.place()).toBe('none')
    memtable.add(rows('a'))
    expect(await unindexed.place()).toBe('memtable')
    await unindexed.fold(async () => void memtable.add(rows('b', 'c', 'd', 'e')))
    // The fold was of the first row alone.
    expect(await unindexed.place()).toBe('table')
    await unindexed.fold(async () => {})
    expect(await unindexed.place()).toBe('none')
    memtable.add(rows('f'))
    expect(await unindexed.place()).toBe('memtable')
  })

  test('before a fold ends with it', async () => {
    const { memtable } = setup(2000)
    const unindexed = createUnindexedRows(table, memtable, presence)
    await unindexed.place()
    memtable.add(rows('a', 'b', 'c', 'd', 'e'))
    expect(await unindexed.place()).toBe('table')
    await unindexed.fold(async () => void memtable.add(rows('f')))
    // The one row that came meanwhile found no room either.
    expect(await unindexed.place()).toBe('table')
    await unindexed.fold(async () => {})
    expect(await unindexed.place()).toBe('none')
  })
})
