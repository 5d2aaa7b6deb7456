import type { MatchQuery, Table } from '@lancedb/lancedb'
import type { Engine } from '../engine.ts'
import { searchColumn } from '../rows.ts'
import { createSampling } from './sample.ts'
import {
  createWordList,
  exchanges,
  maxCorrections,
  mayBeNear,
  wordsOf,
  type WordList,
  type Terms,
} from './words-and-spelling.ts'

/**
 * Term statistics of the full-text index. The engine does not expose them, so frequent words are estimated from a
 * sample of rows and rare words are counted with a query each.
 */
export interface TermStatistics {
  /** Whether there is a sample, so that nothing waits for one. */
  readonly isReady: boolean
  /**
   * Number of rows with a word: exact for rare words, estimated for frequent ones.
   * @param table.rows number of rows in the table
   * @param table.memtable number of rows with the word that are not indexed yet
   */
  frequencyOf(word: string, term: string, table: { rows: number; memtable: number }): Promise<number>
  isKnown(word: string, term: string): Promise<boolean>
  /** Indexed words similar to a misspelled word, most likely first, at most {@link maxCorrections}. */
  near(word: string, term: string): Promise<string[]>
  /** Mean number of terms per row; 1 for an empty index. */
  averageLength(): Promise<number>
  /** Records that the index has changed and its current number of rows. */
  outdate(rows: number): void
}

/** A term in fewer sampled rows than this is counted in the index: its share in the sample is too inaccurate. */
const fewRows = 4
/** Rare words are counted up to this number; a more frequent word would have been in the sample. */
const maxCounts = 200
/** Words with at least this many letters are also matched with two edits, if one edit finds nothing. */
const lettersForTwoSlips = 12

/** Creates the term statistics of a table. */
export function createTermStatistics(engine: Engine, table: Table, terms: Terms): TermStatistics {
  const { MatchQuery: Match } = engine.lancedb
  const sampling = createSampling(table, terms)

  const counted = remembered(
    async (word: string) =>
      (await rowsWith(table, new Match(word, searchColumn), { columns: ['position'], limit: maxCounts })).length,
  )

  /** Words that may be missing from the sample, found by the index's own fuzzy matching. */
  async function rareWords(word: string, term: string, slips: 1 | 2): Promise<WordList> {
    const fuzzy = { fuzziness: slips, prefixLength: slips - 1, maxExpansions: 50 }
    const queries = [
      new Match(term, searchColumn, fuzzy),
      ...(slips === 1 ? [new Match(exchanges(word).join(' '), searchColumn)] : []),
    ]
    const rows = (
      await Promise.all(queries.map((query) => rowsWith(table, query, { columns: [searchColumn], limit: 10 })))
    ).flat()
    // Tokenizing the others takes as long as the queries.
    const words = [...new Set(rows.flatMap((row) => wordsOf(row[searchColumn] ?? '')))].filter((other) =>
      mayBeNear({ word, term }, other, slips),
    )
    return listOf(words, await terms.of(words))
  }

  async function findNear(word: string, term: string): Promise<string[]> {
    const { words, frequencies, isWhole } = await sampling.current()
    for (const slips of word.length >= lettersForTwoSlips ? ([1, 2] as const) : ([1] as const)) {
      const sampled = words.near(word, term, slips)
      // Words of the sample come first, since they are more frequent.
      const isEnough = isWhole || sampled.length >= maxCorrections
      const rare = isEnough ? [] : (await rareWords(word, term, slips)).near(word, term, slips)
      const corrections = new Map([...sampled, ...rare].map((near) => [near.term, near.word]))
      const byFrequency = [...corrections].sort(([a], [b]) => (frequencies.get(b) ?? 0) - (frequencies.get(a) ?? 0))
      if (corrections.size > 0) return byFrequency.slice(0, maxCorrections).map(([, nearWord]) => nearWord)
    }
    return []
  }

  const near = remembered(findNear)
  return {
    get isReady() {
      return sampling.isReady
    },
    async frequencyOf(word, term, { rows, memtable }) {
      const { frequencies, isWhole, rows: sampled } = await sampling.current()
      const seen = frequencies.get(term) ?? 0
      // A sample covers all rows, including unindexed ones; the index does not count those.
      if (isWhole || seen >= fewRows) return Math.max(memtable, Math.round((seen * rows) / Math.max(1, sampled)))
      return memtable + Math.max(seen > 0 ? 1 : 0, await counted.of(word))
    },
    async isKnown(word, term) {
      return (await sampling.current()).frequencies.has(term) || (await counted.of(word)) > 0
    },
    near: near.of,
    averageLength: async () => (await sampling.current()).averageLength,
    outdate(rows) {
      counted.forget()
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

function listOf(words: readonly string[], terms: readonly (string | undefined)[]): WordList {
  const list = createWordList()
  for (const [at, term] of terms.entries()) if (term !== undefined) list.add(words[at]!, term)
  return list
}

/** Maximum age of a cached result, in milliseconds, since other processes change the index too. */
const answerAgeMs = 10_000
const maxAnswers = 20_000

/** Caches results by word for a while. */
function remembered<Rest extends unknown[], Answer>(
  ask: (word: string, ...rest: Rest) => Promise<Answer>,
): { of(word: string, ...rest: Rest): Promise<Answer>; forget(): void } {
  const answers = new Map<string, Answer>()
  let from = 0
  const forget = (): void => {
    answers.clear()
    from = Date.now()
  }
  return {
    async of(word, ...rest) {
      if (Date.now() - from > answerAgeMs || answers.size >= maxAnswers) forget()
      const known = answers.get(word)
      if (known !== undefined) return known
      const answer = await ask(word, ...rest)
      answers.set(word, answer)
      return answer
    },
    forget,
  }
}
