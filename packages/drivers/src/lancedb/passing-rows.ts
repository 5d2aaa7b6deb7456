import type { IndexFilter } from '@inlay/knowledge'
import type { IndexConfig, Table, VectorQuery } from '@lancedb/lancedb'
import type { RecordBatch } from 'apache-arrow'
import { conditionOf, toLoaded, type FoundId, type LoadedRow } from './filtered-search.ts'
import { hitColumns, type FoundRow } from './rows.ts'
import { vectorsOf, type RowVectors } from '../hybrid-search/row-vectors.ts'

/**
 * Cached rows that match a filter in one version of a table, loaded when enough searches use them. With a thousandth of the
 * rows, a vector search takes 0.4 instead of 5 ms at 100,000 rows and 1 instead of 30 ms at a million, a hybrid search a
 * third to a half; with a twentieth of a million, a vector search takes 17 instead of 40 ms or more.
 */
export interface PassingRows {
  /** Indexes of the table, listed at first use. */
  indexes(): Promise<readonly IndexConfig[]>
  counts(): Promise<Counts>
  /** All matching rows, with vectors if requested. Undefined if there are too many or they are not cached. */
  few(extra: readonly string[]): Promise<FewRows | undefined>
  /**
   * Runs a vector search without the filter and drops rows that do not match: checking each row takes the engine longer.
   * @returns the matching rows, in order; undefined if ids are not cached, or the table changed meanwhile
   */
  lookThrough(search: () => VectorQuery, wanted: Wanted): Promise<Passed | undefined>
}

/** Parameters of {@link PassingRows.lookThrough}. */
export interface Wanted {
  /** Number of rows to request. */
  readonly looked: number
  /** Minimum number of matching rows. */
  readonly least: number
}

/** Matching rows of a search. */
export interface Passed {
  readonly rows: readonly FoundId[]
  /** Whether there are at least as many as wanted, or no more exist. */
  readonly isEnough: boolean
}

/** Number of rows in a table, and of matching rows. */
export interface Counts {
  readonly rows: number
  readonly passing: number
}

/** Rows by id, with their vectors stored separately, if requested. */
export interface FewRows extends RowVectors {
  readonly rows: ReadonlyMap<bigint, LoadedRow>
}

/** With the id of an index of the table: the versions of a recreated table start at 1 again. */
interface OfTable<Value> {
  readonly value: Value
  readonly indexId: string | undefined
}

/** Up to this number of rows, all vectors are cached and compared: searching the partitions takes longer. */
export const narrowRows = 1_000
/** With more rows, reading their ids takes too long. */
const maxIds = 100_000
/**
 * Nothing is read before the second search of a version, since some tables change between any two searches; each
 * further number of rows like this delays reading by one search.
 */
const rowsWorthSearch = 25_000
/** Maximum number of bytes cached per table. */
const maxBytes = 24 << 20
const bytesBeside = 500
/** After this many consecutive searches that found too few matching rows, no further search tries. */
const maxMisses = 3

interface Entry {
  readonly version: number
  searches: number
  bytes: number
  misses: number
  counts?: Promise<Counts>
  ids?: Promise<OfTable<RowIds> | undefined>
  /** By whether they have vectors. */
  readonly few: Map<boolean, Promise<OfTable<FewRows> | undefined>>
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
      : { version, searches: 0, bytes: 2 * condition.length + bytesBeside, misses: 0, few: new Map() }
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
  const ofTable = async <Value>(kept: OfTable<Value> | undefined): Promise<Value | undefined> =>
    kept && kept.indexId === (await indexes())[0]?.indexUuid ? kept.value : undefined
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
      if (entry.searches < 2 || (await counts()).passing > narrowRows) return undefined
      const isWhole = extra.length > 0
      // Rows with vectors contain everything that rows without vectors do.
      const present = entry.few.get(true) ?? entry.few.get(isWhole)
      const few = present ?? readFew(entry, reading, extra)
      if (!present) entry.few.set(isWhole, few)
      few.catch(() => entry.few.delete(isWhole))
      return isWhole ? ofTable(await few) : (await few)?.value
    },
    async lookThrough(search, { least, looked }) {
      if (entry.searches < 2 || entry.misses >= maxMisses) return undefined
      const { passing } = await counts()
      if (passing > maxIds || entry.searches < 2 + Math.floor(passing / rowsWorthSearch)) return undefined
      const read = (entry.ids ??= readIds(entry, reading))
      read.catch(() => (entry.ids = undefined))
      const ids = (await read)?.value
      if (!ids) return undefined
      const [{ passed, seen }, isOfTable] = await Promise.all([
        filterById(search().select(['_rowid', '_distance']).limit(looked), ids),
        ofTable(await read),
      ])
      const isEnough = passed.length >= least || seen < looked
      entry.misses = isEnough ? 0 : entry.misses + 1
      return isOfTable && (await isCurrent(entry, reading)) ? { rows: passed, isEnough } : undefined
    },
  }
}

