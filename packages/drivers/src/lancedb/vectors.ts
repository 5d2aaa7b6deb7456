import type { IndexFilter } from '@inlay/knowledge'
import type { IndexConfig, Table, VectorQuery } from '@lancedb/lancedb'
import { conditionOf, runFiltered } from './filtered-search.ts'
import { rowKey, type VectorHit } from '../hybrid-search/fusion.ts'
import { hitColumns, toHit, type FoundRow } from './rows.ts'
import { vectorIndexOf } from './upkeep.ts'

/** Finds the rows whose vectors are nearest by cosine, nearest first. */
export async function searchVectors(
  table: Table,
  { vector, filter, limit }: { vector: Float32Array; filter?: IndexFilter; limit: number },
): Promise<VectorHit[]> {
  const index = await vectorIndexOf(table)
  const isExact = !index || (await isNarrow(table, filter))
  const near = (probes: number): Promise<FoundRow[]> => {
    const search = table.query().nearestTo(vector).distanceType('cosine')
    if (isExact) search.bypassVectorIndex()
    else search.nprobes(probes)
    if (!isExact && index.indexType === 'IvfRq') search.refineFactor(Math.ceil(refinedRows / limit) + 1)
    return runFiltered(search, { filter, columns: [...hitColumns, '_distance'], limit })
  }
  const probes = isExact ? mostPartitions : await probesFor(table, index, vector)
  const first = await near(probes)
  // The filter has let too few rows of these partitions through.
  const rows = probes < mostPartitions && first.length < limit ? await near(mostPartitions) : first
  const hits = new Map<string, VectorHit>()
  for (const row of rows) {
    const hit = toHit(row, 0)
    const nearness = 1 - (row._distance ?? 1)
    if (!hits.has(rowKey(hit))) hits.set(rowKey(hit), { hit, nearness: Number.isFinite(nearness) ? nearness : 0 })
  }
  return [...hits.values()]
}

/** Rows of a filter up to which all their vectors are compared: to look for them in the partitions takes longer. */
const narrowRows = 1_000

/** Whether few rows pass. Dates have no index, so to count by them would read all rows. */
async function isNarrow(table: Table, filter: IndexFilter | undefined): Promise<boolean> {
  if (filter?.createdAt || filter?.ownUpdatedAt || filter?.updatedOrCreatedSince !== undefined) return false
  const condition = conditionOf(filter)
  return condition !== undefined && (await table.countRows(condition)) <= narrowRows
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
