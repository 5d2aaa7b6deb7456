import { checkRequired, isText } from '@inlay/protocol'
import type { Hit, IndexFigures, IndexQuery, VectorIndex } from '@inlay/knowledge'
import { createMutex, type Mutex } from '@inlay/scheduling'
import { besideOf, bucketLocation, isBucket } from './bucket-location.ts'
import { createAppend } from './append.ts'
import type { Processes, WriterPresence } from './writer-presence.ts'
import { checkInstalled, closeWhenFree, createHandle, loadEngine, persistently } from './engine.ts'
import { among, eachGeneration, readGenerations, readRows } from './filtered-search.ts'
import { folderLocation } from './folder-location.ts'
import { fuse } from '../hybrid-search/fusion.ts'
import type { IndexLocation } from './location.ts'
import { checkVector, noSpace, type Space } from '../hybrid-search/open-state.ts'
import { createUnindexedRows, Memtable, textIndex } from './text/memtable.ts'
import { openTable, type OpenTable, type RenewableTable } from './table.ts'
import { searchText, type TextParts } from './text/text-search.ts'
import { createPurge, type Purge } from './purge.ts'
import { createUpkeep, type Upkeep } from './upkeep.ts'
import { searchVectors } from './vectors.ts'
import { createTermStatistics } from './text/term-statistics.ts'
import { createTerms } from './text/words-and-spelling.ts'

export type { Processes }
export { checkInstalled }

export interface LancedbOptions {
  /**
   * Folder on a local disk, created if missing, or a location in a bucket: `s3://bucket/path`. Any number of processes
   * may share it.
   */
  readonly folder: string
  /**
   * Settings for the bucket, with the engine's names: `region`, `endpoint`, `aws_access_key_id`,
   * `aws_secret_access_key`. Default: the AWS variables of the environment.
   */
  readonly storageOptions?: Readonly<Record<string, string>>
  /** How long superseded versions are kept for readers in other processes, in milliseconds. Default 10 000. */
  readonly keepVersionsMs?: number
  /**
   * Maximum time until deleted rows are removed from disk, in milliseconds, in addition to `keepVersionsMs`. Default
   * one day. It rewrites each file with deleted rows: up to a million rows.
   */
  readonly purgeMs?: number
  /** Weight of the vectors in searches that also have text, 0 to 1. Default: estimated for each query. */
  readonly vectorShare?: number
  /**
   * Maximum number of characters of rows that are searched in memory until they are indexed; vectors count too. Default
   * 32 million. Above it, the engine scans unindexed rows.
   */
  readonly memtableCharacters?: number
  /** Detects handles of processes that have ended. Absent: such a handle expires after a minute. */
  readonly processes?: Processes
  /** Number of rows from which vectors get an index (IVF_FLAT). Default 50 000; below, all vectors are compared. */
  readonly vectorIndexRows?: number
  /**
   * Bytes of vectors up to which that index stores them uncompressed. Above it they are quantized (IVF_RQ), and the
   * best are compared uncompressed. Default 100 million: 65,000 vectors with 384 dimensions.
   */
  readonly exactVectorBytes?: number
  /** URL of the built `@inlay/drivers/lancedb-check`, for apps whose bundler moves this module. */
  readonly checkUrl?: URL
}

/** TypeScript sources run directly in Node; the build contains only JavaScript. CommonJS bundles have no URL. */
const ownCheck = (url: string | undefined): URL | undefined =>
  url === undefined ? undefined : new URL(`./check${url.endsWith('.ts') ? '.ts' : '.js'}`, url)

interface Opened extends TextParts {
  readonly renewable: RenewableTable
  readonly space: Space | undefined
  readonly presence: WriterPresence
  readonly purge: Purge
  readonly upkeep: Upkeep
  readonly append: ReturnType<typeof createAppend>
  readonly searched: { until: number }
  readonly writes: { count: number }
}

