import type { BaseFilters } from '@inlay/protocol'
import type { AcceptInput } from './document-input.ts'
import type {
  Accepted,
  DocumentQuery,
  DocumentStatus,
  EmbedderFigures,
  KnowledgeFigures,
  KnownTag,
  Readiness,
  RequeueQuery,
  SampledFigures,
  TagQuery,
} from './documents.ts'
import type { FileDocument, FileDocumentOptions } from './files.ts'
import type { LinkRequest } from './link.ts'
import type { Caller, DocumentSets, Pairs } from './pairs.ts'
import type { PrivateFileIndex } from './private-files.ts'
import type { DocumentSize, Excerpt, ExcerptRequest, FoundPassage, SearchRequest } from './search.ts'

/** How a document is accepted. */
export interface AcceptOptions {
  /** Absent: the host itself, no restriction. */
  readonly caller?: Caller
  /** Id of the caller whose queue share is used when several callers fill the queue. Default: the caller's own. */
  readonly queuedFor?: string | undefined
  /** How long to wait until it is searchable or failed, in milliseconds; 0 (default) answers at once. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
  /** Called once the document is stored, before the wait. */
  readonly onStored?: ((documentId: string) => void) | undefined
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
   * Stores a document durably and queues it for indexing. Only its sections are needed.
   * @throws CONNECTOR_NOT_FOUND, INSUFFICIENT_PERMISSIONS, VALIDATION_FAILED, RATE_LIMITED (queue full), CLOSED
   */
  accept(request: AcceptInput, options?: AcceptOptions): Promise<Accepted>
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
   * @param options.embedder records the embedder of this process as that of the documents, and indexes them again with
   * it; nothing is done when it is recorded already
   * @returns how many documents will be indexed again
   * @throws UNSUPPORTED for an index that can have no other beside it; CONFLICT when this process lacks the recorded
   * embedder, unless that is to be changed
   */
  reindex(options?: { readonly embedder?: boolean }): Promise<{ readonly documents: number }>
  /** The recorded embedder of the documents, and the one of this process. Loads no index. */
  embedder(): Promise<EmbedderFigures>
  /**
   * Whether this process can work. Answers within half a second, at the same cost at any size; loads no index.
   * @throws SERVICE_UNAVAILABLE while the database does not answer, or the index has not been reached since the start
   */
  readiness(): Promise<Readiness>
  /** INSUFFICIENT_PERMISSIONS for a document set that does not exist or that the caller may not see. */
  search(request: SearchRequest): Promise<FoundPassage[]>
  /** Current text around a passage. Undefined when the document does not exist or the caller cannot see it. */
  excerpt(request: ExcerptRequest): Promise<Excerpt | undefined>
  /** How long a document is. Undefined when there is no such document that the caller may see and that is searchable. */
  size(documentId: string, options?: { caller?: Caller }): Promise<DocumentSize | undefined>
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
  /**
   * Whether a document that the caller may see names the file: as its raw file, an image or a table. Without a caller
   * also whether a document that is being taken in does. Whoever deletes files hides one first, then asks this: a file
   * that `FileStore.find` or `ImageStore.find` has not shown any more is then in no document.
   */
  namesFile(id: string, options?: { caller?: Caller }): Promise<boolean>
  /** Whether anything was ever accepted and not deleted. */
  hasDocuments(): Promise<boolean>
  /** Counts all documents and asks the index: takes seconds for a million documents. */
  figures(): Promise<KnowledgeFigures>
  /**
   * Figures as one of the processes counted them a while ago, with their age; undefined while they were never counted.
   * Never rejects, and waits a second at most.
   */
  sampledFigures(): Promise<SampledFigures | undefined>
  /** How many documents wait to be indexed or are being indexed, whichever process took them in. */
  waiting(): Promise<number>
  /** Resolves once nothing is waiting or being indexed. */
  settled(signal?: AbortSignal): Promise<void>
  /** Starts the worker and the maintainer; may be called once, after construction. */
  start(): Promise<void>
  /** Finishes or releases what is in flight, then closes the index. Idempotent. */
  close(): Promise<void>
}
