import { prepared, type RecordEvents } from '@inlay/records'
import { checkRequired, InlayError, isInlayError, isObject } from '@inlay/protocol'
import { addForegroundCalls } from '@inlay/scheduling'
import type { Kysely } from 'kysely'
import { privateFilesPair } from './access-and-filters/permissions.ts'
import { isFileNamed } from './access-and-filters/document-images.ts'
import { createDocumentSets } from './access-and-filters/document-sets.ts'
import { listTags } from './access-and-filters/document-tags.ts'
import { listDocuments, listSources, readableAmong, readStatus } from './access-and-filters/documents.ts'
import { resolveFilters } from './access-and-filters/search-filters.ts'
import { createPairs } from './access-and-filters/pairs.ts'
import type { DocumentHooks } from './contracts/document-hooks.ts'
import type { FileExtractor, FileStore } from './contracts/files.ts'
import type { Knowledge } from './contracts/knowledge.ts'
import type { ImageDescriber, ImageStore, Summarizer } from './contracts/models.ts'
import type { Reranker } from './contracts/search.ts'
import type { IngestionStep } from './contracts/steps.ts'
import type { Embedder, VectorIndex } from './contracts/vector-index.ts'
import type { WorkerOptions } from './indexing/worker.ts'
import { createIngestion } from './ingestion.ts'
import type { DocumentLimits } from './intake/quota.ts'
import { createFileIntake } from './intake/file-document.ts'
import { createFigures } from './figures/figures.ts'
import { createFiguresSampler } from './figures/figures-sample.ts'
import { countUnsettled } from './queue/queue-status.ts'
import { createFullDiskNote } from './figures/full-disk.ts'
import { createReadiness, rebuildOf } from './figures/readiness.ts'
import { EmbeddingCalls } from './calls/embedding.ts'
import type { Records } from './schema/tables.ts'
import { readChunks, readExcerpt, readSize } from './search/excerpt.ts'
import { findByLink } from './search/linked-document.ts'
import { createPrivateFileIndex } from './search/private-file-index.ts'
import type { RankingOptions } from './search/reranking.ts'
import { createSearchGate, type SearchGateOptions } from './search/concurrent-searches.ts'
import { search } from './search/find-visible-passages.ts'
import { createMigratingIndex } from './reindexing/migrating-index.ts'

export interface KnowledgeOptions {
  /** A database with the tables of `migrateKnowledge`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables in the shared database
  readonly db: Kysely<any>
  readonly index: VectorIndex
  /** Without it, only keyword search is used. */
  readonly embedder?: Embedder
  /** Maximum wait for the vector of a query, in milliseconds; after it, only keyword search is used. Default 300. */
  readonly queryVectorMs?: number | undefined
  /** Reorders the best hits of the index. Without it, their order stays. */
  readonly reranker?: Reranker
  readonly ranking?: RankingOptions
  /** Extracts the text of files for `ingestFile`, e.g. `fileExtractor` of the drivers. */
  readonly readFile?: FileExtractor
  /** Store of section images. Without it, image ids are not checked. */
  readonly images?: ImageStore
  /** Store of files that documents reference as tables or raw files. Tables are read with `readFile`. */
  readonly files?: FileStore
  /** Describes images, so that they can be found. Default: images are not described. */
  readonly describeImage?: ImageDescriber
  /**
   * Summarizes documents and chunks. Summaries are searched but never shown. Default: none. Called once for a document
   * with several chunks, and once for each of these; an unchanged chunk keeps its summary.
   */
  readonly summarize?: Summarizer
  /** Milliseconds since 1970 UTC. Default: the system clock. */
  readonly now?: () => number
  /** A number in [0, 1), for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number
  readonly worker?: WorkerOptions
  /** Called before documents are claimed: while it resolves to true, they wait. Default: they never do. */
  readonly isPaused?: () => Promise<boolean>
  /** Callbacks of the host around documents. */
  readonly hooks?: DocumentHooks | undefined
  /** Records an event for each document that becomes searchable or fails, in the same transaction. Default: none. */
  readonly recordEvents?: RecordEvents | undefined
  /** Maximum amounts that are stored at a time; above them, `accept` throws RATE_LIMITED. Default: none. */
  readonly limits?: DocumentLimits | undefined
  /** Maximum number of waiting documents; above it, `accept` throws RATE_LIMITED. Default 200 000. */
  readonly maxQueued?: number
  /**
   * Concurrent searches of the index, and running and waiting searches per caller, above which `search` throws
   * RATE_LIMITED. Default: twice the number of processors, and 16 times as many per caller.
   */
  readonly searches?: Partial<SearchGateOptions>
  /**
   * SHA-256 of UTF-8 text as hexadecimal digits, e.g. `(text) => hash('sha256', text)` of `node:crypto`. Default: WebCrypto,
   * which runs everywhere but takes several times as long for a short document.
   */
  readonly sha256?: (text: string) => string
  /** Receives unexpected errors, unredacted. */
  readonly onError?: (error: unknown) => void
  /** Called and awaited at each named step. For tests. */
  readonly at?: (step: IngestionStep) => void | Promise<void>
}

