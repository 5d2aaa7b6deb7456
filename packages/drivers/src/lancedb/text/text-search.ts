import type { IndexFilter } from '@inlay/knowledge'
import type { Query, Table } from '@lancedb/lancedb'
import { rarityOf, rescore, rescoredRows, termPositionsOf, type TermPositions } from './rescore.ts'
import type { Mutex } from '@inlay/scheduling'
import type { Engine } from '../engine.ts'
import { findMatches, type MatchSearch } from '../filtered-search.ts'
import { rowKey, type TextHit } from '../../hybrid-search/fusion.ts'
import { testOf } from '../../hybrid-search/row-filter.ts'
import type { FewRows, PassingRows } from '../passing-rows.ts'
import type { FullMatch, RowCache } from '../row-cache.ts'
import { searchColumn } from '../rows.ts'
import type { Memtable, UnindexedRows } from './memtable.ts'
import type { Postings } from './postings.ts'
import { mayBeMisspelt, wordsOf, type Terms } from './words-and-spelling.ts'
import type { TermStatistics } from './term-statistics.ts'

/** Dependencies of a keyword search. */
export interface TextParts {
  readonly engine: Engine
  readonly table: Table
  readonly terms: Terms
  readonly statistics: TermStatistics
  readonly rowCache: RowCache
  readonly memtable: Memtable
  readonly unindexedRows: UnindexedRows
  /** Serializes searches that scan all unindexed rows: four at once take seven times as long as one. */
  readonly scanning: Mutex
}

/** Input of a keyword search. */
export interface TextQuery {
  readonly text: string
  readonly filter?: IndexFilter
  /** Cached rows that pass the filter, if any. */
  readonly passing?: PassingRows
  readonly limit: number
  /** Columns in addition to those of a hit. */
  readonly extra: readonly string[]
  /** If it aborts, nobody waits for the result: it may then be incomplete. */
  readonly signal?: AbortSignal
}

/** Maximum number of words of a query that are used: a longer query is a pasted text, whose first words suffice. */
const maxWords = 100
/** Maximum number of words of a query that are checked for spelling. */
const maxMisspelt = 8

interface QueryTerm {
  readonly word: string
  readonly term: string
}

/**
 * Keyword search, best first: the engine's BM25 over indexed rows, the same BM25 in memory over unindexed rows,
 * corrected spellings of words that no row contains, and rescoring of the first rows.
 */
export async function searchText(parts: TextParts, query: TextQuery): Promise<TextHit[]> {
  const queryTerms = await queryTermsOf(parts.terms, wordsOf(query.text).slice(0, maxWords))
  if (queryTerms.length === 0) return []
  const unindexed = await parts.unindexedRows.place()
  // Taken before the index is searched: a row that is indexed meanwhile is then found twice rather than not at all.
  const memtable = unindexed === 'memtable' ? await parts.memtable.prepared() : undefined
  const isWhole = unindexed === 'table'
  const rankFor = (words: readonly QueryTerm[]): Promise<Ranked> => rank(parts, query, { words, memtable, isWhole })
  // Words are checked first, so that only one ranking is needed. But a sample that is not there yet would have to be
  // waited for, and a word that only unindexed rows contain is known once they are scanned.
  let ranking = isWhole || !parts.statistics.isReady ? await rankFor(queryTerms) : undefined
  const seen = new Set(ranking?.positions.flatMap(({ of }) => [...of.keys()]))
  const unseen = queryTerms.filter(({ word }) => !seen.has(word))
  const corrections = await correct(parts, unseen, { memtable, signal: query.signal })
  const words = [...queryTerms, ...corrections]
  if (!ranking || corrections.length > 0) ranking = await rankFor(words)
  return rescore(
    ranking.ranked,
    ranking.positions,
    words.map(({ word }) => word),
  )
    .slice(0, query.limit)
    .map(({ row, score }) => ({ ...row, score, hit: { ...row.hit, score } }))
}

async function queryTermsOf(terms: Terms, words: readonly string[]): Promise<QueryTerm[]> {
  const indexTerms = await terms.of(words)
  return words.flatMap((word, at) => (indexTerms[at] === undefined ? [] : [{ word, term: indexTerms[at] }]))
}

/** Rows by descending score, and the positions of the words in the first of them. */
interface Ranked {
  readonly ranked: readonly TextHit[]
  readonly positions: readonly TermPositions[]
}

interface Ranking {
  readonly words: readonly QueryTerm[]
  /** Rows in memory; undefined if the index lacks none. */
  readonly memtable: Postings | undefined
  /** Whether the engine also has to scan unindexed rows. */
  readonly isWhole: boolean
}

