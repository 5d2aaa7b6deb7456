import type { BaseFilters } from '@inlay/protocol'
import type { HostTransaction } from '@inlay/records'
import type { AcceptInput } from './document-input.ts'
import type {
  Accepted,
  DocumentQuery,
  DocumentStatus,
  EmbedderFigures,
  KnowledgeFigures,
  KnownTag,
  DocumentUpdate,
  IndexDifferences,
  Readiness,
  RequeueQuery,
  SampledFigures,
  TagQuery,
} from './documents.ts'
import type { FileDocument, FileDocumentOptions } from './files.ts'
import type { LinkRequest } from './link.ts'
import type { Caller, DocumentSets, Pairs } from './pairs.ts'
import type { PrivateFileIndex } from './private-files.ts'
import type {
  ChunksRequest,
  DocumentChunks,
  DocumentSize,
  Excerpt,
  ExcerptRequest,
  FoundPassage,
  SearchRequest,
} from './search.ts'

export interface AcceptOptions extends FileDocumentOptions {
  /**
   * Id of the caller whose share of the queue is used, if several callers fill the queue. Default: the caller's own.
   */
  readonly queuedFor?: string | undefined
}

/**
 * Ingests documents and returns passages. An accepted document survives a crash, and becomes searchable or is reported
 * as failed; the last accepted version takes precedence; a deletion takes precedence over all work in progress.
 */
