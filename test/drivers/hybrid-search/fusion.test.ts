import type { Hit } from '@inlay/knowledge'
import { describe, expect, it } from 'vitest'
import { cosine, fuse, nearnessOfUnfound } from '@inlay/drivers/internal/hybrid-search/fusion'

const hit = (id: string): Hit => ({
  documentId: id,
  generation: id,
  position: 0,
  text: id,
  chunkMetadata: '',
  source: '',
  updatedAt: 0,
  score: 0,
})
const vector = Float32Array.of(1, 0)
const words = (id: string, score: number, at?: Float32Array): Parameters<typeof fuse>[0][number] => ({
  hit: hit(id),
  score,
  ...(at ? { vector: at } : {}),
})
const near = (id: string, nearness: number): Parameters<typeof fuse>[1][number] => ({ hit: hit(id), nearness })
const scores = (hits: readonly Hit[]): [string, number][] =>
  hits.map(({ documentId, score }) => [documentId, Number(score.toFixed(3))])

describe('fusion', () => {
  it('weighs each side by its share, each against its best', () => {
    const fused = fuse([words('a', 1), words('b', 0.5)], [near('b', 0.8), near('c', 0.4)], {
      vector,
      share: 0.6,
      limit: 5,
    })
    expect(scores(fused)).toEqual([
      ['b', 0.8],
      ['a', 0.4],
      ['c', 0.3],
    ])
  })

  it('reckons the nearness of a row that only its words found', () => {
    const fused = fuse([words('a', 1, Float32Array.of(1, 1))], [near('b', 1)], { vector, share: 0.5, limit: 5 })
    expect(scores(fused)).toEqual([
      ['a', 0.854],
      ['b', 0.5],
    ])
  })

  it('takes a row that a full list of the nearest left out for as near as its last', () => {
    const nearest = [near('b', 0.8), near('c', 0.4)]
    expect([nearnessOfUnfound(nearest, 2), nearnessOfUnfound(nearest, 3), nearnessOfUnfound([], 0)]).toEqual([
      0.4, 0, 0,
    ])
    expect(scores(fuse([words('a', 1)], nearest, { share: 0.5, limit: 5, unfound: 0.4 }))).toEqual([
      ['a', 0.75],
      ['b', 0.5],
      ['c', 0.25],
    ])
  })

  it('lets one side decide when the other says nothing', () => {
    expect(scores(fuse([], [near('a', 0.5), near('b', 0.25)], { vector, share: 0.1, limit: 5 }))).toEqual([
      ['a', 1],
      ['b', 0.5],
    ])
    expect(scores(fuse([words('a', 1)], [near('a', 0), near('b', -0.5)], { vector, share: 0.9, limit: 5 }))).toEqual([
      ['a', 1],
      ['b', 0],
    ])
    expect(fuse([], [], { vector, share: 0.5, limit: 5 })).toEqual([])
  })

  it('keeps to the limit, best first', () => {
    const fused = fuse([words('a', 1), words('b', 0.9), words('c', 0.8)], [], { vector, share: 0.5, limit: 2 })
    expect(fused.map(({ documentId }) => documentId)).toEqual(['a', 'b'])
  })
})

describe('cosine', () => {
  it.each([
    [[1, 0], [2, 0], 1],
    [[1, 0], [0, 3], 0],
    [[1, 1], [-1, -1], -1],
    [[0, 0], [1, 1], 0],
  ])('of %j and %j', (a, b, expected) => {
    expect(cosine(Float32Array.from(a), Float32Array.from(b))).toBeCloseTo(expected)
  })
})