async function isCurrent({ version }: Entry, { table }: Reading): Promise<boolean> {
  return (await table.version()) === version
}

/** @returns undefined if the rows belong to a later version */
async function readIds(entry: Entry, reading: Reading): Promise<OfTable<RowIds> | undefined> {
  const ids = new RowIds()
  for await (const batch of reading.table.query().where(reading.condition).select(['_rowid']).withRowId())
    ids.add(idsOf(batch))
  return keep(entry, reading, { value: ids, bytes: ids.bytes })
}

/** @returns undefined if the rows belong to a later version */
async function readFew(
  entry: Entry,
  reading: Reading,
  extra: readonly string[],
): Promise<OfTable<FewRows> | undefined> {
  const query = reading.table
    .query()
    .where(reading.condition)
    .select([...hitColumns, ...extra, '_rowid'])
  // Contains only the selected columns.
  const stored = (await query.withRowId().toArray()) as (FoundRow & FoundId)[]
  const ids = stored.map(({ _rowid: id }) => id)
  const loaded = stored.map(toLoaded)
  const vectors = vectorsOf(ids, extra.length > 0 ? loaded.map(({ vector }) => vector!) : [])
  const few = { ...vectors, rows: new Map(ids.map((id, at) => [id, withVector(loaded[at]!, vectors, at)])) }
  return keep(entry, reading, { value: few, bytes: loaded.reduce((sum, row) => sum + weightOf(row), 0) })
}

/** Bytes of a row beside its text, metadata and vector. */
const bytesOfRow = 500

function weightOf({ hit, vector }: LoadedRow): number {
  return hit.text.length + hit.chunkMetadata.length + (vector?.byteLength ?? 0) + bytesOfRow
}

/** A row with its part of the shared vectors, so that they are not in memory twice. */
function withVector({ hit }: LoadedRow, { vectors, norms }: RowVectors, at: number): LoadedRow {
  const dimensions = vectors.length / norms.length
  return norms.length === 0 ? { hit } : { hit, vector: vectors.subarray(at * dimensions, (at + 1) * dimensions) }
}

async function keep<Value>(
  entry: Entry,
  reading: Reading,
  { value, bytes }: { readonly value: Value; readonly bytes: number },
): Promise<OfTable<Value> | undefined> {
  const indexId = (await reading.table.listIndices())[0]?.indexUuid
  if (!(await isCurrent(entry, reading))) return undefined
  reading.grow(bytes)
  return { value, indexId }
}

async function filterById(search: VectorQuery, ids: RowIds): Promise<{ passed: FoundId[]; seen: number }> {
  const passed: FoundId[] = []
  let seen = 0
  for await (const batch of search) {
    const seenIds = idsOf(batch)
    const distances = batch.getChild('_distance')!
    seen += seenIds.length
    for (const at of ids.among(seenIds)) passed.push({ _rowid: seenIds[at]!, _distance: distances.get(at) })
  }
  return { passed, seen }
}

function idsOf(batch: RecordBatch): BigUint64Array {
  // The type declarations lack the column: row ids are 64-bit integers.
  return batch.getChild('_rowid')!.toArray() as BigUint64Array
}

/** A set of row ids: for each file, a bit per offset up to the last one in the set. */
class RowIds {
  readonly #files = new Map<number, Uint8Array>()

  get bytes(): number {
    return [...this.#files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  add(ids: BigUint64Array): void {
    // The lower half of an id is the offset, the upper half is the file; the engine's memory is little-endian.
    const halves = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length)
    for (let at = 0; at < halves.length; at += 2) {
      const [place, file] = [halves[at]!, halves[at + 1]!]
      let bits = this.#files.get(file)
      if (!bits || place >>> 3 >= bits.length) {
        const longer = new Uint8Array(2 * (place >>> 3) + 64)
        if (bits) longer.set(bits)
        this.#files.set(file, (bits = longer))
      }
      bits[place >>> 3]! |= 1 << (place & 7)
    }
  }

  /** @returns the indexes of a list at which there are ids of the set */
  among(ids: BigUint64Array): number[] {
    const halves = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length)
    const present: number[] = []
    for (let at = 0; at < halves.length; at += 2) {
      const [place, file] = [halves[at]!, halves[at + 1]!]
      if (((this.#files.get(file)?.[place >>> 3] ?? 0) >> (place & 7)) & 1) present.push(at / 2)
    }
    return present
  }
}
