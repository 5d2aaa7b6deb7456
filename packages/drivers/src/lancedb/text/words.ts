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
