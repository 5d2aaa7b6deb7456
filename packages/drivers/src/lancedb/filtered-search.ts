import type { IndexFilter, IndexRow, TimeRange } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import type { Query, Table, VectorQuery } from '@lancedb/lancedb'
import type { RecordBatch } from 'apache-arrow'
import { metadataColumn, type FoundRow } from './rows.ts'

/** A search of the table, ready to be narrowed. */
export interface NarrowedSearch {
  /** Begins the query; called once for each try. */
  readonly query: () => Promise<Query | VectorQuery>
  readonly filter: IndexFilter | undefined
  /** Columns of a row found, without its score. */
  readonly columns: readonly string[]
  /** Column that the engine orders by. */
  readonly scoreColumn: '_score' | '_distance'
  readonly limit: number
}

/** Runs searches under filters. */
export type FilteredSearch = (search: NarrowedSearch) => Promise<FoundRow[]>

/** A row that passes: where it lies, and its score. */
interface Candidate {
  readonly id: bigint
  readonly score: number
}

/**
 * Rows that are looked at when pairs are compared here, for one that is wanted. The engine's index over lists takes 35 ms
 * for a million rows, however few pass; looking at 300 rows takes 1.5 ms, at 3,000 some 10 ms.
 */
const depths = [10, 100] as const
const maxDepth = 5_000

/** What share of the rows passes, as last seen; rights and rows change. */
const memoryMs = 60_000
const maxMemories = 1_000

/**
 * Makes the search of a table. Pairs are compared here when enough of the best rows pass, and by the engine's index when
 * few do; the result is the same. All else of a filter is always compared by the engine.
 */
export function createFilteredSearch(table: Table): FilteredSearch {
  const shares = new Map<string, { readonly share: number; readonly at: number }>()
  const shareOf = (key: string): number | undefined => {
    const memory = shares.get(key)
    return memory && performance.now() - memory.at < memoryMs ? memory.share : undefined
  }
  const noteShare = (key: string, share: number): void => {
    if (shares.size >= maxMemories) shares.clear()
    shares.set(key, { share, at: performance.now() })
  }

  return async (search) => {
    const { filter: { pairs, ...rest } = {}, limit, scoreColumn } = search
    if (pairs?.length === 0) return []
    const wanted = new Set(pairs)
    const key = pairs?.join() ?? ''
    for (const depth of pairs ? depths : []) {
      const count = limit * depth
      // Half as many again as should do.
      if (count > maxDepth || count * (shareOf(key) ?? 1) < 1.5 * limit) continue
      const query = withCondition(await search.query(), rest).select(['pairs', scoreColumn])
      const { candidates, seen } = await candidatesOf(query.withRowId().limit(count), wanted, scoreColumn)
      // A few rows that hold rare words say little of all rows.
      if (seen > count / 2) noteShare(key, candidates.length / seen)
      if (candidates.length >= limit || seen < count) return take(table, search, candidates.slice(0, limit), wanted)
    }
    const query = withCondition(await search.query(), search.filter)
    return query
      .select([...search.columns, scoreColumn])
      .limit(limit)
      .toArray()
  }
}

/** Rows of a query that are in any of the pairs, and how many it has altogether. */
async function candidatesOf(
  query: Query | VectorQuery,
  wanted: ReadonlySet<number>,
  scoreColumn: string,
): Promise<{ readonly candidates: Candidate[]; readonly seen: number }> {
  const candidates: Candidate[] = []
  let seen = 0
  for await (const batch of query) {
    seen += batch.numRows
    const [ids, scores] = [batch.getChild('_rowid'), batch.getChild(scoreColumn)]
    const isIn = pairsReader(batch)
    for (let at = 0; at < batch.numRows; at++)
      if (isIn(at, wanted)) candidates.push({ id: BigInt(ids?.get(at)), score: Number(scores?.get(at)) })
  }
  return { candidates, seen }
}

/** Tests rows of a batch by the numbers as they lie in memory: a vector for each row would cost more than the search. */
function pairsReader(batch: RecordBatch): (row: number, wanted: ReadonlySet<number>) => boolean {
  const lists = batch.getChild('pairs')?.data[0]
  const offsets: ArrayLike<number> = lists?.valueOffsets ?? []
  const values: ArrayLike<number> = lists?.children[0]?.values ?? []
  return (row, wanted) => {
    for (let at = offsets[row] ?? 0; at < (offsets[row + 1] ?? 0); at++) if (wanted.has(values[at]!)) return true
    return false
  }
}

function withCondition<Narrowed extends Query | VectorQuery>(
  query: Narrowed,
  filter: IndexFilter | undefined,
): Narrowed {
  const condition = conditionOf(filter)
  if (condition !== undefined) query.where(condition)
  return query
}