async function rank(parts: TextParts, query: TextQuery, { memtable, words, isWhole }: Ranking): Promise<Ranked> {
  const reach = Math.max(query.limit, rescoredRows)
  const [inMemory, indexed] = await Promise.all([
    memtable ? searchMemtable(parts, query, { memtable, words, reach }) : [],
    searchIndexed(parts, query, { words, isWhole, reach }),
  ])
  const hits = new Map(inMemory.map((textHit) => [rowKey(textHit.hit), textHit]))
  for (const textHit of indexed) hits.set(rowKey(textHit.hit), textHit)
  const ranked = inMemory.length === 0 ? indexed : [...hits.values()].sort((a, b) => b.score - a.score).slice(0, reach)
  const wanted = new Set(words.map(({ word }) => word))
  return { ranked, positions: ranked.slice(0, rescoredRows).map(({ hit }) => termPositionsOf(hit.text, wanted)) }
}

async function searchIndexed(
  { engine, table, scanning, rowCache }: TextParts,
  { filter, passing, extra }: TextQuery,
  { words, isWhole, reach }: { words: readonly QueryTerm[]; isWhole: boolean; reach: number },
): Promise<TextHit[]> {
  // A plain match is several times faster than a composed query, and counts repeated words once.
  const match = new engine.lancedb.MatchQuery(words.map(({ word }) => word).join(' '), searchColumn)
  const search = table.query().fullTextSearch(match)
  // `fastSearch`, since the engine would otherwise read every unindexed row, at 20 to 200 µs each.
  if (!isWhole) search.fastSearch()
  const few = isWhole ? undefined : await passing?.few(extra)
  const narrowing = { filter, score: '_score', columns: extra, limit: reach } as const
  const find = (): Promise<FullMatch[]> =>
    few ? findAmong(few, search, narrowing, rowCache) : rowCache.find(search, narrowing)
  const matches = isWhole ? await scanning(find) : await find()
  const hits = new Map<string, TextHit>()
  for (const { row, score } of matches) {
    const key = rowKey(row.hit)
    // Rows appended twice are returned once.
    if (!hits.has(key)) hits.set(key, { ...row, score: score ?? 0 })
  }
  return [...hits.values()]
}

/** Finds rows of which those that pass the filter are cached. */
async function findAmong(
  few: FewRows,
  search: Query,
  narrowing: MatchSearch,
  rowCache: RowCache,
): Promise<FullMatch[]> {
  const matches = await findMatches(search, { ...narrowing, columns: [] })
  const known = matches.map(({ id }) => few.rows.get(id))
  const missing = matches.filter((_, at) => !known[at]).map(({ id }) => id)
  const added = await rowCache.read(missing, narrowing.columns)
  let next = 0
  return matches.map(({ id, score }, at) => ({ id, score, row: known[at] ?? added[next++]! }))
}

async function searchMemtable(
  { table, statistics }: TextParts,
  { filter }: TextQuery,
  { words, memtable, reach }: { words: readonly QueryTerm[]; memtable: Postings; reach: number },
): Promise<TextHit[]> {
  const present = new Map(words.filter(({ term }) => memtable.frequencyOf(term) > 0).map((item) => [item.term, item]))
  if (present.size === 0) return []
  const rows = await table.countRows()
  const weighed = await Promise.all(
    [...present.values()].map(async ({ word, term }) => ({
      term,
      weight: rarityOf(await statistics.frequencyOf(word, term, { rows, memtable: memtable.frequencyOf(term) }), rows),
    })),
  )
  const averageLength = await statistics.averageLength()
  const postedHits = memtable.search(weighed, { averageLength, test: testOf(filter), limit: reach })
  return postedHits.map(({ row, score }) => ({
    hit: {
      documentId: row.documentId,
      generation: row.generation,
      position: row.position,
      text: row.text,
      chunkMetadata: row.chunkMetadata,
      source: row.source,
      updatedAt: row.updatedAt,
      score: 0,
    },
    score,
    ...(row.vector ? { vector: row.vector } : {}),
  }))
}

/**
 * Words of rows that are similar to query words that no row contains. Most words are in the sample, and the engine is
 * asked for the others only.
 */
async function correct(
  { statistics, terms }: TextParts,
  queryTerms: readonly QueryTerm[],
  { memtable, signal }: Pick<TextQuery, 'signal'> & { readonly memtable: Postings | undefined },
): Promise<QueryTerm[]> {
  const words = [...new Map(queryTerms.map((item) => [item.word, item])).values()].filter(({ word }) =>
    mayBeMisspelt(word),
  )
  const areKnown = await Promise.all(
    words.map(
      async ({ word, term }) => (memtable?.frequencyOf(term) ?? 0) > 0 || (await statistics.isKnown(word, term)),
    ),
  )
  const corrected = new Set<string>()
  // One by one: the engine scans all its words for each, and other searches share its threads.
  for (const { word, term } of words.filter((_, at) => !areKnown[at]).slice(0, maxMisspelt)) {
    if (signal?.aborted) return []
    for (const near of await statistics.near(word, term)) corrected.add(near)
    for (const near of memtable?.near(word, term) ?? []) corrected.add(near)
  }
  return queryTermsOf(terms, [...corrected])
}
