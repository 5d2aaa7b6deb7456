import type { Hit, IndexFilter, TimeRange, VectorIndex } from '@inlay/knowledge'
import type { Query, Table, VectorQuery } from '@lancedb/lancedb'
import type { RecordBatch } from 'apache-arrow'
import { rowKey } from '../hybrid-search/fusion.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import { hitColumns, toHit, type FoundRow } from './rows.ts'

/** A row that a search found, by the engine's id of it: its file, and its offset there. */
export interface FoundId extends Partial<FoundRow> {
  readonly _rowid: bigint
}

/** The content of a row. */
export interface LoadedRow {
  readonly hit: Hit
  /** If it was requested. */
  readonly vector?: Float32Array
}

/** Filter, columns and limit of a search. */
export interface Narrowing {
  readonly filter: IndexFilter | undefined
  /** Columns to return, including the score column. */
  readonly columns: readonly string[]
  readonly limit: number
}

/** Runs a search with a filter, which applies before the limit. */
async function* batchesOf(
  search: Query | VectorQuery,
  { filter, columns, limit }: Narrowing,
): AsyncGenerator<RecordBatch> {
  const condition = conditionOf(filter)
  const query = condition === undefined ? search : search.where(condition)
  let rows = 0
  for await (const batch of query.select([...columns]).limit(limit)) {
    yield batch
    rows += batch.numRows
    // Requesting another batch costs an event loop turn.
    if (rows >= limit) return
  }
}

/** The rows of a search, with the requested columns. */
export async function runFiltered(search: Query | VectorQuery, narrowing: Narrowing): Promise<FoundRow[]> {
  const rows: FoundRow[] = []
  for await (const batch of batchesOf(search, narrowing))
    // The cast holds because exactly these columns are selected.
    rows.push(...(batch.toArray() as unknown as FoundRow[]))
  return rows
}

/** A row that a search found, by its id, with its `_score` or `_distance`. */
export interface Match {
  readonly id: bigint
  readonly score: number | null
  /** If columns were requested. */
  readonly row?: LoadedRow
}

/** A search whose rows are wanted by their ids. */
export interface MatchSearch extends Narrowing {
  /** Columns of the content of rows; none if it is not wanted. */
  readonly columns: readonly string[]
  readonly score: '_score' | '_distance'
}

/** The rows of a search by their ids. Without their content it takes less than half the time. */
export async function findMatches(
  search: Query | VectorQuery,
  { score, columns, ...narrowing }: MatchSearch,
): Promise<Match[]> {
  const matches: Match[] = []
  const wanted = [...columns, '_rowid', score]
  for await (const batch of batchesOf(search.withRowId(), { ...narrowing, columns: wanted })) {
    const [ids, scores] = [batch.getChild('_rowid')!, batch.getChild(score)!]
    const rows = columns.length > 0 ? (batch.toArray() as unknown as FoundRow[]) : []
    for (let at = 0; at < batch.numRows; at++)
      matches.push({
        id: ids.get(at) as bigint,
        score: scores.get(at) as number | null,
        ...(rows.length > 0 && { row: toLoaded(rows[at]!) }),
      })
  }
  return matches
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

/**
 * Cast to 32 bits, since literals have 64 bits and the index of the column is only used for its own type: all rows
 * would be read otherwise.
 */
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
  return `to_timestamp_millis(${wholeNumber(milliseconds)})`
}

function wholeNumber(value: number): string {
  return String(BigInt(Math.trunc(value)))
}

/** The content of a row whose columns were returned by a search. */
export function toLoaded(row: FoundRow): LoadedRow {
  return { hit: toHit(row, 0), ...(row.vector && { vector: row.vector.toArray() }) }
}

/** Bytes of a row beside its text, metadata and vector. */
const bytesBeside = 500

/** Memory of a row, about. */
export function bytesOf({ hit, vector }: LoadedRow): number {
  return hit.text.length + hit.chunkMetadata.length + (vector?.byteLength ?? 0) + bytesBeside
}

/**
 * Rows by their ids, in that order.
 * @param extra `vector`, if it is wanted
 * @throws an error that makes the search run again, if rows were moved or deleted since they were found
 */
export async function rowsById(table: Table, ids: readonly bigint[], extra: readonly string[]): Promise<LoadedRow[]> {
  const query = table.takeRowIds([...ids]).withRowId()
  // Contains only the selected columns.
  const taken = (await query.select([...hitColumns, ...extra, '_rowid']).toArray()) as (FoundRow & FoundId)[]
  const rows = new Map(taken.map((row) => [row._rowid, toLoaded(row)]))
  return ids.map((id) => rows.get(id) ?? moved())
}

function moved(): never {
  throw new Error('A row was not found again: another writer changed the table meanwhile.')
}

/** Rows of one generation, by position. */
export async function readRows(
  { table, space }: { readonly table: Table; readonly space: Space | undefined },
  { generation, from, to, vectors }: { generation: string; from: number; to: number; vectors: boolean },
): Promise<Hit[]> {
  const columns = vectors && space ? [...hitColumns, 'vector'] : [...hitColumns]
  const where = `generation = ${quote(generation)} AND position BETWEEN ${Math.trunc(from)} AND ${Math.trunc(to)}`
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
