import { createHash } from 'node:crypto'
import type { Hit, IndexFigures, IndexRow, VectorIndex } from '@inlay/knowledge'
import { InlayError, isJsonObject, checkRequired, isText } from '@inlay/protocol'
import { checkVector, createOpenState, noSpace, spaceName, type Space } from '../hybrid-search/open-state.ts'
import { createRecentValues } from '../hybrid-search/recent-values.ts'
import { hitFields, maxHits, searchIndex, toHits } from './search.ts'
import { nameOf, schemaOf, type OpenSearchLayout } from './schema.ts'
import { createCluster, isNoOpenSearch, unavailable, type Cluster, type OpenSearchConnection } from './transport.ts'
import { writeRows } from './writing.ts'

export interface OpenSearchOptions extends OpenSearchConnection, OpenSearchLayout {
  /** Name of the alias used for searches and writes. Default `inlay`. */
  readonly prefix?: string
  /** Weight of the vectors in searches that also have text, 0 to 1. Default: estimated for each query. */
  readonly vectorShare?: number
}

const defaultPrefix = 'inlay'
/** Maximum number of attempts for a call that a person waits for: retries end within 1.8 s. */
const triesOfAwaited = 3
/** Timeout for merging and deleting many rows. */
const longMs = 600_000
/** The merge continues in the cluster afterwards; Node's `fetch` would fail after five minutes. */
const mergeMs = 240_000

/**
 * An index in OpenSearch 2.13 or newer, for any number of processes: BM25, vectors with the k-NN plugin (Lucene's
 * HNSW), filters applied before the limit in both. `prefix` is an alias, so the rows can be moved to an index with
 * another number of shards. Appends are sent in bounded batches, and wait when the cluster is busy. Run
 * `vectorIndexConformance`.
 * @example opensearchIndex({ nodes: ['http://search-1:9200', 'http://search-2:9200'], shards: 3 })
 */
export function opensearchIndex(options: OpenSearchOptions): VectorIndex {
  checkRequired(
    'opensearchIndex',
    options,
    'prefix vectorShare username password headers fetch timeoutMs shards replicas language',
    {
      nodes: [
        'the URL of a node, such as http://localhost:9200, or a list of them',
        (nodes) => isText(nodes) || (Array.isArray(nodes) && nodes.length > 0 && nodes.every(isText)),
      ],
    },
  )
  const prefix = options.prefix ?? defaultPrefix
  const name = nameOf(prefix)
  const cluster = createCluster(options)
  const awaited: Cluster = (call) => cluster({ ...call, tries: triesOfAwaited, isAwaited: true })
  const searched = {
    cluster: awaited,
    name,
    vectorShare: options.vectorShare,
    counts: createRecentValues<number>(60_000, 1_000),
  }
  const state = createOpenState<{ readonly space: Space | undefined }>()
  return {
    open: async (space) => {
      state.refuseClosed()
      await create(cluster, name, schemaOf(options, space))
      const { space: filledFrom } = (await metaOf(cluster, name)) ?? {}
      if (filledFrom !== spaceName(space)) throw new InlayError('INDEX_MISMATCH')
      state.set({ space })
    },
    append: async (rows) => {
      const { space } = state.get()
      for (const { vector } of rows) checkVector(vector, space)
      if (rows.length > 0) await writeRows(cluster, name, rows.map(toLines))
    },
    remove: async (generations) => {
      state.get()
      await removeGenerations(cluster, name, generations)
    },
    search: async (query) => {
      const { space } = state.get()
      query.signal?.throwIfAborted()
      if (query.vector) checkVector(query.vector, space ?? noSpace)
      return searchIndex(searched, query)
    },
    read: async (generation, from, to, { vectors = false } = {}) => {
      const { space } = state.get()
      return readRows(awaited, name, { generation, from, to, vector: vectors ? space : undefined })
    },
    maintain: async (how) => {
      state.get()
      return maintainIndex(cluster, name, how)
    },
    figures: async () => {
      state.get()
      const { rows, unindexedRows, bytes } = await figuresOf(cluster, name)
      return { rows, unindexedRows, bytes }
    },
    eachGeneration: async (listener, signal) => {
      state.get()
      await eachGeneration(cluster, name, listener, signal)
    },
    close: async () => {
      state.close()
    },
    staging: (number) => opensearchIndex({ ...options, prefix: `${prefix}-${Math.trunc(number)}` }),
    ...identification(cluster, name),
    drop: async () => {
      state.close()
      const { status, body } = await cluster({ method: 'GET', path: `/${name}`, accepts: [404] })
      if (status !== 404) await cluster({ method: 'DELETE', path: `/${Object.keys(body).join()}`, accepts: [404] })
    },
  }
}

