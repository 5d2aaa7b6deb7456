import type { IndexFilter } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { rarityOf, rescore, rescoredRows, termPositionsOf, type TermPositions } from './rescore.ts'
import type { Mutex } from '../../concurrency/mutex.ts'
import type { Engine } from '../engine.ts'
import { runFiltered } from '../filtered-search.ts'
import { rowKey, type TextHit } from '../../hybrid-search/fusion.ts'
import { testOf } from '../../hybrid-search/row-filter.ts'
import type { Counts, PassingRows } from '../passing-rows.ts'
import type { FoundId, RowCache } from '../row-cache.ts'
import { hitColumns, searchColumn } from '../rows.ts'
import type { Memtable, UnindexedRows } from './memtable.ts'
import type { Postings } from './postings.ts'
import { mayBeMisspelt, wordsOf, type Terms } from './words-and-spelling.ts'
import type { TermStatistics } from './term-statistics.ts'

/** Dependencies of a keyword search. */
export interface TextParts {
  readonly engine: Engine
  readonly table: Table
  readonly cache: RowCache
  readonly terms: Terms
  readonly statistics: TermStatistics
  readonly memtable: Memtable
  readonly unindexedRows: UnindexedRows
  /** Has searches that read all unindexed rows go one by one: four at once take seven times as long as one. */
  readonly scanning: Mutex
}

/** Input of a keyword search. */
export interface TextQuery {
  readonly text: string
  readonly filter?: IndexFilter
  /** Cached rows that pass the filter, if any. */
  readonly passing?: PassingRows
  readonly limit: number
  /** Columns besides those of a hit. */
  readonly extra: readonly string[]
  /** Aborted when nobody waits for the hits any more: some are left out. */
  readonly signal?: AbortSignal
}

/** Words of a query that count: a longer one is a pasted text, whose first words tell enough. */
const mostWords = 100
/** Words of a query that are looked up when they seem misspelt. */
const mostMisspelt = 8

interface QueryTerm {
  readonly word: string
  readonly term: string
}

/**
 * Finds rows by words, best first: the engine's BM25 over what it has indexed, the same BM25 here over rows that wait,
 * likely spellings of words that no row holds, then a second look at the first rows.
 */
export async function searchText(parts: TextParts, query: TextQuery): Promise<TextHit[]> {
  const queryTerms = await queryTermsOf(parts.terms, wordsOf(query.text).slice(0, mostWords))
  if (queryTerms.length === 0) return []
  const unindexed = await parts.unindexedRows.place()
  // Taken before the index is asked: a row that is folded in meanwhile is then found on both sides, never on none.
  const memtable = unindexed === 'memtable' ? await parts.memtable.prepared() : undefined
  const isWhole = unindexed === 'table'
  let words = queryTerms
  let { ranked, positions } = await rank(parts, query, { words, memtable, isWhole })
  const corrections = await correct(parts, queryTerms, { positions, memtable, signal: query.signal })
  if (corrections.length > 0) {
    words = [...queryTerms, ...corrections]
    ;({ ranked, positions } = await rank(parts, query, { words, memtable, isWhole }))
  }
  return rescore(
    ranked,
    positions,
    words.map(({ word }) => word),
  )
    .slice(0, query.limit)
    .map(({ row, score }) => ({ ...row, score, hit: { ...row.hit, score } }))
}

async function queryTermsOf(terms: Terms, words: readonly string[]): Promise<QueryTerm[]> {
  const indexTerms = await terms.of(words)
  return words.flatMap((word, at) => (indexTerms[at] === undefined ? [] : [{ word, term: indexTerms[at] }]))
}

/** Rows by falling score, and where the words stand in the first of them. */
interface Ranked {
  readonly ranked: readonly TextHit[]
  readonly positions: readonly TermPositions[]
}

interface Ranking {
  readonly words: readonly QueryTerm[]
  /** Rows in memory; undefined when there is none that the index lacks. */
  readonly memtable: Postings | undefined
  /** Whether the engine has to look at rows outside its index as well. */
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
  { engine, table, scanning, cache }: TextParts,
  { filter, passing, extra }: TextQuery,
  { words, isWhole, reach }: { words: readonly QueryTerm[]; isWhole: boolean; reach: number },
): Promise<TextHit[]> {
  // A plain match is several times as fast as a composed query, and repeated words do not count twice in it.
  const match = new engine.lancedb.MatchQuery(words.map(({ word }) => word).join(' '), searchColumn)
  const search = table.query().fullTextSearch(match).withRowId()
  const few = isWhole ? undefined : await passing?.few(extra)
  const columns = [...(few || cache.isWarm ? [] : [...hitColumns, ...extra]), '_rowid', '_score']
  const narrowing = { filter, columns, limit: reach }
  // Otherwise the engine reads every row that it has not indexed, at 20 to 200 µs each.
  const past = isWhole
    ? undefined
    : await passing?.lookThrough(() => table.query().fullTextSearch(match).withRowId().fastSearch(), {
        looked: (counts) => lookedOf(counts, reach),
        least: reach,
        score: '_score',
      })
  const ids = past?.isEnough
    ? past.rows.slice(0, reach)
    : await (isWhole
        ? scanning(() => runFiltered<FoundId>(search, narrowing))
        : runFiltered<FoundId>(search.fastSearch(), narrowing))
  const known = few && ids.map(({ _rowid: id }) => few.rows.get(id))
  const rows = known?.every((row) => row !== undefined) ? known : await cache.read(ids, extra)
  const hits = new Map<string, TextHit>()
  for (const [at, { _score: score = 0 }] of ids.entries()) {
    const row = rows[at]!
    // Rows appended twice are one.
    if (!hits.has(rowKey(row.hit))) hits.set(rowKey(row.hit), { ...row, score })
  }
  return [...hits.values()]
}

/**
 * When to look past a filter. The engine scores rows in the order they lie in and asks of each whether it passes. In a
 * small table that takes less time than to read the hits by themselves.
 */
const pastFilter = { leastRows: 300_000, mostLooked: 2_000, margin: 1.5 }

/** When a twentieth of the rows pass, 1.5 times the limit is too few in one of a hundred searches. */
function lookedOf({ rows, passing }: Counts, reach: number): number | undefined {
  if (rows < pastFilter.leastRows || passing === 0) return undefined
  const looked = Math.ceil((pastFilter.margin * reach * rows) / passing)
  return looked > pastFilter.mostLooked ? undefined : looked
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

/** Words that rows do hold, in place of those that none does. */
async function correct(
  { statistics, terms }: TextParts,
  queryTerms: readonly QueryTerm[],
  {
    positions,
    memtable,
    signal,
  }: Pick<TextQuery, 'signal'> & {
    readonly positions: readonly TermPositions[]
    readonly memtable: Postings | undefined
  },
): Promise<QueryTerm[]> {
  const seen = new Set(positions.flatMap(({ of }) => [...of.keys()]))
  const unseen = new Map(
    queryTerms.filter(({ word }) => mayBeMisspelt(word) && !seen.has(word)).map((item) => [item.word, item]),
  )
  const corrected = new Set<string>()
  // One by one: the engine looks through all its words for each, and other searches share its threads.
  for (const { word, term } of [...unseen.values()].slice(0, mostMisspelt)) {
    if (signal?.aborted) return []
    if ((memtable?.frequencyOf(term) ?? 0) > 0 || (await statistics.isKnown(word, term))) continue
    for (const near of await statistics.near(word, term)) corrected.add(near)
    for (const near of memtable?.near(word, term) ?? []) corrected.add(near)
  }
  return queryTermsOf(terms, [...corrected])
}
