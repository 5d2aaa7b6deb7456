import { createHash } from 'node:crypto'
import type { IndexFilter } from '@inlay/knowledge'
import type { IndexConfig, Table, VectorQuery } from '@lancedb/lancedb'
import { conditionOf, findMatches, runFiltered, type Match } from './filtered-search.ts'
import { cosine, rowKey, type VectorHit } from '../hybrid-search/fusion.ts'
import { createRecentValues, type RecentValues } from '../hybrid-search/recent-values.ts'
import { hitColumns, toHit, type FoundRow } from './rows.ts'
import { vectorIndexOf } from './upkeep.ts'

interface VectorSearch {
  readonly vector: Float32Array
  readonly filter?: IndexFilter
  readonly limit: number
}

/** Number of rows in a table, and of matching rows. */
interface Counts {
  readonly rows: number
  readonly passing: number
}

/** Up to this number of matching rows, all their vectors are compared: searching the partitions takes longer. */
const narrowRows = 1_000

/** Finds the rows with the nearest vectors by cosine, nearest first. */
export async function searchVectors(table: Table, query: VectorSearch): Promise<VectorHit[]> {
  const { limit } = query
  const index = await vectorIndexOf(table)
  const counts = index && (await countPassing(table, query.filter))
  const loose = index?.indexType === 'IvfRq' && counts ? await searchPastFilter(table, query, counts) : undefined
  const nearest = loose ?? (await searchWithin(table, query, { index, passing: counts?.passing }))
  nearest.sort((a, b) => b.nearness - a.nearness)
  const hits = new Map<string, VectorHit>()
  for (const { hit, nearness } of nearest) {
    if (hits.size === limit) break
    if (!hits.has(rowKey(hit))) hits.set(rowKey(hit), { hit, nearness: Number.isFinite(nearness) ? nearness : 0 })
  }
  return [...hits.values()]
}

/** Counts by condition: counting takes as long as the search, and searches of one person have one filter. */
const recentCounts = new WeakMap<Table, RecentValues<Counts>>()

/** Undefined without a filter, and for dates: they have no index, so all rows would be read. */
async function countPassing(table: Table, filter: IndexFilter | undefined): Promise<Counts | undefined> {
  const condition = conditionOf(filter)
  if (condition === undefined || filter?.createdAt || filter?.ownUpdatedAt) return undefined
  if (filter?.updatedOrCreatedSince !== undefined) return undefined
  const recent = recentCounts.get(table) ?? createRecentValues(10_000, 1_000)
  recentCounts.set(table, recent)
  // Hashed, since a filter may contain thousands of documents.
  return recent.of(createHash('sha256').update(condition).digest('base64'), async () => {
    const [rows, passing] = await Promise.all([table.countRows(), table.countRows(condition)])
    return { rows, passing }
  })
}

/** Lets the engine compare only rows that match. */
async function searchWithin(
  table: Table,
  { vector, filter, limit }: VectorSearch,
  { index, passing = Infinity }: { readonly index: IndexConfig | undefined; readonly passing: number | undefined },
): Promise<VectorHit[]> {
  const near = (probes: number): Promise<Match[]> => {
    const search = table.query().nearestTo(vector).distanceType('cosine')
    if (!index || passing <= narrowRows) search.bypassVectorIndex()
    else search.nprobes(probes)
    if (index?.indexType === 'IvfRq' && passing > narrowRows) search.refineFactor(Math.ceil(refinedRows / limit) + 1)
    return findMatches(search, { filter, score: '_distance', columns: [], limit })
  }
  // With a filter, the nearest matching rows may be in any partition.
  const probes = index && conditionOf(filter) === undefined ? await probesFor(table, index, vector) : maxPartitions
  const few = await near(probes)
  const matches = probes < maxPartitions && few.length < limit ? await near(maxPartitions) : few
  return matches.map(({ hit, score }) => ({ hit, nearness: 1 - (score ?? 1) }))
}