function identification(cluster: Cluster, name: string): Required<Pick<VectorIndex, 'inspect' | 'mark'>> {
  return {
    inspect: async () => {
      // A single attempt: a failed search waits for the result, and the next failure inspects again.
      const meta = await metaOf((call) => cluster({ ...call, tries: 1, isAwaited: true }), name)
      if (meta === undefined) return { state: 'missing' }
      return { state: 'present', ...(typeof meta['identity'] === 'string' && { identity: meta['identity'] }) }
    },
    mark: async (identity) => {
      const _meta = { ...(await metaOf(cluster, name)), identity }
      await cluster({ method: 'PUT', path: `/${name}/_mapping`, body: { _meta } })
    },
  }
}

/** Creates the index behind the alias, unless it exists; another process may do the same concurrently. */
async function create(cluster: Cluster, name: string, schema: Record<string, unknown>): Promise<void> {
  // Short retries, since the first search opens the index.
  const look = { method: 'GET', path: `/${name}`, accepts: [404], tries: triesOfAwaited, isAwaited: true } as const
  const { status } = await cluster(look)
  // An existing index is used as it is: an unavailable shard on one node must not prevent searches of the others.
  if (status === 404) {
    const body = { ...schema, aliases: { [name]: {} } }
    const reply = await cluster({ method: 'PUT', path: `/${name}-000001`, body, accepts: [400] })
    const { error } = reply.body
    const kind = isJsonObject(error) ? String(error['type']) : ''
    if (reply.status === 400 && kind === 'mapper_parsing_exception')
      throw new InlayError('UNSUPPORTED', {
        message:
          'The search cluster has no k-NN plugin, or does not support vectors of this length: install the plugin, or use no embedder.',
      })
    if (reply.status === 400 && kind !== 'resource_already_exists_exception')
      throw unavailable(`The search cluster refused the index: ${kind}.`, false)
    await cluster({
      method: 'GET',
      path: `/_cluster/health/${name}?wait_for_status=yellow&timeout=20s`,
      accepts: [408],
    })
  }
}

/** Metadata of the index; undefined when it does not exist. */
async function metaOf(cluster: Cluster, name: string): Promise<Record<string, unknown> | undefined> {
  const { status, body } = await cluster({ method: 'GET', path: `/${name}/_mapping`, accepts: [404] })
  if (status === 404) return undefined
  const [index] = Object.values(body)
  if (!isJsonObject(index) || !isJsonObject(index['mappings'])) throw isNoOpenSearch()
  const { _meta: meta } = index['mappings']
  return isJsonObject(meta) ? meta : {}
}

/** Removes deleted rows from the segments of the index when it is idle. */
async function maintainIndex(
  cluster: Cluster,
  name: string,
  { idle = false, signal }: Parameters<VectorIndex['maintain']>[0] = {},
): Promise<IndexFigures> {
  const refresh = (): Promise<unknown> => cluster({ path: `/${name}/_refresh`, signal })
  const until = AbortSignal.any([AbortSignal.timeout(mergeMs), ...(signal ? [signal] : [])])
  const merge = async (how: string): Promise<void> => {
    if (until.aborted) return
    await cluster({ path: `/${name}/_forcemerge?${how}`, signal: until, timeoutMs: longMs }).catch((error: unknown) => {
      if (!until.aborted) throw error
    })
  }
  await refresh()
  const { deleted, segments, maxSegments, ...figures } = await figuresOf(cluster, name)
  if (idle && deleted > 0) await merge('only_expunge_deletes=true')
  if (idle && segments > maxSegments) await merge(`max_num_segments=${maxSegments}`)
  // Searches read the state of the last refresh, which may precede the merge.
  if (idle && !signal?.aborted) await refresh()
  return until.aborted ? { ...figures, upkeepDueMs: mergeMs } : figures
}

const removedAtOnce = 1_000

async function removeGenerations(cluster: Cluster, name: string, all: readonly string[]): Promise<void> {
  for (let at = 0; at < all.length; at += removedAtOnce) {
    // Only refreshed rows are found, and an append may have returned before its refresh.
    await cluster({ path: `/${name}/_refresh` })
    for (let conflicts = 1; conflicts > 0;) {
      const { body } = await cluster({
        path: `/${name}/_delete_by_query?refresh=true&conflicts=proceed`,
        body: { query: { terms: { generation: all.slice(at, at + removedAtOnce) } } },
        timeoutMs: longMs,
      })
      // Rows that were appended again concurrently.
      conflicts = Number(body['version_conflicts'] ?? 0)
    }
  }
}