/** The rows of candidates, in their order, with their scores. */
async function take(
  table: Table,
  { columns, scoreColumn }: NarrowedSearch,
  candidates: readonly Candidate[],
  wanted: ReadonlySet<number>,
): Promise<FoundRow[]> {
  if (candidates.length === 0) return []
  const rows: (FoundRow & { readonly _rowid: bigint; readonly pairs: Iterable<number> })[] = await table
    .takeRowIds(candidates.map(({ id }) => id))
    .select([...columns, 'pairs'])
    .withRowId()
    .toArray()
  const byId = new Map(rows.map((row) => [BigInt(row._rowid), row]))
  return candidates.map(({ id, score }) => {
    const row = byId.get(id)
    // Moved or removed since it was found: the search begins anew.
    if (!row || ![...row.pairs].some((pair) => wanted.has(pair)))
      throw new InlayError('SERVICE_UNAVAILABLE', { cause: new Error('preempted') })
    const vector = columns.includes('vector') ? { vector: row.vector } : {}
    return { text: row.text, [metadataColumn]: row[metadataColumn], ...vector, [scoreColumn]: score }
  })
}

/** A text as an SQL literal. Every text of a filter goes through here, and nothing else may. */
export function quote(text: string): string {
  // Doubling is the whole grammar: the engine knows no backslash escapes.
  return `'${text.replaceAll("'", "''")}'`
}

/** The SQL condition of a filter; undefined when nothing is narrowed. */
export function conditionOf(filter: IndexFilter | undefined): string | undefined {
  if (!filter) return undefined
  const conditions = [
    ...(filter.sources ? [among('source', filter.sources)] : []),
    ...(filter.documentIds ? [among('document_id', filter.documentIds)] : []),
    ...(filter.pairs ? [anyOf('pairs', filter.pairs.map(wholeNumber))] : []),
    ...(filter.tags ?? []).map((tags) => anyOf('tags', tags.map(quote))),
    ...(filter.createdAt ? within('created_at', filter.createdAt) : []),
    ...(filter.ownUpdatedAt ? within('own_updated_at', filter.ownUpdatedAt) : []),
    ...(filter.updatedOrCreatedSince === undefined ? [] : [since(filter.updatedOrCreatedSince)]),
  ]
  return conditions.length > 0 ? conditions.join(' AND ') : undefined
}

/** `column IN (…)` with texts; an empty list matches nothing. */
export function among(column: string, texts: readonly string[]): string {
  return texts.length > 0 ? `${column} IN (${texts.map(quote).join(', ')})` : 'false'
}

function anyOf(column: string, items: readonly string[]): string {
  return items.length > 0 ? `array_has_any(${column}, [${items.join(', ')}])` : 'false'
}

function within(column: string, { start, end }: TimeRange): string[] {
  return [
    `${column} IS NOT NULL`,
    ...(start === undefined ? [] : [`${column} >= ${timestamp(Math.ceil(start))}`]),
    ...(end === undefined ? [] : [`${column} <= ${timestamp(Math.floor(end))}`]),
  ]
}

function since(time: number): string {
  const from = timestamp(Math.ceil(time))
  return `(updated_at >= ${from} OR created_at >= ${from})`
}

function timestamp(milliseconds: number): string {
  return `to_timestamp_millis(${wholeNumber(milliseconds)})`
}

function wholeNumber(value: number): string {
  return String(BigInt(Math.trunc(value)))
}

/** The same filter as a test of a row in memory. */
export function testOf(
  filter: IndexFilter | undefined,
): (row: Omit<IndexRow, 'text' | 'searchText' | 'chunkMetadata'>) => boolean {
  if (!filter) return () => true
  const { sources, documentIds, pairs, tags, createdAt, ownUpdatedAt, updatedOrCreatedSince: from } = filter
  return (row) =>
    (!sources || sources.includes(row.source)) &&
    (!documentIds || documentIds.includes(row.documentId)) &&
    (!pairs || pairs.some((pair) => row.pairs.includes(pair))) &&
    (!tags || tags.every((any) => any.some((tag) => row.tags.includes(tag)))) &&
    (!createdAt || isWithin(row.createdAt, createdAt)) &&
    (!ownUpdatedAt || isWithin(row.ownUpdatedAt, ownUpdatedAt)) &&
    (from === undefined || row.updatedAt >= from || (row.createdAt !== null && row.createdAt >= from))
}

function isWithin(time: number | null, { start, end }: TimeRange): boolean {
  return time !== null && (start === undefined || time >= start) && (end === undefined || time <= end)
}
