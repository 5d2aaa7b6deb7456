import type { IndexFilter } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import { runFiltered } from './filtered-search.ts'
import { rowKey, type VectorHit } from '../hybrid-search/fusion.ts'
import { hitColumns, toHit } from './rows.ts'
import { vectorIndexOf } from './upkeep.ts'

/** Finds the rows whose vectors are nearest by cosine, nearest first; all that pass the filter are compared. */
export async function searchVectors(
  table: Table,
  { vector, filter, limit }: { vector: Float32Array; filter?: IndexFilter; limit: number },
): Promise<VectorHit[]> {
  const index = await vectorIndexOf(table)
  const probes = index && (await probesFor(table))
  const search = table.query().nearestTo(vector).distanceType('cosine')
  // The other partitions are looked into only when the filter has let too few rows through.
  if (probes !== undefined) search.maximumNprobes(maxPartitions).minimumNprobes(probes)
  if (index === 'quantized') search.refineFactor(Math.ceil(refinedRows / limit) + 1)
  const rows = await runFiltered(search, { filter, columns: [...hitColumns, '_distance'], limit })
  const hits = new Map<string, VectorHit>()
  for (const row of rows) {
    const hit = toHit(row, 0)
    const nearness = 1 - (row._distance ?? 1)
    if (!hits.has(rowKey(hit))) hits.set(rowKey(hit), { hit, nearness: Number.isFinite(nearness) ? nearness : 0 })
  }
  return [...hits.values()]
}

/** Rows whose vectors are compared whole, after a quantized index has ranked them: 100 found .905 of the nearest ten. */
const refinedRows = 400

/** More partitions than an index has. */
const maxPartitions = 65_536

/**
 * Partitions to look into at least: three fifths of them, of which there are some √rows. On vectors that hardly cluster,
 * half found 98 in 100 of the nearest ten and a fifth only 92, while half still took a tenth of the time of comparing
 * all.
 */
async function probesFor(table: Table): Promise<number> {
  return Math.min(maxPartitions, Math.max(20, Math.ceil(0.6 * Math.sqrt(await table.countRows()))))
}
