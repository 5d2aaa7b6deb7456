import type { Hit, IndexFilter, TimeRange, VectorIndex } from '@inlay/knowledge'
import type { Query, Table, VectorQuery } from '@lancedb/lancedb'
import { rowKey } from '../hybrid-search/fusion.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import { hitColumns, searchColumn, toHit, type FoundRow } from './rows.ts'

export interface Narrowing {
  readonly filter: IndexFilter | undefined
  /** Columns to return, including the score column. */
  readonly columns: readonly string[]
  readonly limit: number
}

/** The rows of a search with the requested columns. The filter applies before the limit. */
export async function runFiltered(
  search: Query | VectorQuery,
  { filter, columns, limit }: Narrowing,
): Promise<FoundRow[]> {
  const condition = conditionOf(filter)
  const query = condition === undefined ? search : search.where(condition)
  const rows: FoundRow[] = []
  for await (const batch of query.select([...columns]).limit(limit)) {
    // The cast holds because exactly these columns are selected.
    rows.push(...(batch.toArray() as unknown as FoundRow[]))
    // Requesting another batch costs an event loop turn.
    if (rows.length >= limit) break
  }
  return rows
}

export interface Match {
  readonly hit: Hit
  /** If it was requested. */
  readonly vector?: Float32Array
  /** If it was requested. */
  readonly searchText?: string
  /** Its `_score` or `_distance`. */
  readonly score: number | null
}

export interface MatchSearch extends Narrowing {
  /** Columns in addition to those of a hit: `vector` and `search_text`, if they are wanted. */
  readonly columns: readonly string[]
  readonly score: '_score' | '_distance'
}

export async function findMatches(
  search: Query | VectorQuery,
  { score, columns, ...narrowing }: MatchSearch,
): Promise<Match[]> {
  const rows = await runFiltered(search, { ...narrowing, columns: [...hitColumns, ...columns, score] })
  return rows.map((row) => ({
    hit: toHit(row, 0),
    ...(row.vector && { vector: row.vector.toArray() }),
    ...(columns.includes(searchColumn) && { searchText: row[searchColumn]! }),
    score: row[score] ?? null,
  }))
}

/** Quotes a text as an SQL literal. Every text of a filter must go through here. */
export function quote(text: string): string {
  // Doubling quotes is sufficient: the engine has no backslash escapes.
  return `'${text.replaceAll("'", "''")}'`
}

/** The SQL condition of a filter; undefined if it does not restrict anything. */
export function conditionOf(filter: IndexFilter | undefined): string | undefined {
  if (!filter) return undefined
  const conditions = [
    ...(filter.sources ? [among('source', filter.sources)] : []),
    ...(filter.documentIds ? [among('document_id', filter.documentIds)] : []),
    ...(filter.pairs ? [anyPair(filter.pairs)] : []),
    ...(filter.tags ?? []).map((tags) => anyOf('tags', `[${tags.map(quote).join(', ')}]`, tags.length)),
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

/** Literals have 64 bits, and the index is only used for the type of its column: all rows would be read otherwise. */
function anyPair(pairs: readonly number[]): string {
  const fitting = pairs.filter((pair) => (pair | 0) === pair)
  return anyOf('pairs', `arrow_cast([${fitting.join(', ')}], 'List(Int32)')`, fitting.length)
}

function anyOf(column: string, list: string, count: number): string {
  return count > 0 ? `array_has_any(${column}, ${list})` : 'false'
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
  return `to_timestamp_millis(${BigInt(milliseconds)})`
}

/** Rows of one generation, by position. */
export function readRows(
  parts: ReadParts,
  { generation, from, to, vectors }: { generation: string; from: number; to: number; vectors: boolean },
): Promise<Hit[]> {
  const positions = `position BETWEEN ${Math.trunc(from)} AND ${Math.trunc(to)}`
  return rowsWhere(parts, `generation = ${quote(generation)} AND ${positions}`, vectors)
}

/** Reads the rows of generations with their vectors, those of each by position: a look at rows without an index for all. */
export function readGenerations(parts: ReadParts, generations: readonly string[]): Promise<Hit[]> {
  return rowsWhere(parts, among('generation', generations), true)
}

interface ReadParts {
  readonly table: Table
  readonly space: Space | undefined
}

async function rowsWhere({ table, space }: ReadParts, where: string, vectors: boolean): Promise<Hit[]> {
  const columns = vectors && space ? [...hitColumns, 'vector'] : [...hitColumns]
  const rows: FoundRow[] = await table.query().where(where).select(columns).toArray()
  const hits = new Map<string, Hit>()
  const hitRows = rows.map((row) => ({ row, hit: toHit(row, 0) }))
  for (const { row, hit } of hitRows.sort((a, b) => a.hit.position - b.hit.position)) {
    hits.set(rowKey(hit), row.vector ? { ...hit, vector: Float32Array.from(row.vector.toArray()) } : hit)
  }
  return [...hits.values()]
}

/** Reads one column of all rows: half a second for a million. */
export async function eachGeneration(
  table: Table,
  ...[listener, signal]: Parameters<Required<VectorIndex>['eachGeneration']>
): Promise<void> {
  for await (const batch of table.query().select(['generation'])) {
    signal?.throwIfAborted()
    const column = batch.getChild('generation')
    const generations = new Set<string>()
    for (let at = 0; at < batch.numRows; at++) generations.add(String(column?.get(at)))
    listener([...generations])
  }
}
