import type { IndexFigures, RebuildReason } from './vector-index.ts'

/** Answer to an accepted document. */
export interface Accepted {
  readonly documentId: string
  /** True when the id was accepted before and not deleted since. */
  readonly alreadyExisted: boolean
  /** True when the document is what it was before, so that nothing has to be done for it. */
  readonly isUnchanged: boolean
}

/** Indexing state of a document. */
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
  /** The one document with this id, if there is one. */
  readonly documentId?: string
  /** Part of the title or the id, in any case. */
  readonly match?: string
  readonly phase?: DocumentPhase
  readonly pairId?: number
  readonly source?: string
  /** 1 to 1000, default 100. */
  readonly limit?: number
  readonly after?: string
}

/** Whether this process can work. */
export interface Readiness {
  /** Instructions for the operator if a disk was full within the last minute; searches continue. */
  readonly fullDisk?: string
  /** Why documents are being indexed again; absent while they are not. */
  readonly rebuild?: (KnowledgeFigures['rebuild'] & {})['reason']
  readonly embedder: EmbedderFigures
}

/** Figures as they were counted a while ago, by whichever process. */
export interface FiguresSample extends Pick<KnowledgeFigures, 'documents'> {
  /** When the document that waits longest was accepted, in milliseconds since 1970 UTC; undefined when none waits. */
  readonly oldestAcceptedAt?: number | undefined
  readonly rebuild?: KnowledgeFigures['rebuild']
}

/** Figures of the documents, and how old they are in milliseconds. */
export interface SampledFigures extends Omit<KnowledgeFigures, 'index' | 'embedder'> {
  readonly ageMs: number
  /** As it was when the records were last read; absent before that. */
  readonly embedder?: EmbedderFigures
}

/** Which embedder the documents have, and which one this process is set to. */
export interface EmbedderFigures {
  /** Id of the recorded embedder, which the vectors of the documents come from; null when they have none. */
  readonly recorded: string | null
  /** Id of the embedder of this process; null without one. */
  readonly configured: string | null
  /** Whether both are the same, so that searches here use vectors (unless there is no embedder). */
  readonly isUsed: boolean
  /** Whether this process can index documents: not when it lacks the recorded embedder. */
  readonly indexes: boolean
  /** Instructions for the operator; absent when both models are the same. */
  readonly notice?: string
}

/** Figures of the whole ingestion side. */
export interface KnowledgeFigures {
  readonly documents: Readonly<Record<DocumentPhase, number>>
  /** Age of the oldest waiting document in milliseconds; 0 when none waits. */
  readonly oldestWaitingMs: number
  readonly index: IndexFigures
  readonly embedder: EmbedderFigures
  /** Present while documents are indexed again. */
  readonly rebuild?: {
    /** `embedder`: another embedding model was configured; `incomplete`: the index lacked some documents of the records. */
    readonly reason: RebuildReason | 'embedder' | 'incomplete'
    /** Documents still to be indexed again. */
    readonly documents: number
  }
}