/**
 * An index in a local folder or a bucket, with LanceDB: full-text search that tolerates misspelled words, and vectors
 * if it is opened with a space. `open` loads the engine. Safe against `kill -9` at any time. Run
 * `vectorIndexConformance`.
 * @example const index = lancedbIndex({ folder: 'data/index' })
 */
export function lancedbIndex(options: LancedbOptions): VectorIndex {
  checkRequired(
    'lancedbIndex',
    options,
    'storageOptions keepVersionsMs purgeMs vectorShare memtableCharacters processes vectorIndexRows exactVectorBytes checkUrl',
    { folder: ['the path of a folder, or s3://bucket/path', isText] },
  )
  const { folder, keepVersionsMs = 10_000, vectorShare, checkUrl = ownCheck(import.meta.url) } = options
  // Deletes and maintenance exclude each other, since maintenance would fail otherwise. Appends may run concurrently.
  const exclusively = createMutex()
  const location = isBucket(folder)
    ? bucketLocation(folder, options.storageOptions)
    : folderLocation(folder, { processes: options.processes, checkUrl })
  const handle = createHandle(
    (space: Space | undefined, whenIdle) => assemble(options, { location, space, exclusively, whenIdle }),
    // A fold may still run after the call that started it.
    ({ renewable, presence }) =>
      exclusively(async () => {
        await renewable.close()
        await presence.leave()
      }),
    location.workNote,
  )
  const { use } = handle
  let wanted: Space | undefined
  return {
    keepVersionsMs,
    open: (space) => {
      wanted = space
      return handle.open(space)
    },
    append: (rows) =>
      use(async ({ space, append }) => {
        for (const { vector } of rows) if (vector || space) checkVector(vector, space)
        if (rows.length > 0) await append(rows)
      }),
    remove: (generations) =>
      use(async (parts) => {
        if (generations.length > 0) await exclusively(() => removeRows(parts, generations))
      }),
    async search(query) {
      query.signal?.throwIfAborted()
      const hits = await use((parts) => {
        if (query.vector) checkVector(query.vector, parts.space ?? noSpace)
        parts.searched.until = performance.now() + searchedMs
        return persistently(() => find(parts, query, vectorShare))
      })
      query.signal?.throwIfAborted()
      return hits
    },
    read: (generation, from, to, { vectors = false } = {}) =>
      use((parts) => persistently(() => readRows(parts, { generation, from, to, vectors }))),
    readAll: (generations) => use((parts) => persistently(() => readGenerations(parts, generations))),
    maintain: ({ idle = false, signal } = {}) =>
      use(async (parts) => {
        await exclusively(() => parts.upkeep.run({ idle, signal }))
        const upkeepDueMs = await parts.purge.dueMs()
        return { ...(await figuresOf(parts, location)), ...(upkeepDueMs === undefined ? {} : { upkeepDueMs }) }
      }),
    figures: () => use((parts) => figuresOf(parts, location)),
    eachGeneration: (...given) => use(({ table }) => persistently(() => eachGeneration(table, ...given))),
    inspect: async ({ thorough = false, space = wanted } = {}) => {
      await checkInstalled()
      return location.inspect({ thorough, space })
    },
    mark: (identity) => location.mark(identity),
    close: () => handle.close(),
    staging: (number) => lancedbIndex({ ...options, folder: besideOf(folder, number) }),
    drop: async () => {
      await handle.close()
      await location.drop()
    },
  }
}

/** Searches count as recent for this long. */
const searchedMs = 10_000

interface OpeningParts {
  readonly location: IndexLocation
  readonly space: Space | undefined
  readonly exclusively: Mutex
  readonly whenIdle: () => Promise<unknown>
}

