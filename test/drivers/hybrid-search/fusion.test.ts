import type { Hit } from '@inlay/knowledge'
import { describe, expect, it } from 'vitest'
import { cosine, fuse } from '@inlay/drivers/internal/hybrid-search/fusion'

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
  it('weighs each side by its share, words against the best and vectors between the nearest and the last', () => {
    const fused = fuse([words('a', 1), words('b', 0.5)], [near('b', 0.8), near('c', 0.6), near('d', 0.4)], {
      vector,
      share: 0.6,
      limit: 5,
    })
    expect(scores(fused)).toEqual([
      ['b', 0.8],
      ['a', 0.4],
      ['c', 0.3],
      ['d', 0],
    ])
    // The parts of the score are returned with it.
    expect(fused[0]?.ranking).toEqual({ words: 0.5, vector: 1, vectorWeight: 0.6 })
    expect(fused[2]?.ranking).toMatchObject({ words: 0, vectorWeight: 0.6 })
  })

  it('reckons the nearness of a row that only its words found', () => {
    const fused = fuse([words('a', 1, Float32Array.of(1, 1))], [near('b', 1), near('c', 0.5)], {
      vector,
      share: 0.5,
      limit: 5,
    })
    expect(scores(fused)).toEqual([
      ['a', 0.707],
      ['b', 0.5],
      ['c', 0],
    ])
  })

  it('takes a row without a vector for as near as the last of the list', () => {
    expect(scores(fuse([words('a', 1)], [near('b', 0.8), near('c', 0.4)], { share: 0.4, limit: 5 }))).toEqual([
      ['a', 0.6],
      ['b', 0.4],
      ['c', 0],
    ])
  })

  it('makes little of cosines that hardly differ', () => {
    const fused = fuse([words('a', 1), words('b', 0.9)], [near('b', 0.801), near('a', 0.8)], { share: 0.5, limit: 5 })
    expect(scores(fused)).toEqual([
      ['a', 0.995],
      ['b', 0.95],
    ])
  })

  it('lets one side decide when the other says nothing', () => {
    expect(scores(fuse([], [near('a', 0.5), near('b', 0.25)], { vector, share: 0.1, limit: 5 }))).toEqual([
      ['a', 1],
      ['b', 0],
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

describe('the weight of the vectors, without a share', () => {
  const nearest = Array.from({ length: 50 }, (_, at) => near(`near ${at}`, 0.9 - at / 100))
  const first = (byWords: Parameters<typeof fuse>[0], text?: string): string =>
    fuse(byWords, nearest, { text, limit: 1 })[0]!.documentId

  it('is small where one row stands out by its words, and large where many match alike', () => {
    const standsOut = Array.from({ length: 50 }, (_, at) => words(`word ${at}`, at === 0 ? 1 : 0.1))
    const alike = Array.from({ length: 50 }, (_, at) => words(at === 40 ? 'near 0' : `word ${at}`, 1 - at / 100))
    expect(first(standsOut)).toBe('word 0')
    expect(first(alike)).toBe('near 0')
  })

  it('is small where the query holds a code, whatever the words do', () => {
    const alike = Array.from({ length: 50 }, (_, at) => words(at === 45 ? 'near 0' : `word ${at}`, 1 - at / 100))
    expect(first(alike, 'what is change 5815a3d')).toBe('word 0')
    expect(first(alike, 'on the 4th of July')).toBe('near 0')
  })

  it('is .3 at least, so that vectors count where words differ from those of the documents', () => {
    const byWords = [words('word', 1), ...Array.from({ length: 49 }, (_, at) => words(`other ${at}`, 0.01))]
    for (const text of ['which proteins bind', 'what does runTarget return', 'the role of p53 in cells'])
      expect(fuse(byWords, nearest, { text, limit: 1 })[0]!.ranking?.vectorWeight).toBe(0.3)
  })

  it('is smaller where the query holds an identifier', () => {
    const byWords = Array.from({ length: 50 }, (_, at) => words(`word ${at}`, at === 0 ? 1 : 0.38))
    for (const text of ['what does runTarget return', 'run_target', 'std::fs', 'when is read() called'])
      expect(first(byWords, text)).toBe('word 0')
    expect(first(byWords, 'what does the target return')).toBe('near 0')
  })

  it('does not depend on how many hits are asked for', () => {
    const byWords = Array.from({ length: 300 }, (_, at) => words(`word ${at}`, 1 - at / 310))
    const deep = Array.from({ length: 300 }, (_, at) => near(`near ${at}`, 0.9 - at / 500))
    const order = (depth: number): string[] =>
      fuse(byWords.slice(0, depth), deep.slice(0, depth), { limit: 20 }).map(({ documentId }) => documentId)
    expect(order(300)).toEqual(order(60))
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
