import { expect, test } from 'vitest'
import { fuseRankings } from '@inlay/agent/internal/actions/merged-queries'

const order = (rankings: [string, number][]): string[] =>
  fuseRankings(
    rankings.map(([items, weight]) => ({ items: [...items], weight })),
    (item) => item,
  ).map(({ item }) => item)

test('an item of several rankings rises above those of one', () => {
  expect(
    order([
      ['abc', 1],
      ['dbe', 1],
    ]),
  ).toEqual(['b', 'a', 'd', 'c', 'e'])
})

test('a heavier ranking counts for more', () => {
  expect(
    order([
      ['ab', 1],
      ['cd', 2],
    ]),
  ).toEqual(['c', 'd', 'a', 'b'])
})

test('one ranking keeps its order; scores fall', () => {
  const fused = fuseRankings([{ items: ['a', 'b'], weight: 1 }], (item) => item)
  expect(fused.map(({ item }) => item)).toEqual(['a', 'b'])
  expect(fused[0]?.score).toBeGreaterThan(fused[1]?.score ?? 1)
  expect(fuseRankings([], String)).toEqual([])
})
