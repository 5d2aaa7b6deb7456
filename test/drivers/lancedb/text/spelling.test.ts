import fc from '../../../fast-check.ts'
import { describe, expect, it } from 'vitest'
import {
  createWordList,
  exchanges,
  isNear,
  mayBeMisspelt,
  mayBeNear,
} from '@inlay/drivers/internal/lancedb/text/words-and-spelling'

/** Optimal string alignment distance, by its definition. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length
  const [restA, restB] = [a.slice(1), b.slice(1)]
  if (a[0] === b[0]) return distance(restA, restB)
  const steps = [distance(restA, b), distance(a, restB), distance(restA, restB)]
  if (a[0] === b[1] && a[1] === b[0]) steps.push(distance(a.slice(2), b.slice(2)))
  return 1 + Math.min(...steps)
}

describe('nearness of words', () => {
  it.each([
    ['panther', 'panther', 0],
    ['panther', 'pantherr', 1],
    ['panther', 'anther', 1],
    ['panther', 'panhter', 1],
    ['panther', 'painter', 2],
    ['panther', 'table', 5],
  ])('counts slips: %s, %s', (a, b, slips) => {
    expect(isNear(a, b, 1)).toBe(slips <= 1)
    expect(isNear(a, b, 2)).toBe(slips <= 2)
  })

  it('is the optimal string alignment distance, whatever the words', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
    fc.assert(
      fc.property(word, word, fc.constantFrom(1 as const, 2 as const), (a, b, most) => {
        expect(isNear(a, b, most)).toBe(distance(a, b) <= most)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a word list', () => {
  it('finds words near in either form, one for each term', () => {
    const list = createWordList()
    for (const [word, term] of [
      ['connection', 'connect'],
      ['connections', 'connect'],
      ['correction', 'correct'],
      ['river', 'river'],
    ] as const)
      list.add(word, term)
    expect(list.near('conection', 'conect', 1).map(({ term }) => term)).toEqual(['connect'])
    expect(list.near('onnect', 'onnect', 1).map(({ term }) => term)).toEqual(['connect'])
    expect(list.near('connectoin', 'connectoin', 1).map(({ word }) => word)).toEqual(['connection'])
    expect(list.near('mountain', 'mountain', 1)).toEqual([])
  })

  it('misses no near word that keeps its first or its last letter', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 5, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(word, { maxLength: 10 }), word, (words, call) => {
        const list = createWordList()
        for (const item of words) list.add(item, item)
        const expected = new Set(words.filter((item) => distance(item, call) <= 1))
        expect(new Set(list.near(call, call, 1).map((near) => near.word))).toEqual(expected)
      }),
    )
  })
})

describe('a word that may be near', () => {
  it.each([
    ['conection', 'conect', 'connections', true],
    ['conection', 'conect', 'connecting', true],
    ['onnection', 'onnect', 'connected', true],
    ['conection', 'conect', 'correction', false],
    ['conection', 'conect', 'river', false],
  ])('%s, %s: %s', (word, term, other, expected) => {
    expect(mayBeNear({ word, term }, other, 1)).toBe(expected)
  })

  it('is every word that a list finds, as long as terms are beginnings of their words', () => {
    const letters = { unit: fc.constantFrom('a', 'b', 'c'), minLength: 5, maxLength: 8 }
    const item = fc.tuple(fc.string(letters), fc.nat(3))
    const termOf = ([word, ending]: [string, number]): string => word.slice(0, word.length - ending)
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 10 }),
        item,
        fc.constantFrom(1 as const, 2 as const),
        (items, call, slips) => {
          const list = createWordList()
          for (const each of items) list.add(each[0], termOf(each))
          const query = { word: call[0], term: termOf(call) }
          for (const near of list.near(query.word, query.term, slips)) {
            const matches = items.filter((each) => termOf(each) === near.term || each[0] === near.word)
            expect(matches.some(([word]) => mayBeNear(query, word, slips))).toBe(true)
          }
        },
      ),
    )
  })
})

describe('exchanges', () => {
  it('are all ways to swap two neighbours, without the word itself', () => {
    expect(exchanges('abc')).toEqual(['bac', 'acb'])
    expect(exchanges('aab')).toEqual(['aba'])
    expect(exchanges('aa')).toEqual([])
  })
})

describe('a doubtful word', () => {
  it.each([
    ['panhter', true],
    ['größe', true],
    ['tree', false],
    ['e0308', false],
    ['図書館図書', false],
    ['ห้องสมุด', false],
  ])('has letters to mistake: %s', (word, expected) => {
    expect(mayBeMisspelt(word)).toBe(expected)
  })
})
