import type { IndexFilter } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import type { Mutex } from '@inlay/scheduling'
import type { Engine } from '../engine.ts'
import { findMatches, type Match } from '../filtered-search.ts'
import { rowKey, type TextHit } from '../../hybrid-search/fusion.ts'
import { testOf } from '../../hybrid-search/row-filter.ts'
import { searchColumn } from '../rows.ts'
import { saturation } from './bm25.ts'
import { textIndex, type Memtable, type UnindexedPlace, type UnindexedRows } from './memtable.ts'
import type { Postings } from './postings.ts'
import { mayBeMisspelt, wordsOf, type Terms } from './words-and-spelling.ts'
import type { QueryTerm, TermStatistics, Weights } from './term-statistics.ts'

export interface TextParts {
  readonly engine: Engine
  readonly table: Table
  readonly terms: Terms
  readonly statistics: TermStatistics
  readonly memtable: Memtable
  readonly unindexedRows: UnindexedRows
  /** Serializes searches that scan all unindexed rows: four at once take seven times as long as one. */
  readonly scanning: Mutex
}

export interface TextQuery {
  readonly text: string
  readonly filter?: IndexFilter
  readonly limit: number
  /** Columns in addition to those of a hit. */
  readonly extra: readonly string[]
  /** If it aborts, nobody waits for the result: it may then be incomplete. */
  readonly signal?: AbortSignal
}

/** Maximum number of words of a query that are used: a longer query is a pasted text, whose first words suffice. */
const maxWords = 100
const maxMisspelt = 8

/**
 * Keyword search, best first: the engine's BM25 over indexed rows, corrected spellings of words that no row contains,
 * and while rows wait to be indexed, BM25 with the statistics of all rows. The best score is 1.
 */
export async function searchText(parts: TextParts, query: TextQuery): Promise<TextHit[]> {
  const queryTerms = await queryTermsOf(parts.terms, wordsOf(query.text).slice(0, maxWords))
  if (queryTerms.length === 0) return []
  const place = await parts.unindexedRows.place()
  // Taken before the index is searched: a row that is indexed meanwhile is then found twice rather than not at all.
  const memtable = place === 'memtable' ? await parts.memtable.prepared() : undefined
  const rankFor = (words: readonly QueryTerm[]): Promise<TextHit[]> => rank(parts, query, { words, memtable, place })
  // Words are checked first, so that only one ranking is needed. But a sample that is not there yet would have to be
  // waited for, and a word that only unindexed rows contain is known once they are scanned.
  let ranked = place === 'table' || !parts.statistics.isReady ? await rankFor(queryTerms) : undefined
  const texts = ranked?.map(({ hit }) => hit.text.toLowerCase()) ?? []
  const unseen = queryTerms.filter(({ word }) => !texts.some((text) => text.includes(word)))
  const corrections = await correct(parts, unseen, { memtable, signal: query.signal })
  if (!ranked || corrections.length > 0) ranked = await rankFor([...queryTerms, ...corrections])
  const best = ranked[0]?.score || 1
  return ranked.map((textHit) => {
    const score = textHit.score / best
    return { ...textHit, score, hit: { ...textHit.hit, score } }
  })
}

async function queryTermsOf(terms: Terms, words: readonly string[]): Promise<QueryTerm[]> {
  const indexTerms = await terms.of(words)
  return words.flatMap((word, at) => (indexTerms[at] === undefined ? [] : [{ word, term: indexTerms[at] }]))
}

interface Ranking {
  readonly words: readonly QueryTerm[]
  /** Rows in memory, if that is where rows wait to be indexed. */
  readonly memtable?: Postings | undefined
  readonly place: UnindexedPlace
}

/** Rows by descending score. */
async function rank(parts: TextParts, query: TextQuery, ranking: Ranking): Promise<TextHit[]> {
  const { table, statistics } = parts
  const { words, memtable, place } = ranking
  if (place === 'none') return unique(await searchIndexed(parts, query, ranking))
  const size = memtable ? parts.memtable.size : ((await table.indexStats(textIndex))?.numUnindexedRows ?? 0)
  const weights = await statistics.weigh(words, { size, postings: memtable })
  const isScored = weights.isLengthOfIndex && (weights.areOfIndex || place !== 'table')
  // Read with the rows: a fold renumbers them, so they could not be read by their ids afterwards.
  const reading = isScored ? query : { ...query, extra: [...query.extra, searchColumn] }
  const [inMemory, indexed, scanned] = await Promise.all([
    memtable ? searchMemtable(memtable, query, weights) : [],
    searchIndexed(parts, reading, { words, place: 'none', weights }),
    // The engine's scores of rows that it scans compare only with each other.
    place === 'table' ? searchIndexed(parts, reading, { words, place, weights }) : [],
  ])
  const candidates = unique([...indexed, ...scanned])
  const scored = isScored ? candidates : await scoreAnew(parts.terms, candidates, weights)
  return unique<TextHit>([...scored, ...inMemory].sort((a, b) => b.score - a.score)).slice(0, query.limit)
}

