import type { Hit } from '@inlay/knowledge'

/** A row found by its words; `score` is above 0, of any unit. */
export interface TextHit {
  readonly hit: Hit
  readonly score: number
  /** For a nearness of its own; a row without one is as near as `unfound` says. */
  readonly vector?: Float32Array
}

/** A row found by its vector; `nearness` is the cosine, at most 1. */
export interface VectorHit {
  readonly hit: Hit
  readonly nearness: number
}

/**
 * Default weight of the vector: the highest that does not harm keyword search with small or mismatched embedding
 * models.
 */
export const defaultVectorShare = 0.35

/**
 * Joins both sides: (1 - share) × words / best + share × nearness / best. Ranks alone (as in reciprocal rank fusion)
 * let a weak side spoil a strong one.
 * @param share 0 to 1: what the vector counts
 * @param unfound nearness of rows that only their words found, see {@link nearnessOfUnfound}; 0 by default
 * @returns by falling score, at most `limit`; scores lie in [0, 1]
 */
export function fuse(
  byWords: readonly TextHit[],
  byVector: readonly VectorHit[],
  options: { vector?: Float32Array; share: number; limit: number; unfound?: number },
): Hit[] {
  const { vector, share, limit, unfound = 0 } = options
  const rows = new Map<string, { hit: Hit; words: number; nearness: number }>()
  for (const { hit, nearness } of byVector) rows.set(rowKey(hit), { hit, words: 0, nearness: Math.max(0, nearness) })
  for (const textHit of byWords) {
    const known = rows.get(rowKey(textHit.hit))
    const nearness = known?.nearness ?? Math.max(0, vector && textHit.vector ? cosine(vector, textHit.vector) : unfound)
    rows.set(rowKey(textHit.hit), { hit: textHit.hit, words: textHit.score, nearness })
  }
  const all = [...rows.values()]
  const nearest = all.reduce((best, { nearness }) => Math.max(best, nearness), 0)
  const mostWords = all.reduce((best, { words }) => Math.max(best, words), 0)
  // A query whose words are nowhere is answered by its vector alone, and the other way round.
  const wordShare = mostWords > 0 ? (nearest > 0 ? 1 - share : 1) : 0
  return all
    .map(({ hit, words, nearness }) => ({
      ...hit,
      score:
        (wordShare > 0 ? (wordShare * words) / mostWords : 0) +
        (nearest > 0 ? ((1 - wordShare) * nearness) / nearest : 0),
    }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
}

/** Rows that a full list of the nearest leaves out are hardly nearer than its last. */
export const nearnessOfUnfound = (byVector: readonly VectorHit[], depth: number): number =>
  byVector.length < depth ? 0 : (byVector.at(-1)?.nearness ?? 0)

/** Cosine of the angle between two vectors of one length; 0 when one of them is all zeros. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0]
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at]!, b[at]!]
    dot += x * y
    aa += x * x
    bb += y * y
  }
  return aa > 0 && bb > 0 ? dot / Math.sqrt(aa * bb) : 0
}

/** Names a row within the index: rows of one name are the same row. */
export function rowKey(row: { readonly generation: string; readonly position: number }): string {
  return `${row.position} ${row.generation}`
}
