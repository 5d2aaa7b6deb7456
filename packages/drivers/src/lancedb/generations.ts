import type { Hit, VectorIndex } from '@inlay/knowledge'
import type { Table } from '@lancedb/lancedb'
import type { Space } from '../hybrid-search/open-state.ts'
import { rowKey } from '../hybrid-search/fusion.ts'
import { quote } from './filtered-search.ts'
import { hitColumns, toHit, type FoundRow } from './rows.ts'

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