function defaultGate(): SearchGateOptions {
  const limit = 2 * Math.max(1, navigator.hardwareConcurrency ?? 1)
  return { limit, limitPerCaller: 16 * limit }
}

/** Creates ingestion and search. Call `migrateKnowledge` on the database first. */
export function createKnowledge(options: KnowledgeOptions): Knowledge {
  checkRequired(
    'createKnowledge',
    options,
    'embedder queryVectorMs reranker ranking readFile images files describeImage summarize now random worker isPaused hooks recordEvents limits maxQueued searches sha256 onError at',
    {
      db: ['a Kysely database', isObject],
      index: ['a vector index, such as lancedbIndex({ folder })', isObject],
    },
  )
  const { embedder, reranker, ranking, now = Date.now, random = Math.random } = options
  const disk = createFullDiskNote()
  let isClosing = false
  const onError = (error: unknown): void => {
    // Caused by closing alone.
    if (isClosing && isInlayError(error) && error.code === 'CLOSED') return
    disk.note(error)
    options.onError?.(error)
  }
  const db: Records = options.db
  const index = createMigratingIndex({
    db,
    index: options.index,
    embedder,
    isReadOnly: options.worker?.indexes === false,
    now,
    onError,
    onRebuild: () => ingestion.noteRebuild(),
    onMove: () => ingestion.noteMove(),
    onOpen: () => ingestion.noteOpen(),
  })
  const { worker: { embedTimeoutMs: documentTimeoutMs } = {}, queryVectorMs: queryTimeoutMs } = options
  const embedding = embedder && new EmbeddingCalls({ embedder, documentTimeoutMs, queryTimeoutMs, onError })
  const ingestion = createIngestion({ ...options, db, index, embedding, now, random, onError, onRefused: disk.note })
  const { worker: { owner = crypto.randomUUID(), isGone } = {} } = options
  const sampler = createFiguresSampler({ db, index, owner, ...(isGone && { isGone }), now, onError })
  const gate = createSearchGate({ ...defaultGate(), ...options.searches })
  const removeForegroundCalls = addForegroundCalls(gate.isAwaited)
  const { takesVectors } = index
  const lacksDocuments = async (): Promise<boolean> => {
    const spaces = await index.spaces()
    return spaces.some(({ phase }) => phase === 'lost') && (await rebuildOf(spaces, sampler)) !== undefined
  }
  /** Reads under way, which closing waits for. */
  const reads = new Set<Promise<unknown>>()
  const reading = <Result>(read: Promise<Result>): Promise<Result> => {
    reads.add(read)
    return read.finally(() => reads.delete(read))
  }
  const context = { db, index, gate, embedding, takesVectors, lacksDocuments, reranker, ranking, now, onError }
  return {
    pairs: createPairs({ db, now, onResume: ingestion.notify, onRemove: ingestion.noteRemoval }),
    documentSets: createDocumentSets({ db, now }),
    privateFiles: createPrivateFileIndex({ ...ingestion, context }),
    accept: ingestion.accept,
    ingestFile: createFileIntake(options.readFile, ingestion.accept),
    changeDocument: ingestion.changeDocument,
    remove: ingestion.remove,
    requeue: ingestion.requeue,
    reindex: ingestion.reindex,
    readiness: createReadiness({ ...ingestion, index, sampler, fullDisk: disk.message }),
    embedder: index.embedder,
    embed: async (texts, signal) => {
      if (!embedding)
        throw new InlayError('NOT_IMPLEMENTED', {
          message: 'There is no embedder: set INLAY_EMBEDDING_MODEL or the option embedder.',
        })
      return reading(embedding.embedDocuments(texts, signal && { signal }))
    },
    whenIdle: ingestion.whenIdle,
    start: ingestion.start,
    compareIndex: ingestion.compareIndex,
    close: async () => {
      isClosing = true
      await Promise.allSettled([sampler.whenIdle(), ...reads])
      await ingestion.close().finally(removeForegroundCalls)
    },
    status: (id, { caller, withTags } = {}) => readStatus(db, id, caller, withTags),
    list: (query = {}, { caller } = {}) => listDocuments(db, query, caller),
    sources: ({ caller } = {}) => listSources(db, caller),
    tags: (query = {}, { caller } = {}) => listTags(db, query, caller),
    namesFile: (id, { caller } = {}) => isFileNamed(db, { id, caller, now: now() }),
    hasDocuments: async () => (await anyDocument(db, {})).length > 0,
    search: (request) => reading(search(request, context)),
    excerpt: (request) => reading(readExcerpt(request, { db, index })),
    chunks: (request) => reading(readChunks(request, { db, index })),
    readable: (ids, { caller } = {}) => readableAmong(db, ids, caller),
    size: (documentId, { caller } = {}) => reading(readSize({ documentId, caller }, { db, index })),
    byLink: (request) => reading(findByLink(request, { db, index })),
    checkFilters: async (filters, { caller } = {}) => void (await resolveFilters(db, filters, caller)),
    waiting: () => countUnsettled(db),
    ...createFigures(ingestion, { db, index, sampler, now }),
  }
}

const anyDocument = prepared((db: Records) =>
  db.selectFrom('inlay_document_pairs').select('document_id').where('pair_id', '<', privateFilesPair).limit(1),
)
