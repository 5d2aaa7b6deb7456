import type { MatchQuery, Table } from '@lancedb/lancedb'
import type { Engine } from '../engine.ts'
import { searchColumn } from '../rows.ts'
import { createSampling } from './sample.ts'
import { createWordList, exchanges, mostCorrections, wordsOf, type WordList, type Terms } from './words-and-spelling.ts'

/**
 * Term statistics of the full-text index. The engine does not expose them, so frequent words are estimated from a
 * sample of rows and rare words are counted with a query each.
 */
export interface TermStatistics {
  /**
   * Rows that hold a word: exact for rare words, estimated for frequent ones.
   * @param table.rows number of rows there are
   * @param table.memtable rows with the word that the index does not hold yet
   */
  frequencyOf(word: string, term: string, table: { rows: number; memtable: number }): Promise<number>
  isKnown(word: string, term: string): Promise<boolean>
  /** Indexed words that a misspelt one may stand for, likeliest first, at most {@link mostCorrections}. */
  near(word: string, term: string): Promise<string[]>
  /** Mean number of terms in a row; 1 for an empty index. */
  averageLength(): Promise<number>
  /** The index has changed and holds so many rows now. */
  outdate(rows: number): void
}

/** A term in fewer sampled rows than this is counted in the index: its share in the sample says too little. */
const fewRows = 4
/** Rare words are counted up to here; a word in more rows would have been in the sample. */
const countLimit = 200
/** Words from here on are also looked for at two slips, when one slip finds nothing. */
const lettersForTwoSlips = 12

/** Gathers what the rows of a table say of words. */
export function createTermStatistics(engine: Engine, table: Table, terms: Terms): TermStatistics {
  const { MatchQuery: Match } = engine.lancedb
  const sampling = createSampling(table, terms)

  const counted = remembered(
    async (word: string) =>
      (await rowsWith(table, new Match(word, searchColumn), { columns: ['position'], limit: countLimit })).length,
  )

  /** Words that the sample may not have; their rows are found by the index's own fuzzy matching. */
  async function rareWords(word: string, term: string, slips: 1 | 2): Promise<WordList> {
    const fuzzy = { fuzziness: slips, prefixLength: slips - 1, maxExpansions: 50 }
    const queries = [
      new Match(term, searchColumn, fuzzy),
      ...(slips === 1 ? [new Match(exchanges(word).join(' '), searchColumn)] : []),
    ]
    const rows = (
      await Promise.all(queries.map((query) => rowsWith(table, query, { columns: [searchColumn], limit: 10 })))
    ).flat()
    const words = [...new Set(rows.flatMap((row) => wordsOf(row[searchColumn] ?? '')))]
    return listOf(words, await terms.of(words))
  }

  async function findNear(word: string, term: string): Promise<string[]> {
    const { words, frequencies, isWhole } = await sampling.current()
    for (const slips of word.length >= lettersForTwoSlips ? ([1, 2] as const) : ([1] as const)) {
      const rare = isWhole ? [] : (await rareWords(word, term, slips)).near(word, term, slips)
      const corrections = new Map([...words.near(word, term, slips), ...rare].map((near) => [near.term, near.word]))
      const byFrequency = [...corrections].sort(([a], [b]) => (frequencies.get(b) ?? 0) - (frequencies.get(a) ?? 0))
      if (corrections.size > 0) return byFrequency.slice(0, mostCorrections).map(([, nearWord]) => nearWord)
    }
    return []
  }

  const near = remembered(findNear)
  return {
    async frequencyOf(word, term, { rows, memtable }) {
      const { frequencies, isWhole, rows: sampled } = await sampling.current()
      const seen = frequencies.get(term) ?? 0
      // A sample is of all rows, so those that wait are in its share; the index does not count them.
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

/** Other processes change the index too, so no answer of it is kept for long, in milliseconds. */
const answerAgeMs = 10_000
const mostAnswers = 20_000

/** Remembers answers about words for a while. */
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
      if (Date.now() - from > answerAgeMs || answers.size >= mostAnswers) forget()
      const known = answers.get(word)
      if (known !== undefined) return known
      const answer = await ask(word, ...rest)
      answers.set(word, answer)
      return answer
    },
    forget,
  }
}
