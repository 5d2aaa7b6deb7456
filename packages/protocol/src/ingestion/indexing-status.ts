import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { integer, model, orNull, type WireSchema } from '../fields.ts'
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
}

export const ingestionFiguresSchema: WireSchema<IngestionFigures> = model('IngestionFigures', {
  documents: documentCountsSchema,
  queue_depth: integer,
  oldest_waiting_seconds: v.number(),
  index: model('IndexFigures', { rows: integer, unindexed_rows: integer, bytes: orNull(integer) }),
})

/** Answer of a call that puts failed documents back into the queue. */
export interface Requeued {
  /** How many there were. */
  readonly requeued: number
}

export const requeuedSchema: WireSchema<Requeued> = model('Requeued', { requeued: integer })
