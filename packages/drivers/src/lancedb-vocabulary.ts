import type { Table } from '@lancedb/lancedb'
import type { Engine } from './lancedb-engine.ts'
import { searchColumn } from './lancedb-rows.ts'
import { createWordList, exchanges, mostCorrections, type WordList } from './lancedb-spelling.ts'
import { wordsOf, type Terms } from './lancedb-words.ts'

/** What the rows of the full-text index say of a word. The engine tells no term statistics, so they are gathered. */
export interface Vocabulary {
  /** Rows of the index that hold a word, as far as can be told cheaply: exact for rare words. */
  frequencyOf(word: string, term: string): Promise<number>
  isKnown(word: string, term: string): Promise<boolean>
  /** Indexed words that a misspelt one may stand for, likeliest first, at most {@link mostCorrections}. */
  near(word: string, term: string): Promise<string[]>
  /** Mean number of terms in a row; 1 for an empty index. */
  averageLength(): Promise<number>
  /** The index has changed and holds so many rows: look at it again, if that may tell something new. */
  outdate(rows: number): void
}

/** Frequent words are told by a sample of the rows, rare ones by asking the index for each. */
interface Sample {
  readonly rows: number
  readonly ofRows: number
  readonly averageLength: number
  /** Rows of the sample that hold a term. */
  readonly frequencies: ReadonlyMap<string, number>
  readonly words: WordList
}

const sampleRows = 4000
/** A term in fewer sampled rows than this is counted in the index: its share in the sample says too little. */
const fewRows = 4
/** Rare words are counted up to here; a word in more rows would have been in the sample. */
const countLimit = 200
/** Least time between two samples, and longest that an answer of the index is kept, in milliseconds. */
const ageMs = 10_000
const answersKept = 20_000

/** Gathers what the rows of a table say of words. */
export function createVocabulary(engine: Engine, table: Table, terms: Terms): Vocabulary {
  const { MatchQuery } = engine.lancedb
  const counts = new Map<string, number>()
  const corrections = new Map<string, string[]>()
  let answersFrom = 0
  let sample: Promise<Sample> | undefined
  let sampledAt = 0
  let sampledOf = 0
  let isOutdated = false

  function sampled(): Promise<Sample> {
    if (!sample || (isOutdated && Date.now() - sampledAt > ageMs)) {
      isOutdated = false
      sampledAt = Date.now()
      forget()
      const taken = takeSample(table, terms)
      sample = taken
      taken.then(
        ({ ofRows }) => {
          sampledOf = ofRows
        },
        () => {
          if (sample === taken) sample = undefined
        },
      )
    }
    return sample
  }

  function forget(): void {
    counts.clear()
    corrections.clear()
    answersFrom = Date.now()
  }

  /** Other processes change the index too, so no answer is kept for long. */
  function kept<Answer>(answers: Map<string, Answer>): Map<string, Answer> {
    if (Date.now() - answersFrom > ageMs || answers.size >= answersKept) forget()
    return answers
  }

  async function rowsWith(
    query: InstanceType<typeof MatchQuery>,
    limit: number,
  ): Promise<{ [searchColumn]: string }[]> {
    return table.query().fullTextSearch(query).fastSearch().select([searchColumn, '_score']).limit(limit).toArray()
  }

  async function count(word: string, term: string): Promise<number> {
    const known = kept(counts).get(term)
    if (known !== undefined) return known
    const query = table.query().fullTextSearch(new MatchQuery(word, searchColumn)).fastSearch()
    const found = (await query.select(['position', '_score']).limit(countLimit).toArray()).length
    counts.set(term, found)
    return found
  }

  async function frequencyOf(word: string, term: string): Promise<number> {
    const { frequencies, rows, ofRows } = await sampled()
    const seen = frequencies.get(term) ?? 0
    if (rows === ofRows && !isOutdated) return seen
    return seen >= fewRows ? Math.round((seen * ofRows) / rows) : Math.max(seen, await count(word, term))
  }

  /** Rare words that the sample does not have; their rows are found by the index's own fuzzy matching. */
  async function rareWords(term: string, word: string, slips: 1 | 2): Promise<string[]> {
    const fuzzy = { fuzziness: slips, prefixLength: slips - 1, maxExpansions: 50 }
    const queries = [
      rowsWith(new MatchQuery(term, searchColumn, fuzzy), 10),
      ...(slips === 1 ? [rowsWith(new MatchQuery(exchanges(word).join(' '), searchColumn), 10)] : []),
    ]
    const rows = (await Promise.all(queries)).flat()
    return [...new Set(rows.flatMap((row) => wordsOf(row[searchColumn])))]
  }

  async function findNear(word: string, term: string): Promise<string[]> {
    const known = await sampled()
    const isWhole = known.rows === known.ofRows && !isOutdated
    for (const slips of word.length > 7 ? ([1, 2] as const) : ([1] as const)) {
      const list = createWordList()
      if (!isWhole) {
        const rare = await rareWords(term, word, slips)
        const rareTerms = await terms.of(rare)
        for (const [at, item] of rare.entries()) if (rareTerms[at] !== undefined) list.add(item, rareTerms[at])
      }
      const all = [...known.words.near(word, term, slips), ...list.near(word, term, slips)]
      const found = all
        .sort((a, b) => (known.frequencies.get(b.term) ?? 0) - (known.frequencies.get(a.term) ?? 0))
        .slice(0, mostCorrections)
        .map((near) => near.word)
      if (found.length > 0) return found
    }
    return []
  }

  return {
    frequencyOf,
    async isKnown(word, term) {
      return (await sampled()).frequencies.has(term) || (await count(word, term)) > 0
    },
    async near(word, term) {
      const known = kept(corrections).get(word)
      if (known) return known
      const found = await findNear(word, term)
      corrections.set(word, found)
      return found
    },
    averageLength: async () => (await sampled()).averageLength,
    outdate(rows) {
      forget()
      // A part of the rows tells shares, and those change slowly.
      isOutdated ||= rows <= sampleRows || rows > 1.25 * sampledOf || rows < 0.8 * sampledOf
    },
  }
}

async function takeSample(table: Table, terms: Terms): Promise<Sample> {
  const ofRows = await table.countRows()
  const frequencies = new Map<string, number>()
  const list = createWordList()
  let [rows, length] = [0, 0]
  const query = ofRows <= sampleRows ? table.query() : table.takeOffsets(offsetsOf(ofRows))
  for await (const batch of query.select([searchColumn])) {
    const column = batch.getChildAt(0)
    for (let at = 0; at < batch.numRows; at++) {
      const words = wordsOf(String(column?.get(at) ?? ''))
      const found = await terms.of(words)
      for (const [n, term] of found.entries()) if (term !== undefined) list.add(words[n]!, term)
      const present = found.filter((term) => term !== undefined)
      for (const term of new Set(present)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
      length += present.length
      rows++
      // Some 20 µs a row: let others run in between.
      if (rows % 200 === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  return { rows, ofRows, averageLength: rows > 0 ? length / rows : 1, frequencies, words: list }
}

/** Offsets spread evenly over the rows, each at random within its stretch. */
function offsetsOf(rows: number): number[] {
  const stretch = rows / sampleRows
  return Array.from({ length: sampleRows }, (_, at) => Math.min(rows - 1, Math.floor((at + Math.random()) * stretch)))
}
