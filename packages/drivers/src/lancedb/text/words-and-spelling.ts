import { editDistance } from '@inlay/text'
import type { FtsOptions } from '@lancedb/lancedb'
import type { Engine } from '../engine.ts'

/** How the full-text index makes terms of words: English endings cut, frequent words left out, accents dropped. */
export const wordOptions: FtsOptions = {
  baseTokenizer: 'simple',
  language: 'English',
  lowercase: true,
  stem: true,
  removeStopWords: true,
  asciiFolding: true,
  // Long enough for hashes, which people do look for.
  maxTokenLength: 80,
}

const word = /[\p{Alphabetic}\p{N}]+/gu

/** Words of a text as the index splits it, lower-cased, in order and with repeats. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(word) ?? []
}

/** Finds the terms that words are indexed by. */
export interface Terms {
  /** One answer for each word, in order: its term, or undefined for a word that is not indexed (`the`, `of`, …). */
  of(words: readonly string[]): Promise<(string | undefined)[]>
}

/** Most words whose terms are kept; some 100 bytes each. */
const memoLimit = 100_000

/** Asks the engine itself, so that the two always agree, and remembers what it said. */
export function createTerms({ lancedb }: Engine): Terms {
  const known = new Map<string, string | undefined>()
  return {
    async of(words) {
      const unknown = [...new Set(words)].filter((item) => !known.has(item))
      if (known.size + unknown.length > memoLimit) known.clear()
      const terms = unknown.length > 0 ? await termsOf(lancedb, unknown) : new Map<string, string | undefined>()
      for (const [item, term] of terms) known.set(item, term)
      // The memo may have been cleared while this call waited.
      const missed = words.filter((item) => !known.has(item) && !terms.has(item))
      const again = missed.length > 0 ? await termsOf(lancedb, [...new Set(missed)]) : terms
      return words.map((item) => known.get(item) ?? terms.get(item) ?? again.get(item))
    },
  }
}

/** A term between the words, so that a word without a term leaves a gap that shows. */
const fence = 'zqxz'

async function termsOf(lancedb: Engine['lancedb'], words: readonly string[]): Promise<Map<string, string | undefined>> {
  const tokens = await lancedb.tokenize(words.join(` ${fence} `), wordOptions)
  const terms = new Map<string, string | undefined>()
  let at = 0
  for (const item of words) {
    // The word that is the fence itself is its own term.
    if (item === fence) {
      terms.set(item, fence)
      at += 2
      continue
    }
    let term: string | undefined
    for (; at < tokens.length && tokens[at]!.text !== fence; at++) term ??= tokens[at]!.text
    at++
    terms.set(item, term)
  }
  return terms
}

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
  // The differing middle parts: usually too long, in which case nothing is cut out.
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
