import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { closedModel, integer, model, orNull, type WireSchema } from '../fields.ts'
import { pairFields, type PairDescriptor } from '../resources/pairs.ts'

/** Number of documents by state. */
export interface DocumentCounts {
  /** Documents that are waiting. */
  readonly pending: number
  /** Documents being indexed. */
  readonly indexing: number
  /** Documents that are searchable. */
  readonly indexed: number
  /** Documents that failed permanently. */
  readonly failed: number
}

export const documentCountsSchema: WireSchema<DocumentCounts> = model('DocumentCounts', {
  pending: integer,
  indexing: integer,
  indexed: integer,
  failed: integer,
})

/** A document whose indexing failed permanently. */
export interface FailedDocument {
  /** Id of the document. */
  readonly document_id: string
  /** Its display title. */
  readonly semantic_id: string
  /** Error of the last attempt. */
  readonly reason: string | null
  /** Number of indexing attempts. */
  readonly attempts: number
}

/** Indexing status of a connector/credential pair. */
export interface PairIndexingStatus extends PairDescriptor {
  /** Number of its documents by state. */
  readonly documents: DocumentCounts
  /** Time when a document was last accepted or became searchable, ISO 8601 with `Z`; null if never. */
  readonly last_accepted_at: string | null
  /** Time when a document last became searchable; null if never. */
  readonly last_indexed_at: string | null
  /** The latest failures, newest first. Use the document listing for all of them. */
  readonly failures: readonly FailedDocument[]
}

export const pairIndexingStatusSchema: WireSchema<PairIndexingStatus> = model('PairIndexingStatus', {
  ...pairFields,
  documents: documentCountsSchema,
  last_accepted_at: orNull(answeredTime),
  last_indexed_at: orNull(answeredTime),
  failures: v.array(
    model('FailedDocument', {
      document_id: v.string(),
      semantic_id: v.string(),
      reason: orNull(v.string()),
      attempts: integer,
    }),
  ),
})

/** Index statistics. */
export interface IndexFigures {
  /** Number of chunks, including replaced documents not yet cleaned up. */
  readonly rows: number
  /** Chunks that are searchable but not yet merged into the full-text index. */
  readonly unindexed_rows: number
  /** Size on disk; null when the index cannot report it. */
  readonly bytes: number | null
}

/** The embedding model of the stored documents and the one configured in this process. */
export interface EmbedderState {
  /** Model that the stored vectors were made with; null when there are none. */
  readonly recorded: string | null
  /** Model of this process; null when none is configured. */
  readonly configured: string | null
  /** Whether both are the same. If not, this process uses keyword search only. */
  readonly is_used: boolean
  /** Whether this process indexes documents. It does not when the recorded model is missing. */
  readonly indexes: boolean
}

/** Ingestion statistics. */
export interface IngestionFigures {
  /** Number of documents by state. */
  readonly documents: DocumentCounts
  /** Documents that are waiting or being indexed. */
  readonly queue_depth: number
  /** Age of the longest-waiting document; 0 if none is waiting. */
  readonly oldest_waiting_seconds: number
  /** Index statistics. */
  readonly index: IndexFigures
  /** The embedding model of the documents. */
  readonly embedder: EmbedderState
}

/** Answer of `POST /service-api/ingestion-reindex`. */
export interface Reindexed {
  /** Number of documents still to be reindexed. */
  readonly documents: number
  /** New embedding model of the documents. */
  readonly embedder: EmbedderState
}

/** Body of `POST /service-api/ingestion-reindex`. */
export interface ReindexRequest {
  /**
   * Whether to switch the documents to the embedding model of this process. Default false: reindex with the current
   * model.
   */
  readonly change_embedder?: boolean | undefined
}

const embedderStateSchema: WireSchema<EmbedderState> = model('EmbedderState', {
  recorded: orNull(v.string()),
  configured: orNull(v.string()),
  is_used: v.boolean(),
  indexes: v.boolean(),
})

export const ingestionFiguresSchema: WireSchema<IngestionFigures> = model('IngestionFigures', {
  documents: documentCountsSchema,
  queue_depth: integer,
  oldest_waiting_seconds: v.number(),
  index: model('IndexFigures', { rows: integer, unindexed_rows: integer, bytes: orNull(integer) }),
  embedder: embedderStateSchema,
})

export const reindexedSchema: WireSchema<Reindexed> = model('Reindexed', {
  documents: integer,
  embedder: embedderStateSchema,
})

export const reindexRequestSchema: WireSchema<ReindexRequest> = closedModel('ReindexRequest', {
  change_embedder: v.optional(v.boolean()),
})

/** Answer of a request that puts failed documents back into the queue. */
export interface Requeued {
  /** Number of documents put back. */
  readonly requeued: number
}

export const requeuedSchema: WireSchema<Requeued> = model('Requeued', { requeued: integer })
