import type { BaseFilters, IngestionRequest, Principal, SearchDoc } from '@inlay/protocol'
import type { FileDocument, FileDocumentOptions } from './intake/file-document.ts'
import type { LinkRequest } from './search/link-contract.ts'
import type { PrivateFileIndex } from './search/private-file-index-contract.ts'

/**
 * Turns texts into vectors of one space.
 * Guarantees: the same text gives the same vector up to rounding; results come in the order of the texts; every vector has
 * `dimensions` finite numbers; an aborted call rejects. Run `embedderConformance` of `@inlay/knowledge/conformance`.
 */
export interface Embedder {
  /** Names the vector space: `provider/model@dimensions`. Vectors of two ids are never compared. */
  readonly id: string
  readonly dimensions: number
  /** Most texts in one call; Infinity when unlimited. */
  readonly batch: number
  embed(texts: readonly string[], use: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array[]>
}

/**
 * Judges how well texts answer a query, better than an index can: a cross-encoder, mostly behind HTTP.
 * Guarantees: one finite number a text, in the order of the texts; higher is better; an aborted call rejects.
 */
export interface Reranker {
  rerank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<readonly number[]>
}

/**
 * How much newer documents are preferred: each score is multiplied by `(1 - weight) + weight * 2^(-age / half-life)`,
 * the age being that of the document's own date, or of its acceptance when it has none.
 */
export interface Recency {
  /** Age in days at which half of the preference is left; above 0. */
  readonly halfLifeDays: number
  /** 0 to 1: what a very old document loses of its score. Default 0.5. */
  readonly weight?: number
}

/** One chunk of one generation of a document, as the index keeps it. Rows are never changed, only added and removed. */
export interface IndexRow {
  readonly documentId: string
  /** Names one indexed version of one document; unique over all documents and time. */
  readonly generation: string
  /** Number of the chunk in its document, from 0. */
  readonly position: number
  /** What is shown and given to a model. */
  readonly text: string
  /** What full-text search matches: title twice, text, parts of identifiers. */
  readonly searchText: string
  readonly source: string
  /** Each `key=value` with `key` percent-encoded where it holds `=` or `%`; see `toTag`. */
  readonly tags: readonly string[]
  /** Connector/credential pairs the document belongs to. */
  readonly pairs: readonly number[]
  /** Milliseconds since 1970 UTC: the document's own date, or when its present content was accepted. */
  readonly updatedAt: number
  /** The document's own date of its last change; null when it has none. */
  readonly ownUpdatedAt: number | null
  readonly createdAt: number | null
  /** JSON of what a passage shows besides its text (title, link, metadata, owners, …); opaque to the index. */
  readonly chunkMetadata: string
  /** Present exactly when the index was opened with a space; `dimensions` finite numbers. */
  readonly vector?: Float32Array
}

/** Milliseconds since 1970 UTC; both ends inclusive, either may be open. */
export interface TimeRange {
  readonly start?: number
  readonly end?: number
}

/** What narrows a search inside the index. All given parts bind together. */
export interface IndexFilter {
  readonly sources?: readonly string[]
  /** Rows in any of these pairs; an empty list matches nothing. */
  readonly pairs?: readonly number[]
  /** Each inner list is an OR of tags (one key), the lists are ANDed. */
  readonly tags?: readonly (readonly string[])[]
  readonly createdAt?: TimeRange
  readonly ownUpdatedAt?: TimeRange
  /** `time_cutoff`: updated or created at or after this moment. */
  readonly updatedOrCreatedSince?: number
  readonly documentIds?: readonly string[]
}

/** A row found. `score` lies in [0, 1], higher is nearer, comparable only inside one result. */
export interface Hit {
  readonly documentId: string
  readonly generation: string
  readonly position: number
  readonly text: string
  readonly chunkMetadata: string
  readonly source: string
  readonly updatedAt: number
  readonly score: number
  /** Only in a `read` that asked for it. */
  readonly vector?: Float32Array
}

/** What an index holds and owes. */
export interface IndexFigures {
  readonly rows: number
  /** Rows not yet folded into the full-text index. */
  readonly unindexedRows: number
  readonly bytes?: number
  /** When `maintain` has something to do again though nothing is written, in milliseconds from now. */
  readonly upkeepDueMs?: number
}

/** What is in the place of an index. */
export interface IndexCondition {
  /**
   * `missing`: no index; `damaged`: one that cannot be read; `outdated`: one of another format or space. The last two
   * are only told by a thorough look.
   */
  readonly state: 'missing' | 'present' | 'damaged' | 'outdated'
  /** What it was last marked with; absent when it never was. */
  readonly identity?: string
}

/** Why all documents are indexed again. */
export type RebuildReason = 'lost' | 'damaged' | 'foreign' | 'outdated' | 'requested'

/**
 * Keeps rows and finds them. Guarantees: an append of many documents is one commit; filters bind before the limit; text of
 * a filter never changes its meaning; removing what is not there is no error; a closed index refuses with CLOSED.
 * Run `vectorIndexConformance` of `@inlay/knowledge/conformance`.
 */
export interface VectorIndex {
  /** How long superseded versions stay on disk after `maintain`, in ms: one more upkeep run follows then. Default 0. */
  readonly keepVersionsMs?: number
  /** Opens or creates; INDEX_MISMATCH when it was filled from another space. No space: full text only. */
  open(space?: { id: string; dimensions: number }): Promise<void>
  append(rows: readonly IndexRow[]): Promise<void>
  remove(generations: readonly string[]): Promise<void>
  /** With text and vector: both sides fused. Hits come by falling score. */
  search(query: IndexQuery): Promise<Hit[]>
  /**
   * Rows of one generation between two positions (inclusive), by position; `score` is 0. With `vectors`, each hit
   * carries its vector when the row has one, so that unchanged chunks are not embedded again.
   */
  read(generation: string, from: number, to: number, options?: { vectors?: boolean }): Promise<Hit[]>
  /** Compaction, clean-up, index building, as far as due; `idle` says that nothing was written for a while. */
  maintain(options?: { idle?: boolean; signal?: AbortSignal }): Promise<IndexFigures>
  figures(): Promise<IndexFigures>
  close(): Promise<void>
  /**
   * Another index in the same place, for another space: nothing of one is found in the other. It is not opened yet, and
   * closed by itself. Absent when a place holds one index only: changing the embedder then needs an empty one.
   * @param number names it, 1 and up
   */
  beside?(number: number): VectorIndex
  /**
   * Tells what is in the place, opened or not. A thorough look reads all there is; another one costs next to nothing
   * and loads no engine. Absent when the index cannot tell: a lost one is then not noticed.
   */
  inspect?(options?: { readonly thorough?: boolean }): Promise<IndexCondition>
  /** Marks the index in the place, so that {@link inspect} tells it from any other. Survives whatever its rows do. */
  mark?(identity: string): Promise<void>
  /** Closes, then removes all it holds, but nothing of indexes beside it. No error when nothing is there. */
  drop?(): Promise<void>
}

/** A search of the index; at least one of `text` and `vector`. */
export interface IndexQuery {
  readonly text?: string
  readonly vector?: Float32Array
  readonly filter?: IndexFilter
  readonly limit: number
  readonly signal?: AbortSignal
}

/** Who searches: access is enforced by the pairs this caller may see; no caller means no restriction (the host itself). */
export type Caller = Pick<Principal, 'id' | 'email' | 'groups' | 'scopes'>

/** Answer to an accepted document. */
export interface Accepted {
  readonly documentId: string
  /** True when the id was accepted before and not deleted since. */
  readonly alreadyExisted: boolean
  /** True when the document is what it was before, so that nothing has to be done for it. */
  readonly isUnchanged: boolean
}

/** Where a document stands. */
export type DocumentPhase = 'pending' | 'indexing' | 'indexed' | 'failed'

/** One accepted document as an operator sees it; times are milliseconds since 1970 UTC. */
export interface DocumentStatus {
  readonly documentId: string
  readonly semanticIdentifier: string
  /** First section link; "" when no section has one. */
  readonly link: string
  readonly source: string
  readonly phase: DocumentPhase
  /** Why the last attempt failed; null when none did. */
  readonly reason: string | null
  readonly attempts: number
  readonly nextTryAt: number | null
  readonly acceptedAt: number
  readonly indexedAt: number | null
  readonly chunkCount: number | null
  readonly pairIds: readonly number[]
}

/** A metadata entry that searchable documents have. */
export interface KnownTag {
  readonly key: string
  readonly value: string
  readonly source: string
}

/** Narrows a listing of tags. */
export interface TagQuery {
  /** Part of a key or value in any case; `key=value` asks for both. */
  readonly match?: string
  /** 1 to 1000, default 50. */
  readonly limit?: number
}

/** Which failed documents are tried again; absent parts narrow nothing. */
export interface RequeueQuery {
  readonly documentId?: string
  readonly pairId?: number
  readonly source?: string
}

/** Narrows a listing of documents. Pages are asked for by `after`, the `next` of the page before. */
export interface DocumentQuery {
  /** By id, or the last accepted first. Default `id`. */
  readonly order?: 'id' | 'newest'
  /** Part of the title or the id, in any case. */
  readonly match?: string
  readonly phase?: DocumentPhase
  readonly pairId?: number
  readonly source?: string
  /** 1 to 1000, default 100. */
  readonly limit?: number
  readonly after?: string
}

/** Figures of the whole ingestion side. */
export interface KnowledgeFigures {
  readonly documents: Readonly<Record<DocumentPhase, number>>
  /** Age of the oldest waiting document in milliseconds; 0 when none waits. */
  readonly oldestWaitingMs: number
  readonly index: IndexFigures
  /** Present while all documents are indexed again. */
  readonly rebuild?: {
    /** `embedder`: another embedding model was configured. */
    readonly reason: RebuildReason | 'embedder'
    /** Documents still to be indexed again. */
    readonly documents: number
  }
}

/** A passage as search gives it: the wire's SearchDoc, the text, and the headings above it. */
export interface FoundPassage {
  readonly document: SearchDoc
  readonly content: string
  readonly headings: readonly string[]
  /** Which chunks of its document it is made of, from 0, both ends inclusive. */
  readonly span: { readonly first: number; readonly last: number }
}

/** A stretch of a document as one text. */
export interface Excerpt {
  readonly content: string
  /** Above its beginning, outermost first. */
  readonly headings: readonly string[]
  readonly span: { readonly first: number; readonly last: number }
}

/** Asks for a stretch of a document. */
export interface ExcerptRequest {
  readonly documentId: string
  /** Numbers of the first and last chunk wanted, both inclusive; 64 at most are given. */
  readonly first: number
  readonly last: number
  /** Number of the chunk that the excerpt is to hold: it ends where another link begins. */
  readonly around: number
  /** Absent: the host itself, no restriction. */
  readonly caller?: Caller
}

/** A search of the knowledge: words in, passages out, best first. */
export interface SearchRequest {
  readonly text: string
  readonly filters?: BaseFilters | null
  /** Absent: the host itself, no restriction. */
  readonly caller?: Caller
  /** Most passages, 1 to 200. */
  readonly limit: number
  /** Whether newer documents are preferred. Absent: as the knowledge was made; null: they are not. */
  readonly recency?: Recency | null
  readonly signal?: AbortSignal
}

/** Who may see a private pair or document set: ids or e-mail addresses of callers, and names of their groups. */
export interface Access {
  readonly isPublic: boolean
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** A connector/credential pair: where documents come from, and who may see them. */
export interface Pair extends Access {
  readonly id: number
  readonly name: string
  /** Its documents wait in the queue while true; what was indexed before stays searchable. */
  readonly isPaused: boolean
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

/** A named group of pairs that a search can be narrowed to. */
export interface DocumentSet extends Access {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly pairIds: readonly number[]
  /** Milliseconds since 1970 UTC. */
  readonly createdAt: number
}

/** What can be given or changed of a pair; absent fields keep their value (when made: public, no one named, running). */
export type PairChange = Partial<Pick<Pair, 'name' | 'isPaused' | keyof Access>>

/** What can be given or changed of a document set; absent fields keep their value (when made: public, empty). */
export type DocumentSetChange = Partial<Pick<DocumentSet, 'name' | 'description' | 'pairIds' | keyof Access>>

/** How a pair fares. */
export interface PairProgress extends Pair {
  readonly documents: Readonly<Record<DocumentPhase, number>>
  /** When a document last came in or became searchable, in milliseconds since 1970 UTC; null when none ever did. */
  readonly lastAcceptedAt: number | null
  readonly lastIndexedAt: number | null
  /** The latest documents that were given up, newest first; at most 10. */
  readonly failures: readonly DocumentStatus[]
}

/** Connector/credential pairs. Pair 1 always exists, is public at first and cannot be removed. */
export interface Pairs {
  create(pair: PairChange & { readonly name: string }): Promise<Pair>
  /** By id. With a caller: only those the caller may see. */
  list(options?: { caller?: Caller }): Promise<Pair[]>
  /** CONNECTOR_NOT_FOUND, also when the caller may not see it. */
  get(id: number, options?: { caller?: Caller }): Promise<Pair>
  /** As {@link list}, with how each of them fares. */
  progress(options?: { caller?: Caller }): Promise<PairProgress[]>
  /** CONNECTOR_NOT_FOUND. Access binds at the next search; nothing is indexed anew. */
  update(id: number, change: PairChange): Promise<Pair>
  /** Hides the documents that are in no other pair at once, and removes them later. CONNECTOR_NOT_FOUND, INVALID_INPUT. */
  remove(id: number): Promise<void>
}

/** Document sets. Names are unique. */
export interface DocumentSets {
  /** DUPLICATE_RESOURCE, CONNECTOR_NOT_FOUND. */
  create(set: DocumentSetChange & { readonly name: string }): Promise<DocumentSet>
  /** By name. With a caller: only those the caller may see. */
  list(options?: { caller?: Caller }): Promise<DocumentSet[]>
  /** DOCUMENT_SET_NOT_FOUND, DUPLICATE_RESOURCE, CONNECTOR_NOT_FOUND. */
  update(id: number, change: DocumentSetChange): Promise<DocumentSet>
  /** The documents stay. DOCUMENT_SET_NOT_FOUND. */
  remove(id: number): Promise<void>
}

/**
 * Documents in, passages out. An accepted document survives a crash, becomes searchable or visibly failed; the last
 * accepted version wins; a delete wins over everything in flight.
 */
export interface Knowledge {
  readonly pairs: Pairs
  readonly documentSets: DocumentSets
  readonly privateFiles: PrivateFileIndex
  /**
   * Stores a document durably and queues it for indexing.
   * @param options.waitMs how long to wait until it is searchable or failed; 0 (default) answers at once
   * @throws CONNECTOR_NOT_FOUND, INSUFFICIENT_PERMISSIONS, VALIDATION_FAILED (images), RATE_LIMITED (queue full), CLOSED
   */
  accept(
    request: IngestionRequest,
    options?: { caller?: Caller; waitMs?: number; signal?: AbortSignal },
  ): Promise<Accepted>
  /** Reads a file as text and accepts it. Throws what `accept` does; INVALID_INPUT, PAYLOAD_TOO_LARGE, UNSUPPORTED (file). */
  ingestFile(file: FileDocument, options?: FileDocumentOptions): Promise<Accepted>
  /** Hides a document at once and drops its rows later. DOCUMENT_NOT_FOUND when it is not there. */
  remove(documentId: string, options?: { caller?: Caller }): Promise<void>
  status(documentId: string, options?: { caller?: Caller }): Promise<DocumentStatus | undefined>
  list(
    query?: DocumentQuery,
    options?: { caller?: Caller },
  ): Promise<{ documents: DocumentStatus[]; next: string | null }>
  /** Puts failed documents that the caller may see back into the queue, as if they were new; answers how many. */
  requeue(query?: RequeueQuery, options?: { caller?: Caller }): Promise<number>
  /**
   * Indexes all documents again from the records, into a new index; search goes on in the present one until then. A
   * lost or damaged index is noticed and rebuilt without being asked.
   * @returns how many documents will be indexed again
   * @throws UNSUPPORTED for an index that can have no other beside it
   */
  reindex(): Promise<{ readonly documents: number }>
  /** INSUFFICIENT_PERMISSIONS for a document set that does not exist or that the caller may not see. */
  search(request: SearchRequest): Promise<FoundPassage[]>
  /** What stands around a passage, as it is now. Undefined when there is no such document that the caller may see. */
  excerpt(request: ExcerptRequest): Promise<Excerpt | undefined>
  /**
   * The searchable document whose first link is an address, whole (of very long ones the first 512 chunks). Undefined
   * when there is none that the caller may see and the filters let through.
   * @throws INSUFFICIENT_PERMISSIONS as {@link search}
   */
  byLink(request: LinkRequest): Promise<FoundPassage | undefined>
  /** Refuses filters as {@link search} would, before anything is searched. */
  checkFilters(filters: BaseFilters, options?: { caller?: Caller }): Promise<void>
  /** Source values that documents the caller may see have, sorted. */
  sources(options?: { caller?: Caller }): Promise<string[]>
  /** Tags of searchable documents the caller may see, by key, then value, then source; of one document at most 200. */
  tags(query?: TagQuery, options?: { caller?: Caller }): Promise<KnownTag[]>
  /** Whether a searchable document that the caller may see has the image. */
  showsImage(id: string, options?: { caller?: Caller }): Promise<boolean>
  /** Whether anything was ever accepted and not deleted. */
  hasDocuments(): Promise<boolean>
  figures(): Promise<KnowledgeFigures>
  /** Resolves once nothing is waiting or being indexed. */
  settled(signal?: AbortSignal): Promise<void>
  /** Starts the worker and the maintainer; may be called once, after construction. */
  start(): Promise<void>
  /** Finishes or releases what is in flight, then closes the index. Idempotent. */
  close(): Promise<void>
}
