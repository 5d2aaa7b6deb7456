/** Where some words stand in a text, counted in words from 0. */
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
