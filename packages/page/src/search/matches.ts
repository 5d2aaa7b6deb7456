/** A piece of a passage; a match holds a word of the query. */
export interface MatchPiece {
  readonly text: string
  readonly isMatch: boolean
}

/** A passage beside the query: its pieces, and which words of the query stand in it. */
export interface Match {
  readonly pieces: readonly MatchPiece[]
  /** Words of the query that the text has, in other forms too, as they stand in the query. */
  readonly words: readonly string[]
  /** How many words the query has. */
  readonly of: number
}

/** Forms of a word may differ in their ends by as many letters. */
const maxEnding = 3
/** Shorter words only match themselves. */
const minStem = 4

/** Compares a passage with a query word by word. */
export function matchOf(text: string, query: string): Match {
  const wanted = [...new Set(wordsOf(query))]
  const present = new Set<string>()
  const pieces: MatchPiece[] = []
  for (const part of text.split(/([\p{L}\p{N}]+)/u)) {
    if (part === '') continue
    const word = wanted.find((each) => isForm(part.toLowerCase(), each))
    if (word !== undefined) present.add(word)
    const last = pieces.at(-1)
    if (word === undefined && last?.isMatch === false) pieces.splice(-1, 1, { text: last.text + part, isMatch: false })
    else pieces.push({ text: part, isMatch: word !== undefined })
  }
  return { pieces, words: wanted.filter((word) => present.has(word)), of: wanted.length }
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []

function isForm(word: string, wanted: string): boolean {
  if (word === wanted) return true
  const stem = Math.min(word.length, wanted.length) - 1
  if (stem < minStem || Math.abs(word.length - wanted.length) > maxEnding) return false
  return word.slice(0, stem) === wanted.slice(0, stem)
}
