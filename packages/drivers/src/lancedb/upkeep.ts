import type { IndexConfig, Table } from '@lancedb/lancedb'
import { isMiss, isPassing, type Engine } from './engine.ts'
import type { Space } from '../hybrid-search/open-state.ts'
import type { RenewableTable } from './table.ts'
import { textIndex, type UnindexedRows, type Memtable } from './text/memtable.ts'
import type { TermStatistics } from './text/term-statistics.ts'
import type { Purge } from './purge.ts'

export interface UpkeepParts {
  readonly engine: Engine
  readonly table: Table
  readonly renewable: RenewableTable
  readonly space: Space | undefined
  readonly unindexedRows: UnindexedRows
  readonly memtable: Memtable
  readonly statistics: TermStatistics
  readonly keepVersionsMs: number
  readonly vectorIndexRows: number
  readonly exactVectorBytes: number
  readonly purge: Purge
  /** Writes of this process that are not in the full-text index yet. */
  readonly writes: { count: number }
}

/** Adds new rows to the indexes ("fold"), merges small files and removes old versions, when due. */
export interface Upkeep {
  /** Runs the work that is due; after a conflict with another writer, the rest is left for later. One run at a time. */
  run(options: { idle: boolean; signal?: AbortSignal }): Promise<void>
  /** Adds new rows to the full-text index, whether due or not. */
  fold(): Promise<void>
}

/**
 * When a fold is due, from measurements: each commit leaves a version and a file, an unindexed row costs a search 20 to
 * 40 µs (unless it is in memory), and a fold takes about 35 µs per row of the table. So in a small index even a single
 * row is worth a fold. A large index folds later.
 */
const limits = {
  commits: 100,
  idleCommits: 20,
  unindexedRows: 500,
  unindexedShare: 0.01,
  /** Threshold for rows that are searched in memory meanwhile. */
  memtableShare: 0.05,
  rowsWorthOne: 1000,
  deadRows: 2000,
}

/** Maximum number of consecutive runs that may fail because of a missing file. */
const maxMisses = 5

export function createUpkeep(parts: UpkeepParts): Upkeep {
  const { table, renewable, unindexedRows, memtable, statistics, keepVersionsMs, purge, writes } = parts
  let misses = 0
  /** When versions left by the last fold may be removed; files of an earlier process may be due at once. */
  let clearAt: number | undefined = 0

  async function isDue(idle: boolean): Promise<boolean> {
    const [index, stats] = await Promise.all([table.indexStats(textIndex), table.stats()])
    const unindexed = index?.numUnindexedRows ?? 0
    if (idle && (unindexed * limits.rowsWorthOne > stats.numRows || writes.count > limits.idleCommits)) return true
    if (clearAt !== undefined && Date.now() >= clearAt && (idle || clearAt > 0)) return true
    const { numFragments, numSmallFragments, lengths } = stats.fragmentStats
    const isInMemory = (await unindexedRows.place()) !== 'table'
    const share = isInMemory ? limits.memtableShare : limits.unindexedShare
    const dead = numFragments * lengths.mean - stats.numRows
    return (
      writes.count >= limits.commits ||
      numSmallFragments > limits.commits ||
      unindexed > Math.max(limits.unindexedRows, stats.numRows * share) ||
      memtable.fill > 0.5 ||
      dead > Math.max(limits.deadRows, stats.numRows)
    )
  }

  async function fold(): Promise<void> {
    const [counted, begun] = [writes.count, Date.now()]
    await unindexedRows.fold(async () => {
      await table.optimize({ cleanupOlderThan: new Date(begun - keepVersionsMs) })
    })
    writes.count -= counted
    statistics.outdate(await table.countRows())
    // Once more after the retention time, unless this run left nothing.
    clearAt = counted > 0 || clearAt === 0 ? Date.now() + keepVersionsMs : undefined
    // Errors are ignored: the compaction is complete, and the next one tries again.
    await renewable.folded().catch(() => {})
  }

  const run: Upkeep['run'] = async ({ idle, signal }) => {
    const isPurgeDue = (await purge.dueMs()) === 0
    if (!(isPurgeDue || (await isDue(idle))) || signal?.aborted) return
    try {
      if (isPurgeDue) {
        unindexedRows.expectOthers()
        await purge.run()
        writes.count++
      }
      await fold()
      if (!signal?.aborted) await indexVectors(parts)
      misses = 0
    } catch (error) {
      // Another writer came in between: left for later. A missing file may have the same cause, but not repeatedly.
      if (!isPassing(error) || (isMiss(error) && ++misses >= maxMisses)) throw error
    }
  }

  return { run, fold }
}

/**
 * Below about 50,000 rows, comparing all vectors is as fast. IVF_FLAT keeps vectors exact and is cheap to build and
 * fold, but each search reads most of it: from disk if it is larger than the cache. IVF_RQ is a thirtieth of that size.
 */
async function indexVectors(parts: UpkeepParts): Promise<void> {
  const { engine, table, space, vectorIndexRows, exactVectorBytes } = parts
  if (!space) return
  const rows = await table.countRows()
  if (rows < vectorIndexRows) return
  // RaBitQ requires dimensions that are a multiple of eight.
  const isExact = rows * space.dimensions * 4 <= exactVectorBytes || space.dimensions % 8 !== 0
  const present = await vectorIndexOf(table)
  if (present !== undefined && (isExact || present.indexType === 'IvfRq')) return
  const { Index } = engine.lancedb
  const distanceType = 'cosine'
  const config = isExact
    ? Index.ivfFlat({ distanceType, numPartitions: Math.ceil(Math.sqrt(rows)) })
    : Index.ivfRq({ distanceType, numPartitions: Math.ceil(rows / rowsOfPartition) })
  // The existing index is used until the new one is complete.
  await table.createIndex('vector', { config, replace: present !== undefined })
}

/** Later folds merge smaller partitions and split larger ones to this size. */
const rowsOfPartition = 4096

/** The index used for vector search, `IvfFlat` or `IvfRq`; undefined if all vectors are compared. */
export async function vectorIndexOf(table: Table): Promise<IndexConfig | undefined> {
  return (await table.listIndices()).find(isOfVectors)
}

export function isOfVectors({ columns }: IndexConfig): boolean {
  return columns[0] === 'vector'
}