/** Page size for listing generations; a cluster may refuse more than 65,535. */
const listedAtOnce = 5000

async function eachGeneration(
  cluster: Cluster,
  name: string,
  ...[listener, signal]: Parameters<Required<VectorIndex>['eachGeneration']>
): Promise<void> {
  await cluster({ path: `/${name}/_refresh`, signal })
  for (let after: unknown; ;) {
    const sources = [{ generation: { terms: { field: 'generation' } } }]
    const composite = { size: listedAtOnce, sources, ...(after === undefined ? {} : { after }) }
    const { body } = await cluster({
      // Without this, the results of an unreachable shard would be missing silently.
      path: `/${name}/_search?allow_partial_search_results=false`,
      body: { size: 0, track_total_hits: false, aggs: { generations: { composite } } },
      timeoutMs: longMs,
      signal,
    })
    const { generations } = body['aggregations'] as { generations: Listed }
    listener(generations.buckets.map(({ key }) => key.generation))
    after = generations.after_key
    if (generations.buckets.length < listedAtOnce) return
  }
}

interface Listed {
  readonly buckets: readonly { readonly key: { readonly generation: string } }[]
  readonly after_key?: unknown
}

interface RowRange {
  readonly generation: string
  readonly from: number
  readonly to: number
  /** The space, if vectors are wanted. */
  readonly vector: Space | undefined
}

async function readRows(cluster: Cluster, name: string, { generation, from, to, vector }: RowRange): Promise<Hit[]> {
  const all: Hit[] = []
  for (let start = from; start <= to;) {
    const { body } = await cluster({
      path: `/${name}/_search`,
      body: {
        size: Math.min(500, maxHits),
        _source: vector ? [...hitFields, 'vector'] : hitFields,
        query: { bool: { filter: [{ term: { generation } }, { range: { position: { gte: start, lte: to } } }] } },
        sort: [{ position: 'asc' }],
      },
    })
    const hits = toHits(body).map((hit) => ({ ...hit, score: 0 }))
    all.push(...hits)
    if (hits.length < 500) break
    start = hits.at(-1)!.position + 1
  }
  return vector ? all.map((hit) => ({ ...hit, vector: hit.vector ?? new Float32Array(vector.dimensions) })) : all
}

/** Maximum number of segments per shard of an idle index. Every vector search walks a graph per segment. */
const fewSegments = 8
/** The cluster does not merge segments beyond this size on its own. */
const maxSegmentBytes = 5 * 2 ** 30

interface Stats {
  readonly docs?: { readonly count: number; readonly deleted: number }
  readonly store?: { readonly size_in_bytes: number }
  readonly segments?: { readonly count: number }
}

async function figuresOf(cluster: Cluster, name: string) {
  const { body } = await cluster({ method: 'GET', path: `/${name}/_stats/docs,store,segments` })
  const { primaries, total } = body['_all'] as { primaries: Stats; total: Stats }
  const { successful: parts = 1 } = body['_shards'] as { successful?: number }
  const { count = 0, deleted = 0 } = primaries.docs ?? {}
  const bytesOfPart = (total.store?.size_in_bytes ?? 0) / parts
  return {
    rows: count,
    unindexedRows: 0,
    bytes: primaries.store?.size_in_bytes ?? 0,
    /** Rows that are still in the segments. */
    deleted,
    /** Average per shard. */
    segments: (total.segments?.count ?? 0) / parts,
    maxSegments: fewSegments + Math.floor(bytesOfPart / maxSegmentBytes),
  }
}

/** The same row always has the same id, so writing it twice has no effect. */
function toLines({ vector, ...row }: IndexRow): readonly [Record<string, unknown>, Record<string, unknown>] {
  const id = createHash('sha256').update(row.generation).digest('base64url')
  // A vector of zeros has no direction, and OpenSearch refuses it.
  const hasDirection = vector?.some((value) => value !== 0)
  return [
    { index: { _id: `${id}:${row.position}` } },
    hasDirection ? { ...row, vector: digitsOf(vector!) } : { ...row },
  ]
}

/** Enough digits to distinguish any two 32-bit floats; written as 64-bit numbers they take twice the space. */
const digitsOf = (vector: Float32Array): number[] => Array.from(vector, (value) => Number(value.toPrecision(9)))
