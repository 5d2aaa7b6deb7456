import type { IndexFigures, RebuildReason } from './vector-index.ts'

export interface Accepted {
  readonly documentId: string
  /** Whether the id was accepted before and not deleted since. */
  readonly alreadyExisted: boolean
  /** Whether the document is the same as before, so that it is not indexed again. */
  readonly isUnchanged: boolean
}

export type DocumentPhase = 'pending' | 'indexing' | 'indexed' | 'failed'

/** An accepted document, for operators; times are milliseconds since 1970 UTC. */
export interface DocumentStatus {
  readonly documentId: string
  readonly semanticIdentifier: string
  /** First link of a section; "" if no section has one. */
  readonly link: string
  readonly source: string
  readonly phase: DocumentPhase
  /** Reason why the last attempt failed; null if none failed. */
  readonly reason: string | null
  readonly attempts: number
  readonly nextTryAt: number | null
  readonly acceptedAt: number
  readonly indexedAt: number | null
  readonly chunkCount: number | null
  /** Size of its content as stored, in bytes. */
  readonly contentBytes: number
  readonly pairIds: readonly number[]
  /** Only where asked for. */
  readonly tags?: readonly KnownTag[]
}

/** A metadata entry of searchable documents. */
export interface KnownTag {
  readonly key: string
  readonly value: string
  readonly source: string
}

/** Metadata entries to set, and with null to remove; others stay as they are. */
export type MetadataChange = Readonly<Record<string, string | readonly string[] | null>>

/** What to change of a document; what is absent stays. */
export interface DocumentUpdate {
  readonly metadata?: MetadataChange | undefined
  /** All pairs that the document belongs to from now on, at least one. */
  readonly pairIds?: readonly number[] | undefined
}

export interface TagQuery {
  /** Part of a key or value, ignoring case; `key=value` matches both. */
  readonly match?: string
  /** 1 to 1000, default 50. */
  readonly limit?: number
}

/** Selects failed documents to retry. Absent fields do not filter. */
export interface RequeueQuery {
  readonly documentId?: string
  readonly pairId?: number
  readonly source?: string
}

/** Filters a listing of documents. For the next page, set `after` to `next` of the previous page. */
export interface DocumentQuery {
  /** By id, time of acceptance, start of the title (ignoring case) or size. Default `id`. */
  readonly order?: 'id' | 'id_desc' | 'newest' | 'oldest' | 'title' | 'title_desc' | 'largest' | 'smallest'
  /** Only the document with this id, if it exists. */
  readonly documentId?: string
  /** Part of the title or the id, ignoring case. */
  readonly match?: string
  readonly phase?: DocumentPhase
  readonly pairId?: number
  /** Documents in any of these pairs that the caller may see. */
  readonly pairIds?: readonly number[]
  /** Documents with this tag, as returned by `toTag`. */
  readonly tag?: string
  /** Whether entries include their tags. Default false. */
  readonly withTags?: boolean
  readonly source?: string
  /** 1 to 1000, default 100. */
  readonly limit?: number
  readonly after?: string
}

export interface Readiness {
  /** Instructions for the operator if a disk was full within the last minute; searches continue. */
  readonly fullDisk?: string
  /** Instructions for the operator if the index holds versions of documents that the database does not know. */
  readonly missingRecords?: string
  /** Reason why documents are being indexed again; absent if they are not. */
  readonly rebuild?: (KnowledgeFigures['rebuild'] & {})['reason']
  readonly embedder: EmbedderFigures
}

/** Statistics that one of the processes counted a while ago. */
export interface FiguresSample extends Pick<KnowledgeFigures, 'documents'> {
  /** Since when the oldest document has been waiting, in milliseconds since 1970 UTC; undefined if none waits. */
  readonly waitingSince?: number | undefined
  readonly rebuild?: KnowledgeFigures['rebuild']
}

/** Statistics of the documents, and their age in milliseconds. */
export interface SampledFigures extends Omit<KnowledgeFigures, 'index' | 'embedder'> {
  readonly ageMs: number
  /** State when the records were last read; absent before that. */
  readonly embedder?: EmbedderFigures
}

/** The embedder of the documents, and the embedder configured for this process. */
export interface EmbedderFigures {
  /** Id of the recorded embedder, which made the vectors of the documents; null if they have none. */
  readonly recorded: string | null
  /** Id of the embedder of this process; null without one. */
  readonly configured: string | null
  /** Whether both are the same, so that searches in this process use vectors (unless there is no embedder). */
  readonly isUsed: boolean
  /** Whether this process can index documents; false if it lacks the recorded embedder. */
  readonly indexes: boolean
  /** Instructions for the operator; absent when both models are the same. */
  readonly notice?: string
}

/** Statistics of ingestion and the index. */
export interface KnowledgeFigures {
  readonly documents: Readonly<Record<DocumentPhase, number>>
  /** How long the oldest waiting document has been due, in milliseconds; 0 if none is. */
  readonly oldestWaitingMs: number
  readonly index: IndexFigures
  readonly embedder: EmbedderFigures
  /** Present while documents are indexed again. */
  readonly rebuild?: {
    /**
     * `embedder`: another embedding model was configured; `incomplete`: documents of the records were missing from the
     * index.
     */
    readonly reason: RebuildReason | 'embedder' | 'incomplete'
    /** Number of documents still to be indexed again. */
    readonly documents: number
  }
}

/** What the records and the index do not have in common. */
export interface IndexDifferences {
  /** False if the index cannot list what it holds, or holds over two million versions. */
  readonly isCompared: boolean
  /** Ids of documents whose passages the index lacks. */
  readonly missing: readonly string[]
  /** Versions that only the index holds. */
  readonly unknown: readonly string[]
  /** Ids of documents of the first of these. */
  readonly unknownDocuments: readonly string[]
}
