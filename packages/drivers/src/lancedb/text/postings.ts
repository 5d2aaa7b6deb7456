import type { IndexRow } from '@inlay/knowledge'
import { rowKey } from '../../hybrid-search/fusion.ts'
import { saturation } from './bm25.ts'
import { createWordList, maxCorrections } from './words-and-spelling.ts'

export interface PostedHit {
  readonly row: IndexRow
  readonly score: number
}

export interface Postings {
  /** Number of terms in all its rows, with removed ones. */
  readonly length: number
  /** Number of rows with a term, including removed ones, as in the engine's index; 0 if only removed rows have it. */
  frequencyOf(term: string): number
  near(word: string, term: string): string[]
  /** Rows with any of the terms that pass the test, best first, scored like the engine does. */
  search(
    terms: readonly { readonly term: string; readonly weight: number }[],
    options: { averageLength: number; test: (row: IndexRow) => boolean; limit: number },
  ): PostedHit[]
}

export interface PostingsBuilder extends Postings {
  /** Whether a word was passed to {@link learn}. */
  knows(word: string): boolean
  /** Adds words with their terms; undefined for a word that is not indexed. */
  learn(words: readonly string[], terms: readonly (string | undefined)[]): void
  /** Adds a row with its words in order; all words must be known. */
  add(row: IndexRow, words: readonly string[]): void
  /** Excludes rows of these generations from now on, also those added later. */
  remove(generations: ReadonlySet<string>): void
  /** Whether the generation of a row was not removed. */
  holds(row: IndexRow): boolean
}

interface PostedRow {
  readonly row: IndexRow
  length: number
}

interface Entry {
  readonly entry: PostedRow
  times: number
}

export function joinPostings(parts: readonly Postings[]): Postings {
  return {
    length: parts.reduce((sum, { length }) => sum + length, 0),
    frequencyOf: (term) => parts.reduce((sum, part) => sum + part.frequencyOf(term), 0),
    near: (word, term) => [...new Set(parts.flatMap((part) => part.near(word, term)))].slice(0, maxCorrections),
    search: (query, options) =>
      parts
        .flatMap((part) => part.search(query, options))
        .sort((a, b) => b.score - a.score)
        .slice(0, options.limit),
  }
}

export function createPostings(): PostingsBuilder {
  const entriesOf = new Map<string, Entry[]>()
  /** Entries of the term of a word; undefined for a word that is not indexed. */
  const entriesOfWord = new Map<string, Entry[] | undefined>()
  const list = createWordList()
  const removed = new Set<string>()
  let length = 0
  const holds = (row: IndexRow): boolean => !removed.has(row.generation)
  return {
    get length() {
      return length
    },
    holds,
    remove(generations) {
      for (const generation of generations) removed.add(generation)
    },
    knows: (word) => entriesOfWord.has(word),
    learn(words, terms) {
      for (const [at, word] of words.entries()) {
        const term = terms[at]
        if (term !== undefined) {
          list.add(word, term)
          if (!entriesOf.has(term)) entriesOf.set(term, [])
        }
        entriesOfWord.set(word, term === undefined ? undefined : entriesOf.get(term))
      }
    },
    add(row, words) {
      if (!holds(row)) return
      const entry: PostedRow = { row, length: 0 }
      for (const word of words) {
        const entries = entriesOfWord.get(word)
        if (!entries) continue
        entry.length++
        const last = entries.at(-1)
        if (last?.entry === entry) last.times++
        else entries.push({ entry, times: 1 })
      }
      length += entry.length
    },
    frequencyOf(term) {
      const entries = entriesOf.get(term) ?? []
      return entries.some(({ entry }) => holds(entry.row)) ? entries.length : 0
    },
    near: (word, term) =>
      list
        .near(word, term, 1)
        .slice(0, maxCorrections)
        .map((near) => near.word),
    search(query, { averageLength, test, limit }) {
      const scores = new Map<IndexRow, number>()
      for (const { term, weight } of query)
        for (const { entry, times } of entriesOf.get(term) ?? []) {
          const score = weight * saturation(times, entry.length, averageLength)
          scores.set(entry.row, (scores.get(entry.row) ?? 0) + score)
        }
      const best = [...scores].filter(([row]) => holds(row) && test(row)).sort((a, b) => b[1] - a[1])
      return firstOfEach(best, limit)
    },
  }
}

/** Rows appended twice are returned once. */
function firstOfEach(scored: readonly (readonly [IndexRow, number])[], limit: number): PostedHit[] {
  const hits = new Map<string, PostedHit>()
  for (const [row, score] of scored) {
    if (hits.size >= limit) break
    if (!hits.has(rowKey(row))) hits.set(rowKey(row), { row, score })
  }
  return [...hits.values()]
}
