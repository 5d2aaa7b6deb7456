import { searchedInside, searchedWords } from '@inlay/protocol'

export interface MatchPiece {
  readonly text: string
  readonly isMatch: boolean
}

/** Forms of a word may differ in their ends by as many letters. */
const maxEnding = 3
/** Shorter words only match themselves and their plural. */
const minStem = 4
/** A whole word may have as many letters more. */
const maxSuffix = 2

/** The part of a query that chats are searched for. */
export const chatQuery = (query: string): string => searchedWords(wordsOf(query)).join(' ')

/**
 * Compares a passage with a query word by word. @returns its pieces; the words of the query that it contains, also in
 * other forms, as spelled in the query; and how many words that has
 */
export function matchOf(text: string, query: string) {
  const wanted = [...new Set(wordsOf(query))]
  // In these scripts, words are found inside of longer runs. Their letters need no escaping.
  const inner = wanted.filter((word) => searchedInside.test(word))
  const parts = text
    .split(/([\p{L}\p{N}]+)/u)
    .flatMap((part) => (inner.length === 0 ? part : part.split(new RegExp(`(${inner.join('|')})`, 'iu'))))
  const present = new Set<string>()
  const pieces: MatchPiece[] = []
  for (const part of parts) {
    if (part === '') continue
    const word = wanted.find((each) => isForm(part.toLowerCase(), each))
    if (word !== undefined) present.add(word)
    const last = pieces.at(-1)
    if (word === undefined && last?.isMatch === false) pieces.splice(-1, 1, { text: last.text + part, isMatch: false })
    else pieces.push({ text: part, isMatch: word !== undefined })
  }
  return { pieces, words: wanted.filter((word) => present.has(word)), of: wanted.length }
}

const wordsOf = (text: string): readonly string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length > 1 || searchedInside.test(word))

function isForm(word: string, wanted: string): boolean {
  if (word === wanted) return true
  const [short, long] = word.length < wanted.length ? [word, wanted] : [wanted, word]
  if (long.startsWith(short)) {
    const suffix = long.slice(short.length)
    if (short.length >= minStem ? suffix.length <= maxSuffix : short.length === minStem - 1 && suffix === 's')
      return true
  }
  const stem = Math.min(word.length, wanted.length) - 1
  if (stem < minStem || Math.abs(word.length - wanted.length) > maxEnding) return false
  return word.slice(0, stem) === wanted.slice(0, stem)
}
