import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { closedModel, integer, model, orNull, type WireSchema } from '../fields.ts'
import { pairFields, type PairDescriptor } from '../resources/pairs.ts'

/** How many documents are in which state. */
export interface DocumentCounts {
  /** Documents that wait. */
  readonly pending: number
  /** Documents that are being indexed. */
  readonly indexing: number
  /** Documents that can be found. */
  readonly indexed: number
  /** Documents that were given up. */
  readonly failed: number
}

export const documentCountsSchema: WireSchema<DocumentCounts> = model('DocumentCounts', {
  pending: integer,
  indexing: integer,
  indexed: integer,
  failed: integer,
})

/** A document that was given up. */
export interface FailedDocument {
  /** Id of the document. */
  readonly document_id: string
  /** Its display title. */
  readonly semantic_id: string
  /** Why the last attempt failed. */
  readonly reason: string | null
  /** How often indexing was tried. */
  readonly attempts: number
}

/** How a connector/credential pair fares. */
export interface PairIndexingStatus extends PairDescriptor {
  /** How many of its documents are in which state. */
  readonly documents: DocumentCounts
  /** When a document last came in or became searchable, ISO 8601 with `Z`; null when none ever did. */
  readonly last_accepted_at: string | null
  /** When a document last became searchable; null when none ever did. */
  readonly last_indexed_at: string | null
  /** The latest, newest first; the listing of documents has all of them. */
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

/** Figures of the index. */
export interface IndexFigures {
  /** Chunks, also those of replaced documents that were not cleaned up yet. */
  readonly rows: number
  /** Chunks that are searchable but not yet folded into the full-text index. */
  readonly unindexed_rows: number
  /** What it takes on disk; null when the index cannot tell. */
  readonly bytes: number | null
}

/** The embedding model of the documents, and the one that the process that answers is set to. */
export interface EmbedderState {
  /** The one that the documents have their vectors from; null when they have none. */
  readonly recorded: string | null
  /** The one of this process; null without one. */
  readonly configured: string | null
  /** Whether both are the same. If not, this process searches by words alone. */
  readonly is_used: boolean
  /** Whether this process indexes documents; not when it lacks the recorded model. */
  readonly indexes: boolean
}

/** Figures of the whole ingestion. */
export interface IngestionFigures {
  /** How many documents are in which state. */
  readonly documents: DocumentCounts
  /** Documents that wait or are being indexed. */
  readonly queue_depth: number
  /** Age of the document that waits longest; 0 when none waits. */
  readonly oldest_waiting_seconds: number
  /** What the index holds. */
  readonly index: IndexFigures
  /** The embedding model of the documents. */
  readonly embedder: EmbedderState
}

/** Answer of `POST /service-api/ingestion-reindex`. */
export interface Reindexed {
  /** Documents that are still to be indexed again. */
  readonly documents: number
  /** The embedding model of the documents from now on. */
  readonly embedder: EmbedderState
}

/** What `POST /service-api/ingestion-reindex` does. */
export interface ReindexRequest {
  /** Makes the embedding model of this process that of the documents. Default false: it stays, and all is indexed again. */
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

/** Answer of a call that puts failed documents back into the queue. */
export interface Requeued {
  /** How many there were. */
  readonly requeued: number
}

export const requeuedSchema: WireSchema<Requeued> = model('Requeued', { requeued: integer })
