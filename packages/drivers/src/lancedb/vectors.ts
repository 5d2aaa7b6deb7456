import type { IndexFilter } from '@inlay/knowledge'
import type { IndexConfig, Table, VectorQuery } from '@lancedb/lancedb'
import { conditionOf, runFiltered } from './filtered-search.ts'
import { cosine, rowKey, type VectorHit } from '../hybrid-search/fusion.ts'
import { searchKept } from './kept-vectors.ts'
import { hitColumns, toHit, type FoundRow } from './rows.ts'
import { vectorIndexOf } from './upkeep.ts'

interface VectorSearch {
  readonly vector: Float32Array
  readonly filter?: IndexFilter
  readonly limit: number
}

/** Finds the rows whose vectors are nearest by cosine, nearest first. */
export async function searchVectors(table: Table, query: VectorSearch): Promise<VectorHit[]> {
  const { vector, limit } = query
  const index = await vectorIndexOf(table)
  const passing = index && (await countPassing(table, query.filter))
  const known =
    index && passing !== undefined && passing <= narrowRows ? await searchKept(table, query, index) : undefined
  const loose = index?.indexType === 'IvfRq' && passing ? await searchPastFilter(table, query, passing) : undefined
  const rows = known ?? loose ?? (await searchWithin(table, query, { index, passing }))
  const nearest = rows
    .map((row) => ({ row, nearness: row.vector ? cosine(vector, row.vector.toArray()) : 1 - (row._distance ?? 1) }))
    .sort((a, b) => b.nearness - a.nearness)
  const hits = new Map<string, VectorHit>()
  for (const { row, nearness } of nearest) {
    if (hits.size === limit) break
    const hit = toHit(row, 0)
    if (!hits.has(rowKey(hit))) hits.set(rowKey(hit), { hit, nearness: Number.isFinite(nearness) ? nearness : 0 })
  }
  return [...hits.values()]
}

/** Has the engine compare no row but those that pass. */
async function searchWithin(
  table: Table,
  { vector, filter, limit }: VectorSearch,
  { index, passing = Infinity }: { readonly index: IndexConfig | undefined; readonly passing: number | undefined },
): Promise<FoundRow[]> {
  const near = (probes: number): Promise<FoundRow[]> => {
    const search = table.query().nearestTo(vector).distanceType('cosine')
    if (!index || passing <= narrowRows) search.bypassVectorIndex()
    else search.nprobes(probes)
    if (index?.indexType === 'IvfRq' && passing > narrowRows) search.refineFactor(Math.ceil(refinedRows / limit) + 1)
    return runFiltered(search, { filter, columns: [...hitColumns, '_distance'], limit })
  }
  // The nearest of few rows lie further away.
  const probes = index && conditionOf(filter) === undefined ? await probesFor(table, index, vector) : mostPartitions
  const rows = await near(probes)
  return probes < mostPartitions && rows.length < limit ? near(mostPartitions) : rows
}

/**
 * Looks at so many of the nearest rows that enough of them pass. Within a filter the engine asks for every row of a
 * partition whether it passes, which takes several times as long as to compare the quantized vectors.
 * @returns undefined where that would be too many, or too few of them passed
 */
async function searchPastFilter(
  table: Table,
  { vector, filter, limit }: VectorSearch,
  passing: number,
): Promise<FoundRow[] | undefined> {
  if (passing < pastFilter.leastPassing) return undefined
  const share = passing / (await table.countRows())
  if (share < pastFilter.leastShare) return undefined
  const isWide = share >= pastFilter.wideShare
  const wanted = isWide ? pastFilter.margin * limit : Math.max(pastFilter.comparedRows, 3 * limit, passing / 1_000)
  const looked = Math.ceil(wanted / share)
  const search = table.query().nearestTo(vector).distanceType('cosine').nprobes(mostPartitions).postfilter()
  // To compare the few that pass, once they are here, reads fewer vectors than to have the engine compare all.
  if (isWide) search.refineFactor(Math.max(2, Math.ceil(refinedRows / looked)))
  const columns = [...hitColumns, ...(isWide ? [] : ['vector']), '_distance']
  const rows = await runFiltered(search, { filter, columns, limit: looked })
  return rows.length < (isWide ? limit : wanted / 2) ? undefined : rows
}

/** When to look past a filter. */
const pastFilter = {
  /** Of fewer rows the nearest lie too far away. */
  leastPassing: 10_000,
  leastShare: 1 / 30,
  /** From here on the engine compares whole what it looks at. */
  wideShare: 0.3,
  /**
   * Rows that pass whose vectors are compared whole, and at least one in a thousand of them: of a twentieth of a million,
   * 60 held the nearest ten.
   */
  comparedRows: 150,
  margin: 1.3,
}

/** Rows of a filter up to which all their vectors are compared, and kept: to look in the partitions takes longer. */
const narrowRows = 1_000

/** How many rows pass; undefined where it is not known. Dates have no index, so to count by them would read all rows. */
async function countPassing(table: Table, filter: IndexFilter | undefined): Promise<number | undefined> {
  if (filter?.createdAt || filter?.ownUpdatedAt || filter?.updatedOrCreatedSince !== undefined) return undefined
  const condition = conditionOf(filter)
  return condition === undefined ? undefined : table.countRows(condition)
}

/** Rows whose vectors are compared whole, after a quantized index has ranked them: 100 found .905 of the nearest ten. */
const refinedRows = 400

/** More partitions than an index has. */
const mostPartitions = 65_536

/** Partitions that are looked into in any case: below, what is left out saves nothing. */
const fewPartitions = 20

/** By table: partitions to look into, with the index that they were counted in. */
const counted = new WeakMap<Table, { readonly indexId: string; readonly probes: Promise<number> }>()

/**
 * Three fifths of the partitions. On vectors that hardly cluster, half found 98 in 100 of the nearest ten and a fifth only
 * 92. The engine splits and joins partitions as it folds, and looks into all of them when it is given a range.
 */
function probesFor(table: Table, { indexUuid: indexId = '' }: IndexConfig, vector: Float32Array): Promise<number> {
  const known = counted.get(table)
  if (known?.indexId === indexId) return known.probes
  const probes = countPartitions(table.query().nearestTo(vector).distanceType('cosine'))
    .then((count) => Math.min(mostPartitions, Math.max(fewPartitions, Math.ceil(0.6 * count))))
    .catch((error: unknown) => {
      counted.delete(table)
      throw error
    })
  counted.set(table, { indexId, probes })
  return probes
}

/** The engine tells it only of a search that it has run. Should it word that in another way, all are looked into. */
async function countPartitions(search: VectorQuery): Promise<number> {
  const plan = await search.nprobes(mostPartitions).select(['_distance']).limit(1).analyzePlan()
  // Each segment has all partitions.
  const [, segments, ranked, isThousands] = /deltas=(\d+),.*partitions_ranked=([\d.]+)( K)?/.exec(plan) ?? []
  return ranked === undefined ? mostPartitions : (Number(ranked) * (isThousands ? 1000 : 1)) / Number(segments)
}