export interface Knowledge {
  readonly pairs: Pairs
  readonly documentSets: DocumentSets
  readonly privateFiles: PrivateFileIndex
  /**
   * Stores a document durably and queues it for indexing. Only its sections are required.
   * @throws CONNECTOR_NOT_FOUND, INSUFFICIENT_PERMISSIONS, VALIDATION_FAILED, RATE_LIMITED (queue full), CLOSED;
   * with a transaction also UNSUPPORTED (records in SQLite) and INVALID_INPUT (none was begun)
   */
  accept(request: AcceptInput, options?: AcceptOptions): Promise<Accepted>
  /**
   * Extracts the text of a file and accepts it. @throws the errors of `accept`; INVALID_INPUT, PAYLOAD_TOO_LARGE,
   * UNSUPPORTED (file)
   */
  ingestFile(file: FileDocument, options?: FileDocumentOptions): Promise<Accepted>
  /**
   * Changes metadata or pairs of a document, which is indexed again; the version before it is found until then, but
   * from now on by nobody who sees none of its new pairs.
   * @throws DOCUMENT_NOT_FOUND, CONNECTOR_NOT_FOUND, INSUFFICIENT_PERMISSIONS, VALIDATION_FAILED, RATE_LIMITED (queue
   * full; for metadata only), CLOSED; CONFLICT if the document changes at the same time
   */
  changeDocument(documentId: string, change: DocumentUpdate, options?: { caller?: Caller }): Promise<Accepted>
  /**
   * Hides a document at once and deletes its rows later; with a transaction, after its commit. @throws
   * DOCUMENT_NOT_FOUND
   */
  remove(documentId: string, options?: { caller?: Caller; transaction?: HostTransaction }): Promise<void>
  status(documentId: string, options?: { caller?: Caller; withTags?: boolean }): Promise<DocumentStatus | undefined>
  list(
    query?: DocumentQuery,
    options?: { caller?: Caller },
  ): Promise<{ documents: DocumentStatus[]; next: string | null }>
  /** Returns failed documents that the caller may see to the queue, as if they were new. @returns their number */
  requeue(query?: RequeueQuery, options?: { caller?: Caller }): Promise<number>
  /**
   * Indexes all documents again from the records, into a new index; search uses the current one until then. A lost or
   * damaged index is detected and rebuilt automatically.
   * @param options.embedder records the embedder of this process as that of the documents and indexes them with it;
   * does nothing if it is already recorded
   * @returns the number of documents to index again
   * @throws UNSUPPORTED if the storage location can hold only one index; CONFLICT if this process lacks the recorded
   * embedder, unless it is to be changed
   */
  reindex(options?: { readonly embedder?: boolean }): Promise<{ readonly documents: number }>
  /** The recorded embedder of the documents, and the embedder of this process. Does not open the index. */
  embedder(): Promise<EmbedderFigures>
  /**
   * Embeds texts of callers as texts of documents, behind queries.
   * @throws NOT_IMPLEMENTED without an embedder; BAD_GATEWAY, GATEWAY_TIMEOUT
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
  /**
   * Whether this process is ready. Responds within half a second, at a cost that does not depend on the number of
   * documents; does not open the index.
   * @throws SERVICE_UNAVAILABLE if the database does not respond, or the index has not been reached since the start
   */
  readiness(): Promise<Readiness>
  /** Compares all documents with the index; takes seconds and 100 MB for a million. Changes nothing. */
  compareIndex(signal: AbortSignal): Promise<IndexDifferences>
  /** @throws INSUFFICIENT_PERMISSIONS for a document set that does not exist or that the caller may not see */
  search(request: SearchRequest): Promise<FoundPassage[]>
  /** Current text around a passage; undefined if the document does not exist or the caller may not see it. */
  excerpt(request: ExcerptRequest): Promise<Excerpt | undefined>
  /**
   * Consecutive chunks of a document, to show it; undefined if it is not searchable, ends before them, or the caller may
   * not see it.
   */
  chunks(request: ChunksRequest): Promise<DocumentChunks | undefined>
  /** Those of the documents that the caller may see and that are searchable. */
  readable(documentIds: readonly string[], options?: { caller?: Caller }): Promise<ReadonlySet<string>>
  /** Size of a document; undefined if the document is not searchable or the caller may not see it. */
  size(documentId: string, options?: { caller?: Caller }): Promise<DocumentSize | undefined>
  /**
   * The searchable document whose first link is a URL, as a whole (at most its first 512 chunks). Undefined if there is
   * none that the caller may see and that matches the filters.
   * @throws INSUFFICIENT_PERMISSIONS as {@link search}
   */
  byLink(request: LinkRequest): Promise<FoundPassage | undefined>
  /** Throws the errors that {@link search} would throw for these filters. */
  checkFilters(filters: BaseFilters, options?: { caller?: Caller }): Promise<void>
  /** Source values of the documents that the caller may see, sorted. */
  sources(options?: { caller?: Caller }): Promise<string[]>
  /** Tags of searchable documents that the caller may see, by key, value and source; at most 200 per document. */
  tags(query?: TagQuery, options?: { caller?: Caller }): Promise<KnownTag[]>
  /**
   * Whether a document that the caller may see uses the file, as its raw file, an image or a table. Without a caller,
   * also whether a document that is being accepted uses it. To delete a file, hide it first and then call this: a file
   * that `FileStore.find` or `ImageStore.find` no longer returns cannot get into a document.
   */
  namesFile(id: string, options?: { caller?: Caller }): Promise<boolean>
  /** Whether any document was accepted and not deleted since. */
  hasDocuments(): Promise<boolean>
  /** Counts all documents and queries the index: takes seconds for a million documents. */
  figures(): Promise<KnowledgeFigures>
  /**
   * Statistics that one of the processes counted a while ago, with their age; undefined if they were never counted.
   * Never rejects, and takes at most a second.
   */
  sampledFigures(): Promise<SampledFigures | undefined>
  /** Number of documents that wait to be indexed or are being indexed, by all processes. */
  waiting(): Promise<number>
  /** Resolves once no document is waiting or being indexed. */
  whenIdle(signal?: AbortSignal): Promise<void>
  /** Starts the worker and maintenance; may be called once. */
  start(): Promise<void>
  /** Finishes or releases the work in progress, then closes the index. Idempotent. */
  close(): Promise<void>
}
