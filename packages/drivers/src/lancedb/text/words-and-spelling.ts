import { editDistance } from '@inlay/text'
import type { FtsOptions } from '@lancedb/lancedb'
import type { Engine } from '../engine.ts'

/** How the full-text index converts words to terms: stems English words, drops stop words, removes accents. */
export const wordOptions: FtsOptions = {
  baseTokenizer: 'simple',
  language: 'English',
  lowercase: true,
  stem: true,
  removeStopWords: true,
  asciiFolding: true,
  // Long enough for hashes, which people do search for.
  maxTokenLength: 80,
}

const word = /[\p{Alphabetic}\p{N}]+/gu

/** Words of a text as the index splits it, in lower case, in order and with repeats. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(word) ?? []
}

export interface Terms {
  /** One result per word, in order: its term, or undefined for a word that is not indexed (`the`, `of`, …). */
  of(words: readonly string[]): Promise<(string | undefined)[]>
}

/** Maximum number of cached words, of about 100 bytes each. */
const maxMemos = 100_000

/** Uses the engine's tokenizer, so that both always agree, and caches the results. */
export function createTerms({ lancedb }: Engine): Terms {
  const known = new Map<string, string | undefined>()
  return {
    async of(words) {
      const unknown = [...new Set(words)].filter((item) => !known.has(item))
      if (known.size + unknown.length > maxMemos) known.clear()
      const terms = unknown.length > 0 ? await termsOf(lancedb, unknown) : new Map<string, string | undefined>()
      for (const [item, term] of terms) known.set(item, term)
      // The cache may have been cleared while this call waited.
      const missed = words.filter((item) => !known.has(item) && !terms.has(item))
      const again = missed.length > 0 ? await termsOf(lancedb, [...new Set(missed)]) : terms
      return words.map((item) => known.get(item) ?? terms.get(item) ?? again.get(item))
    },
  }
}

/** A separator between the words, so that a word without a term can be detected. */
const fence = 'zqxz'

async function termsOf(lancedb: Engine['lancedb'], words: readonly string[]): Promise<Map<string, string | undefined>> {
  const tokens = await lancedb.tokenize(words.join(` ${fence} `), wordOptions)
  const terms = new Map<string, string | undefined>()
  let at = 0
  for (const item of words) {
    // A word equal to the separator is its own term.
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

/** Whether a word may be misspelled: longer than four letters, letters only, in a script with spaces. */
export function mayBeMisspelt(word: string): boolean {
  return word.length > 4 && letters.test(word) && !unspaced.test(word)
}

const letters = /^\p{L}+$/u
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** All ways to swap two adjacent letters, the one error that an edit distance counts twice. */
export function exchanges(word: string): string[] {
  const exchanged = new Set<string>()
  for (let at = 0; at + 1 < word.length; at++)
    exchanged.add(word.slice(0, at) + word[at + 1]! + word[at]! + word.slice(at + 2))
  exchanged.delete(word)
  return [...exchanged]
}

/** An edit: a letter missing, added or replaced, or two adjacent letters swapped. */
export function isNear(a: string, b: string, most: 1 | 2): boolean {
  if (Math.abs(a.length - b.length) > most) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  // The differing middle parts: usually too long, so nothing is sliced before this check.
  const [left, right] = [a.length - start - end, b.length - start - end]
  if (left <= 1 && right <= 1) return true
  if (most === 1) return left === 2 && right === 2 && a[start] === b[start + 1] && a[start + 1] === b[start]
  return editDistance(a.slice(start, start + left), b.slice(start, start + right), most) <= most
}

/** Words with their terms, organized so that similar words are found without comparing all of them. */
export interface WordList {
  add(word: string, term: string): void
  has(term: string): boolean
  /** One per term. Word and term are both compared, since an error in an ending changes its stem. */
  near(word: string, term: string, slips: 1 | 2): { word: string; term: string }[]
}

export function createWordList(): WordList {
  const words = new SimilarTexts()
  const terms = new SimilarTexts()
  const wordOf = new Map<string, string>()
  const termOf = new Map<string, string>()
  return {
    add(word, term) {
      if (termOf.has(word)) return
      termOf.set(word, term)
      words.add(word)
      if (wordOf.has(term)) return
      wordOf.set(term, word)
      terms.add(term)
    },
    has: (term) => wordOf.has(term),
    near(word, term, slips) {
      const nearest = new Map<string, string>()
      // A word that is only one edit away is preferred over others with the same term.
      for (const near of words.near(word, slips)) {
        const nearTerm = termOf.get(near)!
        if (!nearest.has(nearTerm) || isNear(word, near, 1)) nearest.set(nearTerm, near)
      }
      for (const near of terms.near(term, slips)) if (!nearest.has(near)) nearest.set(near, wordOf.get(near)!)
      return [...nearest].map(([nearTerm, nearWord]) => ({ word: nearWord, term: nearTerm }))
    },
  }
}

/** By length and first or last letter: one edit leaves one of both letters unchanged, two rarely change both. */
class SimilarTexts {
  readonly #byFirst = new Map<number, string[]>()
  readonly #byLast = new Map<number, string[]>()

  add(text: string): void {
    put(this.#byFirst, keyOf(text.length, text.charCodeAt(0)), text)
    put(this.#byLast, keyOf(text.length, text.charCodeAt(text.length - 1)), text)
  }

  near(text: string, slips: 1 | 2): string[] {
    const near: string[] = []
    const [first, last] = [text.charCodeAt(0), text.charCodeAt(text.length - 1)]
    for (let length = text.length - slips; length <= text.length + slips; length++) {
      for (const other of this.#byFirst.get(keyOf(length, first)) ?? [])
        if (isNear(text, other, slips)) near.push(other)
      for (const other of this.#byLast.get(keyOf(length, last)) ?? [])
        if (other.charCodeAt(0) !== first && isNear(text, other, slips)) near.push(other)
    }
    return near
  }
}

const keyOf = (length: number, letter: number): number => length * 65_536 + letter

function put(lists: Map<number, string[]>, key: number, text: string): void {
  const list = lists.get(key)
  if (list) list.push(text)
  else lists.set(key, [text])
}

/**
 * Whether a {@link WordList} with this word could find it: the word is near, or its beginning is near the term, which is
 * the beginning of most words with that term.
 */
export function mayBeNear({ word, term }: { word: string; term: string }, other: string, slips: 1 | 2): boolean {
  if (isNear(word, other, slips)) return true
  for (let length = term.length - slips; length <= Math.min(term.length + slips, other.length); length++)
    if (isNear(term, other.slice(0, length), slips)) return true
  return false
}

/** More corrections find little, and mislead if the word is correct but rare. */
export const maxCorrections = 2
