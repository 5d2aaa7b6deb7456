import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { searchColumn } from '@inlay/drivers/internal/lancedb/rows'
import { tableName } from '@inlay/drivers/internal/lancedb/table'
import { opensearchIndex } from '@inlay/drivers/opensearch'
import { pgvectorIndex } from '@inlay/drivers/pgvector'
import type { VectorIndex } from '@inlay/knowledge'
import pg from 'pg'
import { startCluster, type OpenSearchCluster } from '../engines/opensearch-cluster.ts'

/** An index to measure. */
export interface Engine {
  readonly index: VectorIndex
  /** Memory of the processes that hold the index, in bytes. */
  memory(): number
  /** Size of the index in bytes. */
  disk(): Promise<number>
  close(): Promise<void>
  /** The engine without Inlay, on the same table. */
  openBare?(): Promise<BareEngine>
}

/** An engine as its own users call it. */
export interface BareEngine {
  /** Its own hybrid search, with its defaults. */
  hybrid(question: { readonly text: string; readonly vector: Float32Array }): Promise<unknown>
  /** Ids of the documents of the ten nearest rows, by a search with its defaults. */
  nearest(vector: Float32Array): Promise<readonly string[]>
  close(): void
}

/** Place of the index after the run. */
export interface Kept {
  readonly folder: string
  /** Rows that it is to hold. */
  readonly size: number
}

/** How the engines are opened, by name. */
export const engines: Readonly<Record<string, (kept?: Kept) => Promise<Engine>>> = { lancedb, opensearch, pgvector }

async function lancedb(kept?: Kept): Promise<Engine> {
  const folder = kept ? join(kept.folder, `lancedb-${kept.size}`) : mkdtempSync(join(tmpdir(), 'inlay-bench-million-'))
  const index = lancedbIndex({ folder })
  return {
    index,
    memory: () => memoryOf(process.pid),
    disk: () => bytesOf(index),
    close: async () => {
      await index.close()
      if (!kept) rmSync(folder, { recursive: true, force: true })
    },
    openBare: () => openBareTable(folder),
  }
}

async function openBareTable(folder: string): Promise<BareEngine> {
  // Not before the benchmark has said what the engine is to log.
  const { connect, MatchQuery, rerankers } = await import('@lancedb/lancedb')
  const connection = await connect(folder)
  const table = await connection.openTable(tableName)
  const reranker = await rerankers.RRFReranker.create()
  return {
    hybrid: ({ text, vector }) =>
      table
        .query()
        .fullTextSearch(new MatchQuery(text, searchColumn))
        .nearestTo(vector)
        .rerank(reranker)
        .select(['document_id', 'text'])
        .limit(10)
        .toArray(),
    nearest: async (vector) => {
      const rows = await table.vectorSearch(vector).select(['document_id']).limit(10).toArray()
      return rows.map((row) => row.document_id)
    },
    close: () => {
      table.close()
      connection.close()
    },
  }
}

/** One cluster holds the kept indexes of all sizes. */
let keeping: Promise<OpenSearchCluster> | undefined
let stopping: Promise<void> | undefined

/** Three nodes, one shard each, no copies. */
async function opensearch(kept?: Kept): Promise<Engine> {
  const folder = kept && join(kept.folder, 'opensearch')
  if (folder) mkdirSync(folder, { recursive: true })
  const cluster = await (folder ? (keeping ??= startCluster('-Xmx1g', folder)) : startCluster('-Xmx1g'))
  const prefix = kept && `inlay-${kept.size}`
  const index = opensearchIndex({
    nodes: cluster.nodes,
    shards: 3,
    replicas: 0,
    timeoutMs: 600_000,
    ...(prefix && { prefix }),
  })
  return {
    index,
    memory: () => cluster.pids.reduce((sum, pid) => sum + memoryOf(pid), 0),
    disk: () => bytesOf(index),
    close: async () => {
      await index.close()
      await (kept ? (stopping ??= flushAndStop(cluster)) : cluster.stop())
    },
  }
}

/** Rows that are only in the log of a node come back in segments of their own. */
async function flushAndStop(cluster: OpenSearchCluster): Promise<void> {
  await fetch(`${cluster.nodes[0]}/_flush`, { method: 'POST' })
  await cluster.stop()
}

/** A server of your own with the extension: `INLAY_BENCH_POSTGRES=postgres://…`. */
async function pgvector(kept?: Kept): Promise<Engine> {
  const connectionString = process.env['INLAY_BENCH_POSTGRES']
  if (connectionString === undefined) throw new Error('set INLAY_BENCH_POSTGRES to the address of a server')
  const pool = new pg.Pool({ connectionString, max: 10 })
  const index = pgvectorIndex({ client: pool, prefix: `bench_${kept?.size ?? process.pid}` })
  // The server's parent process, when it runs on this machine.
  const parent = Number(process.env['INLAY_BENCH_POSTGRES_PID'] ?? 0)
  return {
    index,
    memory: () => (parent === 0 ? 0 : memoryOf(parent)),
    disk: () => bytesOf(index),
    close: async () => {
      await (kept ? index.close() : index.drop?.())
      await pool.end()
    },
  }
}

async function bytesOf(index: VectorIndex): Promise<number> {
  return (await index.figures()).bytes ?? 0
}

/** Memory of a process and its children; pages that several share are counted once. Linux only. */
function memoryOf(root: number): number {
  if (!existsSync('/proc/self/smaps_rollup')) return root === process.pid ? process.memoryUsage.rss() : 0
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === root)
  const own = /^Pss:\s+(\d+)/m.exec(read(`/proc/${root}/smaps_rollup`))
  return Number(own?.[1] ?? 0) * 1024 + children.reduce((sum, child) => sum + memoryOf(Number(child)), 0)
}

const parentOf = (pid: string): number => Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1])

/** Empty for a process that has just ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
