import type { IndexFilter } from '@inlay/knowledge'
import type { IndexConfig, Table } from '@lancedb/lancedb'
import { conditionOf } from './filtered-search.ts'
import { cosine } from '../hybrid-search/fusion.ts'
import { hitColumns, metadataColumn, type FoundRow } from './rows.ts'

/** What is known of a filter in one version of a table. */
interface KeptFilter {
  readonly version: number
  /** All rows that pass. Absent until the second search: some tables change between any two. */
  readonly rows?: readonly { readonly id: bigint; readonly vector: Float32Array }[]
  readonly bytes: number
}

/** By table: what was kept, by its index of vectors and the condition of the filter, that used last at the end. */
const kept = new WeakMap<Table, { readonly entries: Map<string, KeptFilter>; bytes: number }>()

/** Most bytes that are kept of one table. */
const mostBytes = 16 << 20
const bytesBeside = 500

/**
 * Compares the vectors of all rows that pass, of which there are few, where they are kept: to read a thousand of them
 * takes the engine as long as all the rest of a search.
 * @returns undefined where they are not kept, or the table changes meanwhile
 */
export async function searchKept(
  table: Table,
  { vector, filter, limit }: { readonly vector: Float32Array; readonly filter?: IndexFilter; readonly limit: number },
  { indexUuid: indexId = '' }: IndexConfig,
): Promise<FoundRow[] | undefined> {
  const condition = conditionOf(filter)
  if (condition === undefined) return undefined
  const version = await table.version()
  const rows = await rowsOf(table, { indexId, condition, version })
  if (!rows || rows.length === 0) return rows && []
  const nearest = rows
    .map((row) => ({ id: row.id, distance: 1 - cosine(vector, row.vector) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, limit)
  const distances = new Map(nearest.map(({ id, distance }) => [id, distance]))
  // The filter binds here as well: whatever the ids stand for by now, no other row comes through.
  const query = table.query().where(`(${condition}) AND _rowid IN (${[...distances.keys()].join(', ')})`)
  const hits: FoundRow[] = []
  for await (const batch of query.select([...hitColumns]).withRowId())
    for (const row of batch)
      hits.push({ text: row['text'], [metadataColumn]: row[metadataColumn], _distance: distances.get(row['_rowid'])! })
  return (await table.version()) === version ? hits : undefined
}

async function rowsOf(
  table: Table,
  { indexId, condition, version }: { readonly indexId: string; readonly condition: string; readonly version: number },
): Promise<KeptFilter['rows']> {
  // Of a table that was made anew the versions begin at 1 again.
  const key = `${indexId} ${condition}`
  const all = kept.get(table) ?? { entries: new Map<string, KeptFilter>(), bytes: 0 }
  kept.set(table, all)
  let entry = all.entries.get(key)
  if (entry?.version !== version) entry = { version, bytes: 2 * key.length + bytesBeside }
  else if (!entry.rows) {
    const rows = await readVectors(table, condition)
    // Read from a later one.
    if ((await table.version()) !== version) return undefined
    entry = { version, rows, bytes: rows.reduce((sum, { vector }) => sum + vector.byteLength, entry.bytes) }
  }
  all.bytes += entry.bytes - (all.entries.get(key)?.bytes ?? 0)
  all.entries.delete(key)
  all.entries.set(key, entry)
  for (const [oldest, { bytes: freed }] of all.entries) {
    if (all.bytes <= mostBytes) break
    all.bytes -= freed
    all.entries.delete(oldest)
  }
  return entry.rows
}

async function readVectors(table: Table, condition: string): Promise<{ id: bigint; vector: Float32Array }[]> {
  const rows: { id: bigint; vector: Float32Array }[] = []
  for await (const batch of table.query().where(condition).select(['vector']).withRowId())
    for (const row of batch) rows.push({ id: row['_rowid'], vector: Float32Array.from(row['vector'].toArray()) })
  return rows
}