/** The first of rows that were found twice: in the index and in memory, or because they were appended twice. */
function unique<Found extends TextHit>(hits: readonly Found[]): Found[] {
  const first = new Map<string, Found>()
  for (const textHit of hits) {
    const key = rowKey(textHit.hit)
    if (!first.has(key)) first.set(key, textHit)
  }
  return [...first.values()]
}

interface IndexedHit extends TextHit {
  readonly searchText?: string
}

async function searchIndexed(
  { engine, table, scanning }: TextParts,
  { filter, extra, limit }: TextQuery,
  { words, place, weights }: Ranking & { readonly weights?: Weights },
): Promise<IndexedHit[]> {
  const { lancedb } = engine
  const isWhole = place === 'table'
  // A plain match is several times faster than a composed query, and counts repeated words once.
  const match =
    weights?.areOfIndex === false
      ? new lancedb.BooleanQuery(
          [...new Map(words.map((item) => [item.term, item])).values()].map(({ word, term }) => {
            const { all, indexed } = weights.of.get(term)!
            return [lancedb.Occur.Should, new lancedb.MatchQuery(word, searchColumn, { boost: all / indexed })]
          }),
        )
      : new lancedb.MatchQuery(words.map(({ word }) => word).join(' '), searchColumn)
  const search = table.query().fullTextSearch(match)
  // `fastSearch`, since the engine would otherwise read every unindexed row, at 20 to 200 µs each.
  if (!isWhole) search.fastSearch()
  const find = (): Promise<Match[]> =>
    findMatches(search, {
      filter,
      score: '_score',
      columns: extra,
      // If they are scored anew with another average length, some further down may be among the first.
      limit: weights?.isLengthOfIndex === false ? Math.max(50, 2 * limit) : limit,
    })
  const matches = isWhole ? await scanning(find) : await find()
  return matches.map((match) => ({ ...match, score: match.score ?? 0 }))
}

/** Scores rows, read with their search text, with the statistics of all rows. */
async function scoreAnew(
  terms: Terms,
  hits: readonly IndexedHit[],
  { of, averageLength }: Weights,
): Promise<TextHit[]> {
  const wordsOfRows = hits.map(({ searchText = '' }) => wordsOf(searchText))
  const words = [...new Set(wordsOfRows.flat())]
  const termsOfWords = await terms.of(words)
  const termOf = new Map(words.map((word, at) => [word, termsOfWords[at]]))
  return hits.map((textHit, at) => {
    const counts = new Map<string, number>()
    let length = 0
    for (const word of wordsOfRows[at]!) {
      const term = termOf.get(word)
      if (term === undefined) continue
      length++
      if (of.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1)
    }
    let score = 0
    for (const [term, times] of counts) score += of.get(term)!.all * saturation(times, length, averageLength)
    return { ...textHit, score }
  })
}

function searchMemtable(memtable: Postings, { filter, limit }: TextQuery, { of, averageLength }: Weights): TextHit[] {
  const weighed = [...of].map(([term, { all }]) => ({ term, weight: all }))
  const postedHits = memtable.search(weighed, { averageLength, test: testOf(filter), limit })
  return postedHits.map(({ row, score }) => {
    const { documentId, generation, position, text, chunkMetadata, source, updatedAt, vector } = row
    const hit = { documentId, generation, position, text, chunkMetadata, source, updatedAt, score: 0 }
    return { hit, score, ...(vector && { vector }) }
  })
}

/** Words of rows similar to query words that no row contains. Only for those not in the sample the engine is asked. */
async function correct(
  { statistics, terms }: TextParts,
  queryTerms: readonly QueryTerm[],
  { memtable, signal }: Pick<TextQuery, 'signal'> & { readonly memtable: Postings | undefined },
): Promise<QueryTerm[]> {
  const unknown: QueryTerm[] = []
  for (const item of new Map(queryTerms.map((each) => [each.word, each])).values()) {
    const isInMemtable = (memtable?.frequencyOf(item.term) ?? 0) > 0
    if (mayBeMisspelt(item.word) && !isInMemtable && !(await statistics.isSampled(item.term))) unknown.push(item)
  }
  const corrected = new Set<string>()
  // One by one: the engine scans all its words for each, and other searches share its threads.
  for (const { word, term } of unknown.slice(0, maxMisspelt)) {
    if (signal?.aborted) return []
    for (const near of await statistics.near(word, term)) corrected.add(near)
    for (const near of memtable?.near(word, term) ?? []) corrected.add(near)
  }
  return queryTermsOf(terms, [...corrected])
}
