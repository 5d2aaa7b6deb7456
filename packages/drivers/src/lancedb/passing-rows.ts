import type { IndexFilter } from '@inlay/knowledge'
import type { IndexConfig, Query, Table, VectorQuery } from '@lancedb/lancedb'
import type { RecordBatch } from 'apache-arrow'
import { conditionOf } from './filtered-search.ts'
import { weightOf, type CachedRow, type FoundId, type RowCache } from './row-cache.ts'
import { vectorsOf, type RowVectors } from '../hybrid-search/row-vectors.ts'

/** Cached rows that pass a filter in one version of a table, loaded when searches make it worthwhile. */
export interface PassingRows {
  /** Indexes of the table; listed at first use. */
  indexes(): Promise<readonly IndexConfig[]>
  counts(): Promise<Counts>
  /** All of them, with their vectors if wanted. Undefined where they are many or not kept. */
  few(extra: readonly string[]): Promise<FewRows | undefined>
  /**
   * Runs a search that has no filter yet, and lets pass what passes: the engine takes longer to ask for each row.
   * @returns those that pass, in order; undefined where ids are not kept, or the table changes meanwhile
   */
  lookThrough(search: () => Query | VectorQuery, wanted: Wanted): Promise<Passed | undefined>
}

/** Which rows of a search are wanted. */
export interface Wanted {
  /** How many to look at; undefined where that is too many. */
  looked(counts: Counts): number | undefined
  /** How many have to pass. */
  readonly least: number
  /** The column of the score. */
  readonly score: '_score' | '_distance'
}

/** Rows of a search that pass. */
export interface Passed {
  readonly rows: readonly FoundId[]
  /** Whether they are as many as wanted, or all there are. */
  readonly isEnough: boolean
}

/** How many rows a table has, and how many of them pass. */
export interface Counts {
  readonly rows: number
  readonly passing: number
}

/** Rows by their ids, and their vectors apart, if those were wanted. */
export interface FewRows extends RowVectors {
  readonly rows: ReadonlyMap<bigint, CachedRow>
}

/** With an index of the table they are of: of a table that was made anew the versions begin at 1 again. */
interface OfTable<Value> {
  readonly value: Value
  readonly indexId: string | undefined
}

/** Rows up to which all their vectors are compared, and kept: to look in the partitions takes longer. */
export const narrowRows = 1_000
/** Ids of more rows take too long to read. */
const mostIds = 100_000
/** Nothing is read before the second search of a version, as some tables change between any two; of many rows, for each so many one search later. */
const rowsWorthSearch = 25_000
/** Most bytes that are kept of one table. */
const mostBytes = 24 << 20
const bytesBeside = 500
/** Searches in a row that found too few past the filter, until no further one tries. */
const mostMisses = 3

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

/** By table: what was kept, by the condition of the filter, that used last at the end. */
const kept = new WeakMap<Table, { readonly entries: Map<string, Entry>; bytes: number }>()

/** Looks at a filter for one search. Undefined for dates: they have no index, so all rows would be read. */
export async function passingRows(
  { table, cache }: { readonly table: Table; readonly cache: RowCache },
  filter: IndexFilter | undefined,
): Promise<PassingRows | undefined> {
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
      if (all.bytes <= mostBytes) break
      all.bytes -= freed
      all.entries.delete(oldest)
    }
  }
  grow(0)
  return of(entry, { table, cache, condition, grow })
}

interface Reading {
  readonly table: Table
  readonly cache: RowCache
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
      // With vectors there is all that is wanted without.
      const present = entry.few.get(true) ?? entry.few.get(isWhole)
      const few = present ?? readFew(entry, reading, extra)
      if (!present) entry.few.set(isWhole, few)
      few.catch(() => entry.few.delete(isWhole))
      // Rows are known by their ids alone, as those in the cache are.
      return isWhole ? ofTable(await few) : (await few)?.value
    },
    async lookThrough(search, { least, looked: lookedOf, score }) {
      if (entry.searches < 2 || entry.misses >= mostMisses) return undefined
      const { rows, passing } = await counts()
      const looked = lookedOf({ rows, passing })
      if (looked === undefined || passing > mostIds || entry.searches < 2 + Math.floor(passing / rowsWorthSearch))
        return undefined
      const read = (entry.ids ??= readIds(entry, reading))
      read.catch(() => (entry.ids = undefined))
      const ids = (await read)?.value
      if (!ids) return undefined
      const [{ passed, seen }, isOfTable] = await Promise.all([
        filterById(search().select(['_rowid', score]).limit(looked), ids, score),
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

/** @returns undefined where they are those of a later version */
async function readIds(entry: Entry, reading: Reading): Promise<OfTable<RowIds> | undefined> {
  const ids = new RowIds()
  for await (const batch of reading.table.query().where(reading.condition).select(['_rowid']).withRowId())
    ids.add(idsOf(batch))
  return keep(entry, reading, { value: ids, bytes: ids.bytes })
}

/** @returns undefined where they are those of a later version */
async function readFew(
  entry: Entry,
  reading: Reading,
  extra: readonly string[],
): Promise<OfTable<FewRows> | undefined> {
  const { table, cache, condition } = reading
  const rows: FoundId[] = []
  for await (const batch of table.query().where(condition).select(['_rowid']).withRowId())
    for (const id of idsOf(batch)) rows.push({ _rowid: id })
  // Those that an earlier version had as well are there already.
  const cached = await cache.read(rows, extra)
  const ids = rows.map(({ _rowid }) => _rowid)
  const vectors = vectorsOf(ids, extra.length > 0 ? cached.map(({ vector }) => vector!) : [])
  const few = { ...vectors, rows: new Map(ids.map((id, at) => [id, withVector(cached[at]!, vectors, at)])) }
  return keep(entry, reading, { value: few, bytes: cached.reduce((sum, row) => sum + weightOf(row), 0) })
}

/** A row with its part of the vectors, so that they are not in memory twice. */
function withVector({ hit }: CachedRow, { vectors, norms }: RowVectors, at: number): CachedRow {
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

async function filterById(
  search: Query | VectorQuery,
  ids: RowIds,
  score: string,
): Promise<{ passed: FoundId[]; seen: number }> {
  const passed: FoundId[] = []
  let seen = 0
  for await (const batch of search) {
    const seenIds = idsOf(batch)
    const scores = batch.getChild(score)!
    seen += seenIds.length
    for (const at of ids.among(seenIds)) passed.push({ _rowid: seenIds[at]!, [score]: scores.get(at) })
  }
  return { passed, seen }
}

function idsOf(batch: RecordBatch): BigUint64Array {
  // Rows have no id but a number of 64 bits.
  return batch.getChild('_rowid')!.toArray() as BigUint64Array
}

/** A set of row ids: a bit for each place in a file up to the last that is in it. */
class RowIds {
  readonly #files = new Map<number, Uint8Array>()

  get bytes(): number {
    return [...this.#files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  add(ids: BigUint64Array): void {
    // Half of an id names the file, the other half the place; the engine's memory has the lower half first.
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

  /** @returns at which places of a list there are ids of the set */
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