async function assemble(
  {
    keepVersionsMs = 10_000,
    vectorIndexRows = 50_000,
    memtableCharacters,
    purgeMs = 86_400_000,
    exactVectorBytes = 100_000_000,
  }: LancedbOptions,
  { location, space, exclusively, whenIdle }: OpeningParts,
): Promise<Opened> {
  const engine = await loadEngine()
  const open = (): Promise<OpenTable> => openTable(engine, location, space)
  const renewable = renewableTable(await open(), open, whenIdle)
  const { table } = renewable
  const terms = createTerms(engine)
  const memtable = new Memtable(terms, memtableCharacters)
  const presence = await location.openPresence(table)
  const unindexedRows = createUnindexedRows(table, memtable, presence)
  await unindexedRows.place()
  const statistics = createTermStatistics(engine, table, terms)
  const parts = {
    engine,
    renewable,
    table,
    space,
    presence,
    terms,
    memtable,
    unindexedRows,
    statistics,
    scanning: createMutex(),
    searched: { until: -Infinity },
    writes: { count: 0 },
  }
  const purge = createPurge({ engine, table, deletions: location.deletionsOf(table), purgeMs })
  const upkeep = createUpkeep({ ...parts, keepVersionsMs, vectorIndexRows, exactVectorBytes, purge })
  const fold = (): Promise<void> => exclusively(upkeep.fold)
  return { ...parts, purge, upkeep, append: createAppend({ ...parts, fold }) }
}

const foldsOfOneOpening = 10

/** The engine's cache keeps files open that a fold has deleted, which occupy the disk until its session is closed. */
function renewableTable(
  first: OpenTable,
  open: () => Promise<OpenTable>,
  whenIdle: () => Promise<unknown>,
): RenewableTable {
  let current = first
  let folds = 0
  // Forwards every use to the current table, so that nobody keeps a reference to a replaced one.
  const table = new Proxy({} as OpenTable['table'], {
    get: (_, name) => {
      const member: unknown = Reflect.get(current.table, name)
      return typeof member === 'function' ? member.bind(current.table) : member
    },
  })
  return {
    table,
    folded: async () => {
      if (++folds < foldsOfOneOpening) return
      const replaced = current
      current = await open()
      folds = 0
      // Running calls may still use it.
      void whenIdle()
        .then(() => closeTable(replaced))
        // Then its files stay open until the process ends.
        .catch(() => {})
    },
    close: () => closeTable(current),
  }
}

async function closeTable({ table, connection }: OpenTable): Promise<void> {
  await closeWhenFree(table)
  await closeWhenFree(connection)
}

async function find(parts: Opened, query: IndexQuery, share: number | undefined): Promise<Hit[]> {
  const { text = '', vector, filter, limit, signal } = query
  if (!vector) return (await searchText(parts, { text, filter, limit, extra: [], signal })).map(({ hit }) => hit)
  // Rows a little further down in one result may be first after fusing.
  const reach = Math.max(2 * limit, 50)
  const [byWords, byVector] = await Promise.all([
    searchText(parts, { text, filter, limit: reach, extra: ['vector'], signal }),
    searchVectors(parts.table, { vector, filter, limit: reach }),
  ])
  if (byWords.length > 0) return fuse(byWords, byVector, { vector, share, text, limit })
  return byVector.slice(0, limit).map(({ hit, nearness }) => {
    const score = Math.min(1, Math.max(0, nearness))
    return { ...hit, score, ranking: { words: 0, vector: score, vectorWeight: 1 } }
  })
}

/** Maximum number of generations per delete: they are part of the condition text, and each delete creates a version. */
const maxIdsPerDelete = 2000

async function removeRows(
  { table, memtable, presence, writes }: Opened,
  generations: readonly string[],
): Promise<void> {
  for (let at = 0; at < generations.length; at += maxIdsPerDelete) {
    const batch = generations.slice(at, at + maxIdsPerDelete)
    await presence.commit(() => persistently(() => table.delete(among('generation', batch))))
    memtable.remove(new Set(batch))
    writes.count++
  }
}

async function figuresOf({ table }: Opened, location: IndexLocation): Promise<IndexFigures> {
  const [rows, index, bytes] = await Promise.all([
    table.countRows(),
    table.indexStats(textIndex),
    location.bytesOf(table),
  ])
  return { rows, unindexedRows: index?.numUnindexedRows ?? 0, bytes }
}
