import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { closedModel, integer, model, orNull, type Wire } from '../fields.ts'
import { pairDescriptorSchema } from '../resources/pairs.ts'

export const documentCountsSchema = model('DocumentCounts', {
  /** Documents that are waiting. */
  pending: integer,
  /** Documents being indexed. */
  indexing: integer,
  /** Documents that are searchable. */
  indexed: integer,
  /** Documents that failed permanently. */
  failed: integer,
})

/** Number of documents by state. */
export type DocumentCounts = Wire<typeof documentCountsSchema>

const failedDocumentSchema = model('FailedDocument', {
  /** Id of the document. */
  document_id: v.string(),
  /** Its display title. */
  semantic_id: v.string(),
  /** Error of the last attempt. */
  reason: orNull(v.string()),
  /** Number of indexing attempts. */
  attempts: integer,
})

/** A document whose indexing failed permanently. */
export type FailedDocument = Wire<typeof failedDocumentSchema>

export const pairIndexingStatusSchema = model('PairIndexingStatus', {
  ...pairDescriptorSchema.entries,
  /** Number of its documents by state. */
  documents: documentCountsSchema,
  /** Time when a document was last accepted or became searchable, ISO 8601 with `Z`; null if never. */
  last_accepted_at: orNull(answeredTime),
  /** Time when a document last became searchable; null if never. */
  last_indexed_at: orNull(answeredTime),
  /** The latest failures, newest first. Use the document listing for all of them. */
  failures: v.array(failedDocumentSchema),
})

/** Indexing status of a connector/credential pair. */
export type PairIndexingStatus = Wire<typeof pairIndexingStatusSchema>

const embedderStateSchema = model('EmbedderState', {
  /** Model that the stored vectors were made with; null when there are none. */
  recorded: orNull(v.string()),
  /** Model of this process; null when none is configured. */
  configured: orNull(v.string()),
  /** Whether both are the same. If not, this process uses keyword search only. */
  is_used: v.boolean(),
  /** Whether this process indexes documents. It does not when the recorded model is missing. */
  indexes: v.boolean(),
})

/** The embedding model of the stored documents and the one configured in this process. */
export type EmbedderState = Wire<typeof embedderStateSchema>

/** Index statistics. */
const indexFiguresSchema = model('IndexFigures', {
  /** Number of chunks, including replaced documents not yet cleaned up. */
  rows: integer,
  /** Chunks that are searchable but not yet merged into the full-text index. */
  unindexed_rows: integer,
  /** Size on disk; null when the index cannot report it. */
  bytes: orNull(integer),
})

const rebuildStateSchema = model('RebuildState', {
  /**
   * Why documents are indexed again: another embedding model (`embedder`), documents missing from the index
   * (`incomplete`), a request (`requested`), or an index that is lost, damaged, of another installation (`foreign`) or
   * of an older version (`outdated`).
   */
  reason: v.picklist(['embedder', 'incomplete', 'requested', 'lost', 'damaged', 'foreign', 'outdated']),
  /** Documents still to be indexed again. */
  documents: integer,
})

/** A running rebuild of the index. */
export type RebuildState = Wire<typeof rebuildStateSchema>

export const ingestionFiguresSchema = model('IngestionFigures', {
  /** Number of documents by state. */
  documents: documentCountsSchema,
  /** Documents that are waiting or being indexed. */
  queue_depth: integer,
  /** How long the longest-waiting document has been due; 0 if none is. */
  oldest_waiting_seconds: v.number(),
  /** Index statistics. */
  index: indexFiguresSchema,
  /** The embedding model of the documents. */
  embedder: embedderStateSchema,
  /** The running rebuild of the index; null if none runs. */
  rebuild: orNull(rebuildStateSchema),
})

/** Ingestion statistics. */
export type IngestionFigures = Wire<typeof ingestionFiguresSchema>

/** Answer of `POST /service-api/ingestion-reindex`. */
export const reindexedSchema = model('Reindexed', {
  /** Number of documents still to be reindexed. */
  documents: integer,
  /** New embedding model of the documents. */
  embedder: embedderStateSchema,
})

export const reindexRequestSchema = closedModel('ReindexRequest', {
  /**
   * Whether to switch the documents to the embedding model of this process. Default false: reindex with the current
   * model.
   */
  change_embedder: v.optional(v.boolean()),
})

/** Body of `POST /service-api/ingestion-reindex`. */
export type ReindexRequest = Wire<typeof reindexRequestSchema>

/** Answer of a request that puts failed documents back into the queue. */
export const requeuedSchema = model('Requeued', {
  /** Number of documents put back. */
  requeued: integer,
})