function hitsOf(vector: Float32Array, rows: readonly FoundRow[]): VectorHit[] {
  return rows.map((row) => ({
    hit: toHit(row, 0),
    nearness: row.vector ? cosine(vector, row.vector.toArray()) : 1 - (row._distance ?? 1),
  }))
}

/**
 * Requests so many of the nearest rows that enough of them match. With a filter, the engine checks every row of a
 * partition, which takes several times as long as comparing the quantized vectors.
 * @returns undefined if that would be too many, or too few of them matched
 */
async function searchPastFilter(
  table: Table,
  { vector, filter, limit }: VectorSearch,
  { rows, passing: count }: Counts,
): Promise<VectorHit[] | undefined> {
  const share = count / rows
  if (count < pastFilter.minPassing || share < pastFilter.minShare) return undefined
  const isWide = share >= pastFilter.wideShare
  const wanted = isWide ? pastFilter.margin * limit : Math.max(pastFilter.comparedRows, 3 * limit, count / 1_000)
  const looked = Math.ceil(wanted / share)
  const least = isWide ? limit : wanted / 2
  const postfiltered = table.query().nearestTo(vector).distanceType('cosine').nprobes(maxPartitions).postfilter()
  // Comparing the few matching rows here reads fewer vectors than letting the engine compare all.
  if (isWide) postfiltered.refineFactor(Math.max(2, Math.ceil(refinedRows / looked)))
  const columns = [...hitColumns, ...(isWide ? [] : ['vector']), '_distance']
  const rowsPast = await runFiltered(postfiltered, { filter, columns, limit: looked })
  return rowsPast.length < least ? undefined : hitsOf(vector, rowsPast)
}

/** When to search without the filter and drop rows afterwards. */
const pastFilter = {
  /** With fewer matching rows, the nearest ones are too far away. */
  minPassing: 10_000,
  minShare: 1 / 30,
  /** From this share on, the engine compares uncompressed vectors of the requested rows. */
  wideShare: 0.3,
  /**
   * Least rows whose uncompressed vectors are compared; one in a thousand if that is more. If 50,000 of a million rows
   * match, 60 rows contained the nearest ten.
   */
  comparedRows: 150,
  margin: 1.3,
}

/** Compared uncompressed after ranking by the quantized index: with 100, 90.5 % of the nearest ten were found. */
const refinedRows = 400

/** More than any index has. */
const maxPartitions = 65_536

/** Number of partitions that are always searched: skipping some of so few saves nothing. */
const fewPartitions = 20

/** By table: number of partitions to search, with the id of the index it was computed for. */
const counted = new WeakMap<Table, { readonly indexId: string; readonly probes: Promise<number> }>()

/**
 * Three fifths of the partitions. On vectors that hardly cluster, half of them contained 98 % of the nearest ten, and a
 * fifth only 92 %. The engine splits and merges partitions when it folds, and searches all of them if given a range.
 */
function probesFor(table: Table, { indexUuid: indexId = '' }: IndexConfig, vector: Float32Array): Promise<number> {
  const known = counted.get(table)
  if (known?.indexId === indexId) return known.probes
  const probes = countPartitions(table.query().nearestTo(vector).distanceType('cosine'))
    .then((count) => Math.min(maxPartitions, Math.max(fewPartitions, Math.ceil(0.6 * count))))
    .catch((error: unknown) => {
      counted.delete(table)
      throw error
    })
  counted.set(table, { indexId, probes })
  return probes
}

/** The engine tells it only in the plan of an executed search. If its format changes, all partitions are searched. */
async function countPartitions(search: VectorQuery): Promise<number> {
  const plan = await search.nprobes(maxPartitions).select(['_distance']).limit(1).analyzePlan()
  // Each segment has all partitions.
  const [, segments, ranked, isThousands] = /deltas=(\d+),.*partitions_ranked=([\d.]+)( K)?/.exec(plan) ?? []
  return ranked === undefined ? maxPartitions : (Number(ranked) * (isThousands ? 1000 : 1)) / Number(segments)
}
