import type { MatchQuery, Table } from '@lancedb/lancedb'
import { createRecentValues } from '../../hybrid-search/recent-values.ts'
import type { Engine } from '../engine.ts'
import { searchColumn } from '../rows.ts'
import { rarityOf } from './bm25.ts'
import type { Postings } from './postings.ts'
import { createSampling } from './sample.ts'
import {
  createWordList,
  exchanges,
  maxCorrections,
  mayBeNear,
  wordsOf,
  type Terms,
  type WordList,
} from './words-and-spelling.ts'

/** A word of a query, and the term that it is indexed by. */
export interface QueryTerm {
  readonly word: string
  readonly term: string
}

export interface Weights {
  /** Whether the terms weigh much the same in the engine, which has the statistics of indexed rows alone. */
  readonly areOfIndex: boolean
  /** Whether the mean number of terms is much the same, too. */
  readonly isLengthOfIndex: boolean
  readonly of: ReadonlyMap<string, TermWeight>
  /** Mean number of terms per row; 1 for an empty table. */
  readonly averageLength: number
}

/** Weight of a term among all rows, and among indexed rows alone, as the engine has it. */
export interface TermWeight {
  readonly all: number
  readonly indexed: number
}

/** The engine exposes none: frequent words are estimated from a sample, rare words counted with a query each. */
export interface TermStatistics {
  /** Whether there is a sample, so that nothing waits for one. */
  readonly isReady: boolean
  /** @param unindexed how many rows are not indexed yet; the rows themselves, if they are in memory */
  weigh(
    words: readonly QueryTerm[],
    unindexed: { readonly size: number; readonly postings: Postings | undefined },
  ): Promise<Weights>
  /** Whether a term is frequent enough for the sample. */
  isSampled(term: string): Promise<boolean>
  /** Similar indexed words, most likely first, at most {@link maxCorrections}; none for a word that is indexed. */
  near(word: string, term: string): Promise<string[]>
  /** Records that the index has changed and its current number of rows. */
  outdate(rows: number): void
}

/** A term in fewer sampled rows than this is counted in the index: its share in the sample is too inaccurate. */
const fewRows = 4
/** Rare words are counted up to this number; a more frequent word would have been in the sample. */
const maxCounts = 200
/** Up to this share, a change of weights, and of the mean number of terms, by unindexed rows does not matter. */
const maxShift = 0.02
/** Words with at least this many letters are also matched with two edits, if one edit finds nothing. */
const lettersForTwoSlips = 12

/** Words that are remembered, and for how long. */
const [maxWords, ageMs] = [20_000, 10_000]

export function createTermStatistics(engine: Engine, table: Table, terms: Terms): TermStatistics {
  const { MatchQuery: Match } = engine.lancedb
  const sampling = createSampling(table, terms)

  const counts = createRecentValues<number>(ageMs, maxWords)
  const countOf = (word: string): Promise<number> =>
    counts.of(word, async () => {
      const rows = await rowsWith(table, new Match(word, searchColumn), { columns: ['position'], limit: maxCounts })
      return rows.length
    })

  /** Words near a misspelled word in the best rows of a query, with their terms. */
  async function wordsIn(query: MatchQuery, misspelt: QueryTerm, slips: 1 | 2): Promise<WordList> {
    const rows = await rowsWith(table, query, { columns: [searchColumn], limit: 10 })
    // Tokenizing the others takes as long as the query.
    const words = [...new Set(rows.flatMap((row) => wordsOf(row[searchColumn] ?? '')))].filter((other) =>
      mayBeNear(misspelt, other, slips),
    )
    const list = createWordList()
    for (const [at, term] of (await terms.of(words)).entries()) if (term !== undefined) list.add(words[at]!, term)
    return list
  }

  async function findNear(word: string, term: string): Promise<string[]> {
    const { words, frequencyOf, isWhole } = await sampling.current()
    // One query tells whether the word is indexed after all, and finds the error that an edit distance counts twice.
    const variants = new Match([word, ...exchanges(word)].join(' '), searchColumn)
    const exact = isWhole ? createWordList() : await wordsIn(variants, { word, term }, 1)
    if (exact.has(term)) return []
    for (const slips of word.length >= lettersForTwoSlips ? ([1, 2] as const) : ([1] as const)) {
      // Words of the sample come first, since they are more frequent.
      const nearby = [...words.near(word, term, slips), ...exact.near(word, term, slips)]
      if (!isWhole && nearby.length === 0) {
        // The engine compares the word with all its words, in the time of a search.
        const fuzzy = { fuzziness: slips, prefixLength: slips - 1, maxExpansions: 50 }
        const rare = await wordsIn(new Match(term, searchColumn, fuzzy), { word, term }, slips)
        nearby.push(...rare.near(word, term, slips))
      }
      const corrections = new Map(nearby.map((near) => [near.term, near.word]))
      const byFrequency = [...corrections].sort(([a], [b]) => frequencyOf(b) - frequencyOf(a))
      if (corrections.size > 0) return byFrequency.slice(0, maxCorrections).map(([, nearWord]) => nearWord)
    }
    return []
  }

  const near = createRecentValues<string[]>(ageMs, maxWords)
  return {
    get isReady() {
      return sampling.isReady
    },
    async weigh(words, { size, postings }) {
      const rows = await table.countRows()
      const sample = await sampling.current(rows)
      const of = new Map<string, TermWeight>()
      const indexedRows = Math.max(0, rows - size)
      for (const { word, term } of words) {
        const pending = postings?.frequencyOf(term) ?? 0
        const seen = sample.frequencyOf(term)
        const isFrequent = sample.isWhole || seen >= fewRows
        const share = seen / Math.max(1, sample.rows)
        const count = isFrequent && postings ? 0 : await countOf(word)
        // The index counts its own rows only.
        const all = Math.max(
          pending,
          isFrequent ? Math.round(share * rows) : pending + Math.max(seen > 0 ? 1 : 0, count),
        )
        const isCounted = !postings && count < maxCounts
        const indexed = postings ? all - pending : isCounted ? count : Math.round(share * indexedRows)
        of.set(term, { all: rarityOf(all, rows), indexed: rarityOf(indexed, indexedRows) })
      }
      const weights = [...of.values()]
      const shift = weights.reduce((sum, { all, indexed }) => sum + Math.abs(all - indexed), 0)
      const whole = weights.reduce((sum, { all }) => sum + all, 0)
      const { averageLength } = sample
      const indexedLength = (averageLength * rows - (postings?.length ?? 0)) / Math.max(1, indexedRows)
      const lengthShift = postings ? Math.abs(indexedLength - averageLength) / averageLength : size / Math.max(1, rows)
      return { areOfIndex: shift < maxShift * whole, isLengthOfIndex: lengthShift < maxShift, of, averageLength }
    },
    isSampled: async (term) => (await sampling.current()).frequencyOf(term) > 0,
    near: (word, term) => near.of(word, () => findNear(word, term)),
    outdate(rows) {
      counts.forget()
      near.forget()
      sampling.outdate(rows)
    },
  }
}

async function rowsWith(
  table: Table,
  query: MatchQuery,
  { columns, limit }: { readonly columns: readonly string[]; readonly limit: number },
): Promise<Record<string, string>[]> {
  return table
    .query()
    .fullTextSearch(query)
    .fastSearch()
    .select([...columns, '_score'])
    .limit(limit)
    .toArray()
}
