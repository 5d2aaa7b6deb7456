import { editDistance } from '../../spelling/edit-distance.ts'

/** Whether a word may be misspelt: long enough to tell, of letters only, in a script that has letters to mistake. */
export function mayBeMisspelt(word: string): boolean {
  return word.length > 4 && letters.test(word) && !unspaced.test(word)
}

const letters = /^\p{L}+$/u
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Each way to exchange two neighbouring letters: the one slip that an edit distance counts twice. */
export function exchanges(word: string): string[] {
  const exchanged = new Set<string>()
  for (let at = 0; at + 1 < word.length; at++)
    exchanged.add(word.slice(0, at) + word[at + 1]! + word[at]! + word.slice(at + 2))
  exchanged.delete(word)
  return [...exchanged]
}

/**
 * Whether two words are at most `most` slips apart (a letter left out, added, replaced, or two neighbours exchanged).
 * @param most 1 or 2
 */
export function isNear(a: string, b: string, most: 1 | 2): boolean {
  if (Math.abs(a.length - b.length) > most) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  // What is left between the letters that both share: nearly always too much, and then nothing is cut out.
  const [left, right] = [a.length - start - end, b.length - start - end]
  if (left <= 1 && right <= 1) return true
  if (most === 1) return left === 2 && right === 2 && a[start] === b[start + 1] && a[start + 1] === b[start]
  return editDistance(a.slice(start, start + left), b.slice(start, start + right), most) <= most
}

/** Words with their terms, kept so that near ones are found without looking at all of them. */
export interface WordList {
  add(word: string, term: string): void
  /**
   * Words near a misspelt one, one for each term. Both forms are compared, since a slip in an ending changes what
   * stemming makes of it.
   */
  near(word: string, term: string, slips: 1 | 2): { word: string; term: string }[]
}

/** Makes an empty list. */
export function createWordList(): WordList {
  const wordsByLength: string[][] = []
  /** A word for each term, and terms by their length. */
  const wordOf = new Map<string, string>()
  const termOf = new Map<string, string>()
  const termsByLength: string[][] = []
  return {
    add(word, term) {
      if (termOf.has(word)) return
      termOf.set(word, term)
      ;(wordsByLength[word.length] ??= []).push(word)
      if (wordOf.has(term)) return
      wordOf.set(term, word)
      ;(termsByLength[term.length] ??= []).push(term)
    },
    near(word, term, slips) {
      const nearest = new Map<string, string>()
      // The very form that was meant comes before another of the same term.
      for (const near of nearIn(wordsByLength, word, slips)) {
        const nearTerm = termOf.get(near)!
        if (!nearest.has(nearTerm) || isNear(word, near, 1)) nearest.set(nearTerm, near)
      }
      for (const near of nearIn(termsByLength, term, slips))
        if (!nearest.has(near)) nearest.set(near, wordOf.get(near)!)
      return [...nearest].map(([nearTerm, nearWord]) => ({ word: nearWord, term: nearTerm }))
    },
  }
}

function nearIn(byLength: readonly string[][], word: string, slips: 1 | 2): string[] {
  const near: string[] = []
  const [first, last] = [word.charCodeAt(0), word.charCodeAt(word.length - 1)]
  for (let length = word.length - slips; length <= word.length + slips; length++)
    for (const other of byLength[length] ?? []) {
      // One slip leaves one end as it was; two seldom touch both.
      if (other.charCodeAt(0) !== first && other.charCodeAt(length - 1) !== last) continue
      if (isNear(word, other, slips)) near.push(other)
    }
  return near
}

/** Most words that one misspelt word is taken to stand for: more find little, and lead astray where a word is only rare. */
export const mostCorrections = 2
