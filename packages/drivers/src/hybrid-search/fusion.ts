import type { Hit } from '@inlay/knowledge'

/** A row found by keywords; `score` is above 0, in any unit. */
export interface TextHit {
  readonly hit: Hit
  readonly score: number
  /** Vector of the row, to compute its nearness; without it, the row counts as the last of the nearest. */
  readonly vector?: Float32Array
}

/** A row found by its vector; `nearness` is the cosine, at most 1. */
export interface VectorHit {
  readonly hit: Hit
  readonly nearness: number
}

export interface FusionOptions {
  /** Vector of the query, to compute the nearness of rows that only keyword search found. */
  readonly vector?: Float32Array
  /** Weight of the vectors, 0 to 1. Absent: estimated for each query, see {@link shareOf}. */
  readonly share?: number
  readonly text?: string
  readonly limit: number
}

/**
 * Fuses both results: (1 - share) × keyword score / best keyword score + share × nearness. Nearness is scaled so that
 * the nearest row has 1 and the fiftieth has 0: all cosines of a model may lie between 0.7 and 0.8, so absolute values
 * mean nothing.
 * @param byWords by descending score
 * @param byVector by descending nearness
 * @returns by descending score, at most `limit`; scores are in [0, 1]
 */
export function fuse(byWords: readonly TextHit[], byVector: readonly VectorHit[], options: FusionOptions): Hit[] {
  const { vector, limit } = options
  const best = byWords[0]?.score ?? 0
  const nearest = byVector[0]?.nearness ?? 0
  // Rows that are missing from the vector results are hardly nearer than the last of them.
  const last = byVector.at(-1)?.nearness ?? 0
  const floor = byVector[listed - 1]?.nearness ?? last
  const range = Math.max(minRange, nearest - floor)
  const rows = new Map<string, { hit: Hit; words: number; nearness: number }>()
  for (const { hit, nearness } of byVector) rows.set(rowKey(hit), { hit, words: 0, nearness })
  for (const textHit of byWords) {
    const key = rowKey(textHit.hit)
    const nearness =
      rows.get(key)?.nearness ?? (vector && textHit.vector ? cosine(vector, textHit.vector) : Math.min(last, nearest))
    rows.set(key, { hit: textHit.hit, words: best > 0 ? textHit.score / best : 0, nearness })
  }
  const all = [...rows.values()].map((row) => ({ ...row, nearness: 1 - (nearest - row.nearness) / range }))
  const share = best > 0 && nearest > 0 ? (options.share ?? shareOf(byWords, byVector.length, options.text)) : undefined
  // If no row contains a word of the query, only the vectors count, and vice versa.
  const vectorShare = share ?? (best > 0 ? 0 : 1)
  return all
    .map((row) => ({ ...row, score: (1 - vectorShare) * row.words + vectorShare * row.nearness }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ hit, score, words, nearness }) => ({
      ...hit,
      score: Math.min(1, Math.max(0, score)),
      ranking: { words, vector: nearness, vectorWeight: vectorShare },
    }))
}

/** Number of rows of each result used to scale its scores, whatever the limit is. */
const listed = 50
/** Smallest range of cosines used for scaling: the nearest two of three rows may both be far away. */
const minRange = 0.1

/** Also for queries with a code, rare in training. With less, words alone decide where documents use other terms. */
const minShare = 0.3

/**
 * Estimates the weight of the vectors. If many rows match the keywords about as well as the best one, keywords decide
 * little, as with everyday words for which documents use other terms; if one row stands out, keywords decide almost
 * alone, and more so if the query contains an identifier. Measured with two models on questions in everyday words, about
 * articles and about code, with and without spelling errors: see `npm run bench:retrieval -- --embedder`.
 */
function shareOf(byWords: readonly TextHit[], rows: number, text = ''): number {
  const first = byWords.slice(0, listed)
  const sum = first.reduce((all, { score }) => all + score, 0) / first[0]!.score
  const alike = sum / Math.min(listed, Math.max(rows, first.length))
  const share = 1 / (1 + Math.exp((identifier.test(text) ? 3 : 1.8) - 5.3 * alike))
  return holdsCode(text) ? minShare : Math.max(minShare, share)
}

/** `runTarget`, `run_target`, `std::fs`, `fs.read`, `read()`. */
const identifier = /\p{Ll}\p{Lu}|[\p{L}\p{N}](?:_|::|\.)[\p{L}\p{N}]|\p{L}\(\)/u

/** Letters and digits in one word, except ordinals such as `4th`. */
const holdsCode = (text: string): boolean =>
  text
    .split(/[^\p{L}\p{N}]+/u)
    .some((word) => /\p{L}/u.test(word) && /\p{N}/u.test(word) && !/^\d+(?:st|nd|rd|th)$/i.test(word))

/** Cosine of the angle between two vectors of equal length; 0 if one of them is all zeros. */
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

/** Identifies a row within the index: two rows with the same key are the same row. */
export function rowKey(row: { readonly generation: string; readonly position: number }): string {
  return `${row.position} ${row.generation}`
}
