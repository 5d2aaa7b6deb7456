/** A hit to rescore, with its keyword score above 0. */
export interface Ranked {
  readonly score: number
}

/** Rows that are looked at once more; those behind keep their order. */
export const rescoredRows = 30

/**
 * How much exact words count beside the index's own score, which is 1 for the best row. Measured on questions about
 * prose and code and on sentences of manuals: .2 to .3 ranked all of them at least as well as none.
 */
const exactShare = 0.25

/**
 * Ranks the first rows anew by what the index cannot see: words in the very form they were asked in (it knows stems
 * only) and words that stand next to each other as in the query. A word weighs more the fewer of these rows hold it.
 * @param ranked by falling score
 * @param positions of the words in the texts of the first rows, at most {@link rescoredRows}
 * @param words of the query in order, without those the index leaves out
 * @returns all of them by falling score, the first of which is 1
 */
export function rescore<Row extends Ranked>(
  ranked: readonly Row[],
  positions: readonly TermPositions[],
  words: readonly string[],
): { row: Row; score: number }[] {
  const best = ranked[0]?.score ?? 0
  if (best <= 0) return []
  const bonuses = exactness(positions, words)
  const scored = ranked.map((row, at) => ({ row, score: row.score / best + exactShare * (bonuses[at] ?? 0) }))
  scored.sort((a, b) => b.score - a.score)
  const top = scored[0]!.score
  return scored.map(({ row, score }) => ({ row, score: score / top }))
}

/** For each text, how well exact words and their neighbourhood fit: 0 for not at all. */
function exactness(texts: readonly TermPositions[], words: readonly string[]): number[] {
  const weights = new Map<string, number>()
  for (const word of words) {
    const holding = texts.filter(({ of }) => of.has(word)).length
    weights.set(word, holding === 0 ? 0 : rarityOf(holding, texts.length))
  }
  const whole = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  if (whole === 0) return []
  const meanLength = texts.reduce((sum, { length }) => sum + length, 0) / texts.length
  return texts.map(({ of, length }) => {
    let fit = 0
    for (const [word, at] of of) fit += (weights.get(word) ?? 0) * saturation(at.length, length, meanLength)
    for (const [at, word] of words.entries()) {
      const next = words[at + 1]
      if (next === undefined || next === word) continue
      fit += Math.min(weights.get(word)!, weights.get(next)!) / distanceOf(of.get(word), of.get(next))
    }
    return fit / whole
  })
}

/** Words between two words at their nearest, counted from 1; backwards counts one more. Infinity when one is missing. */
function distanceOf(first: readonly number[] = [], second: readonly number[] = []): number {
  let best = Infinity
  let from = 0
  for (const a of first) {
    // Both lists rise, so the nearest place of the second word only moves on.
    while (from + 1 < second.length && second[from + 1]! < a) from++
    for (const b of [second[from], second[from + 1]])
      if (b !== undefined) best = Math.min(best, b > a ? b - a : a - b + 1)
  }
  return best
}

/** Positions of words in a text, counted in words from 0. */
export interface TermPositions {
  /** Rising; words that are not there are left out. */
  readonly of: ReadonlyMap<string, readonly number[]>
  /** Number of words in the text. */
  readonly length: number
}

/** Finds whole words, whatever their case; a tenth of the cost of splitting the text. @param words in lower case */
export function termPositionsOf(text: string, words: ReadonlySet<string>): TermPositions {
  const lower = text.toLowerCase()
  const lengths = new Set([...words].map((word) => word.length))
  const of = new Map<string, number[]>()
  let length = 0
  for (let at = 0; at < lower.length;) {
    const end = endOfWord(lower, at)
    if (end === at) {
      at++
      continue
    }
    const word = lengths.has(end - at) ? lower.slice(at, end) : ''
    if (words.has(word)) {
      const positions = of.get(word)
      if (positions) positions.push(length)
      else of.set(word, [length])
    }
    length++
    at = end
  }
  return { of, length }
}

function endOfWord(text: string, start: number): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code < 128) {
      if (!isPlain[code]) return at
      at++
    } else {
      // At the end of the text the code is NaN, which is no word either.
      const point = text.codePointAt(at)
      if (point === undefined || !isOther(point)) return at
      at += point > 0xffff ? 2 : 1
    }
  }
}

const isPlain = Array.from({ length: 128 }, (_, code) => /[a-z0-9]/.test(String.fromCharCode(code)))
const known = new Map<number, boolean>()

function isOther(point: number): boolean {
  let answer = known.get(point)
  if (answer === undefined) {
    answer = /[\p{Alphabetic}\p{N}]/u.test(String.fromCodePoint(point))
    known.set(point, answer)
  }
  return answer
}

/** BM25's weight of a term by how rare it is: Robertson and Zaragoza 2009, with 1 added so that it stays positive. */
export function rarityOf(rowsWithTerm: number, rows: number): number {
  return Math.log((Math.max(0, rows - rowsWithTerm) + 0.5) / (rowsWithTerm + 0.5) + 1)
}

/** BM25's part of a row, with the engine's constants k1 = 1.2 and b = 0.75. */
export function saturation(times: number, length: number, averageLength: number): number {
  return (times * 2.2) / (times + 1.2 * (0.25 + (0.75 * length) / Math.max(1, averageLength)))
}
