import type { IndexFilter } from '@inlay/knowledge'
import type { IndexConfig, Table } from '@lancedb/lancedb'
import { bytesOf, conditionOf, toLoaded, type FoundId, type LoadedRow } from './filtered-search.ts'
import { hitColumns, type FoundRow } from './rows.ts'
import { vectorsOf, type RowVectors } from '../hybrid-search/row-vectors.ts'

/**
 * Cached rows that match a narrow filter in one version of a table, loaded by its second search. With a thousandth of the
 * rows, a vector search takes 0.4 instead of 5 ms at 100,000 rows and 1 instead of 30 ms at a million, a hybrid search a
 * third to a half.
 */
export interface PassingRows {
  /** Indexes of the table, listed at first use. */
  indexes(): Promise<readonly IndexConfig[]>
  counts(): Promise<Counts>
  /** All matching rows, with vectors if requested. Undefined if there are too many or they are not cached. */
  few(extra: readonly string[]): Promise<FewRows | undefined>
}

/** Number of rows in a table, and of matching rows. */
export interface Counts {
  readonly rows: number
  readonly passing: number
}

/** Rows by id, with their vectors stored separately, if requested. */
export interface FewRows extends RowVectors {
  readonly rows: ReadonlyMap<bigint, LoadedRow>
  /** Id of an index of the table: the versions of a recreated table start at 1 again. */
  readonly indexId: string | undefined
}

/** Up to this number of rows, all vectors are cached and compared: searching the partitions takes longer. */
export const narrowRows = 1_000
/** Nothing is cached before this search of a version, since some tables change between any two searches. */
const cachingSearch = 2
/** Maximum number of bytes cached per table. */
const maxBytes = 24 << 20
const bytesBeside = 500

interface Entry {
  readonly version: number
  searches: number
  bytes: number
  counts?: Promise<Counts>
  /** By whether they have vectors. */
  readonly few: Map<boolean, Promise<FewRows | undefined>>
}

/** Cache entries by table and filter condition, most recently used last. */
const kept = new WeakMap<Table, { readonly entries: Map<string, Entry>; bytes: number }>()

/** Prepares a filter for one search. Undefined for dates: they have no index, so all rows would be read. */
export async function passingRows(table: Table, filter: IndexFilter | undefined): Promise<PassingRows | undefined> {
  const condition = conditionOf(filter)
  if (!filter || condition === undefined) return undefined
  if (filter.createdAt || filter.ownUpdatedAt || filter.updatedOrCreatedSince !== undefined) return undefined
  const version = await table.version()
  const all = kept.get(table) ?? { entries: new Map<string, Entry>(), bytes: 0 }
  kept.set(table, all)
  const last = all.entries.get(condition)
  const entry =
    last?.version === version
      ? last
      : { version, searches: 0, bytes: 2 * condition.length + bytesBeside, few: new Map() }
  entry.searches++
  all.bytes += entry.bytes - (last?.bytes ?? 0)
  all.entries.delete(condition)
  all.entries.set(condition, entry)
  const grow = (bytes: number): void => {
    entry.bytes += bytes
    if (all.entries.get(condition) === entry) all.bytes += bytes
    for (const [oldest, { bytes: freed }] of all.entries) {
      if (all.bytes <= maxBytes) break
      all.bytes -= freed
      all.entries.delete(oldest)
    }
  }
  grow(0)
  return of(entry, { table, condition, grow })
}

interface Reading {
  readonly table: Table
  readonly condition: string
  grow(bytes: number): void
}

function of(entry: Entry, reading: Reading): PassingRows {
  const { table, condition } = reading
  let listing: Promise<readonly IndexConfig[]> | undefined
  const indexes = (): Promise<readonly IndexConfig[]> => (listing ??= table.listIndices())
  const counts = (): Promise<Counts> =>
    (entry.counts ??= Promise.all([table.countRows(), table.countRows(condition)]).then(
      ([rows, passing]) => ({ rows, passing }),
      (error: unknown) => {
        entry.counts = undefined
        throw error
      },
    ))
  return {
    indexes,
    counts,
    async few(extra) {
      if (entry.searches < cachingSearch || (await counts()).passing > narrowRows) return undefined
      const isWhole = extra.length > 0
      // Rows with vectors contain everything that rows without vectors do.
      const present = entry.few.get(true) ?? entry.few.get(isWhole)
      const few = present ?? readFew(entry, reading, extra)
      if (!present) entry.few.set(isWhole, few)
      few.catch(() => entry.few.delete(isWhole))
      const rows = await few
      return isWhole && rows?.indexId !== (await indexes())[0]?.indexUuid ? undefined : rows
    },
  }
}

/** @returns undefined if the rows belong to a later version */
async function readFew(
  { version }: Entry,
  { table, condition, grow }: Reading,
  extra: readonly string[],
): Promise<FewRows | undefined> {
  const query = table
    .query()
    .where(condition)
    .select([...hitColumns, ...extra, '_rowid'])
  // Contains only the selected columns.
  const stored = (await query.withRowId().toArray()) as (FoundRow & FoundId)[]
  const ids = stored.map(({ _rowid: id }) => id)
  const loaded = stored.map(toLoaded)
  const vectors = vectorsOf(ids, extra.length > 0 ? loaded.map(({ vector }) => vector!) : [])
  const rows = new Map(ids.map((id, at) => [id, withVector(loaded[at]!, vectors, at)]))
  const indexId = (await table.listIndices())[0]?.indexUuid
  if ((await table.version()) !== version) return undefined
  grow(loaded.reduce((sum, row) => sum + bytesOf(row), 0))
  return { ...vectors, rows, indexId }
}

/** A row with its part of the shared vectors, so that they are not in memory twice. */
function withVector({ hit }: LoadedRow, { vectors, norms }: RowVectors, at: number): LoadedRow {
  const dimensions = vectors.length / norms.length
  return norms.length === 0 ? { hit } : { hit, vector: vectors.subarray(at * dimensions, (at + 1) * dimensions) }
}
