import type { IndexRow } from '@inlay/knowledge'
import { rowKey } from '../../hybrid-search/fusion.ts'
import { saturation } from './rescore.ts'
import { createWordList, mostCorrections } from './words-and-spelling.ts'

/** A term of a query with its weight: how much its presence says. */
export interface WeighedTerm {
  readonly term: string
  readonly weight: number
}

/** A row found in memory, with its score for a query. */
export interface PostedHit {
  readonly row: IndexRow
  readonly score: number
}

/** A small full-text index in memory. */
export interface Postings {
  /** Rows that hold a term. */
  frequencyOf(term: string): number
  /** Words of its rows that a misspelt one may stand for. */
  near(word: string, term: string): string[]
  /** Rows with any of the terms that pass the test, best first, scored as the engine scores. */
  search(
    terms: readonly WeighedTerm[],
    options: { averageLength: number; test: (row: IndexRow) => boolean; limit: number },
  ): PostedHit[]
}

/** One that rows are added to. */
export interface PostingsBuilder extends Postings {
  /** Adds a row with its words in order and what each is indexed by. */
  add(row: IndexRow, words: readonly string[], terms: readonly (string | undefined)[]): void
}

interface PostedRow {
  readonly row: IndexRow
  readonly length: number
}

/** Searches several as one. */
export function joinPostings(parts: readonly Postings[]): Postings {
  return {
    frequencyOf: (term) => parts.reduce((sum, part) => sum + part.frequencyOf(term), 0),
    near: (word, term) => [...new Set(parts.flatMap((part) => part.near(word, term)))].slice(0, mostCorrections),
    search: (query, options) =>
      parts
        .flatMap((part) => part.search(query, options))
        .sort((a, b) => b.score - a.score)
        .slice(0, options.limit),
  }
}

/** Makes an empty one. */
export function createPostings(): PostingsBuilder {
  const entriesOf = new Map<string, { entry: PostedRow; times: number }[]>()
  const list = createWordList()
  return {
    add(row, words, terms) {
      const times = new Map<string, number>()
      for (const [at, term] of terms.entries()) {
        if (term === undefined) continue
        list.add(words[at]!, term)
        times.set(term, (times.get(term) ?? 0) + 1)
      }
      const entry = { row, length: [...times.values()].reduce((sum, count) => sum + count, 0) }
      for (const [term, count] of times) {
        const entries = entriesOf.get(term)
        if (entries) entries.push({ entry, times: count })
        else entriesOf.set(term, [{ entry, times: count }])
      }
    },
    frequencyOf: (term) => entriesOf.get(term)?.length ?? 0,
    near: (word, term) =>
      list
        .near(word, term, 1)
        .slice(0, mostCorrections)
        .map((near) => near.word),
    search(query, { averageLength, test, limit }) {
      const scores = new Map<IndexRow, number>()
      for (const { term, weight } of query)
        for (const { entry, times } of entriesOf.get(term) ?? []) {
          const score = weight * saturation(times, entry.length, averageLength)
          scores.set(entry.row, (scores.get(entry.row) ?? 0) + score)
        }
      return firstOfEach(
        [...scores].filter(([row]) => test(row)).sort((a, b) => b[1] - a[1]),
        limit,
      )
    },
  }
}

/** Rows appended twice are one. */
function firstOfEach(scored: readonly (readonly [IndexRow, number])[], limit: number): PostedHit[] {
  const hits = new Map<string, PostedHit>()
  for (const [row, score] of scored) {
    if (hits.size >= limit) break
    if (!hits.has(rowKey(row))) hits.set(rowKey(row), { row, score })
  }
  return [...hits.values()]
}
