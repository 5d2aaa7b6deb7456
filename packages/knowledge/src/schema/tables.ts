import type { BigInteger, JobLeaseRow, NullableBigInteger } from '@inlay/records'
import type { Generated, Kysely } from 'kysely'
import type { DocumentPhase } from '../contracts/documents.ts'
import type { RebuildReason } from '../contracts/vector-index.ts'

/** An accepted document. Its text is in {@link ContentRow}, so that updates of its state do not rewrite the text. */
export interface DocumentRow {
  id: string
  /** Number of the accepted version, from a counter shared by all documents: increasing and unique. */
  revision: BigInteger
  /**
   * Revision of the first acceptance since the document was last absent; distinguishes a deleted document from a new
   * one with the same id.
   */
  incarnation: BigInteger
  state: DocumentPhase
  /** Hash of all stored fields. */
  hash: string
  semantic_identifier: string
  link: string
  source: string
  content_bytes: BigInteger
  /** Time at which the current version was accepted; used as date of documents without one. */
  accepted_at: BigInteger
  /** Place in the queue; after a failure, the time of the next attempt. */
  due_at: BigInteger
  /** Id of the claim that holds it, while `indexing`. */
  claim: string | null
  /** Attempts for the current version, including the running one. */
  attempts: number
  /** Attempts that failed because of the document itself. */
  failures: number
  /** Attempts during which the process ended. */
  interruptions: number
  reason: string | null
  /** Generation that searches return. */
  visible_generation: string | null
  /** Revision of the visible generation; never decreases. */
  visible_revision: NullableBigInteger
  /** Number of rows of the visible generation. */
  chunk_count: number | null
  indexed_at: NullableBigInteger
}

/** The normalized document as JSON; see `StoredDocument`. */
export interface ContentRow {
  id: string
  /** "" for a large document, which stands in the row that `large_id` names. */
  content: string
  /** See {@link LargeContentRow}. */
  large_id: string | null
}

/**
 * A large document without its texts, which are in {@link ContentPartRow}. It has no effect until a {@link ContentRow}
 * references it.
 */
export interface LargeContentRow {
  id: string
  /** JSON of a `LargeDocument`. */
  document: string
  /** Id of the process that writes it. */
  owner: string
  /** Lease while it is written; 0 when it is complete, -1 while it is being removed. */
  lease_until: BigInteger
}

export interface ContentPartRow {
  large_id: string
  position: number
  text: string
}

export interface PairRow {
  id: number
  name: string
  is_public: number
  is_paused: number
  /** 1 while the documents of a removed pair are still being removed. */
  is_removed: number
  created_at: BigInteger
}

export interface TagRow {
  id: number
  tag_key: string
  tag_value: string
  source: string
  /** `key=value` in lower case, for text matches. */
  wording: string
}

/** A hold on a file that a document being accepted may use; see `holdFiles`. */
export interface FileHoldRow {
  /** Id of the call that accepts the document. */
  id: string
  file_id: string
  lease_until: BigInteger
}

/** Metadata of a searchable document that is too large for its index rows. */
export interface DocumentMetadataRow {
  document_id: string
  /** JSON object of strings and lists of strings. */
  metadata: string
}

export interface GrantRow {
  kind: 'pair' | 'document_set'
  target_id: number
  grantee: 'user' | 'group'
  name: string
}

export interface ClaimRow {
  id: string
  owner: string
  /** JSON array of the generations that may be written under this claim. */
  generations: string
  lease_until: BigInteger
}

/** Generations that are no longer visible and whose rows have to be removed from the index. */
export interface DeadGenerationRow {
  id: string
  /** JSON array. */
  generations: string
  chunk_count: number
}

/** An increasing number. Its update is the first statement of a transaction that needs the write lock. */
export interface CounterRow {
  name: 'revision' | 'pair' | 'document_set' | 'tag' | 'documents' | 'characters'
  value: BigInteger
}

/**
 * `open`: in use, or being moved out of; `moved`: contains only documents that could not be indexed again; `closing`:
 * empty and being removed; `lost`: its index cannot be read, and its documents are being indexed again.
 */
export type SpacePhase = 'open' | 'moved' | 'closing' | 'lost'

/** A vector space with its index; see `IndexSpace`. */
export interface IndexSpaceRow {
  number: number
  /** Id of the embedder; "" for an index without vectors. */
  embedder: string
  dimensions: number
  phase: SpacePhase
  identity: string | null
  rebuild_reason: RebuildReason | null
}

/** Counts made periodically; see `createFiguresSampler`. */
export interface FiguresRow {
  name: 'documents'
  sampled_at: BigInteger
  /** JSON. */
  figures: string
}

export interface Tables {
  inlay_documents: DocumentRow
  inlay_contents: ContentRow
  inlay_large_contents: LargeContentRow
  inlay_content_parts: ContentPartRow
  inlay_document_pairs: { document_id: string; pair_id: number }
  inlay_pairs: PairRow
  inlay_pair_activity: { pair_id: number; accepted_at: NullableBigInteger; indexed_at: NullableBigInteger }
  inlay_pair_counts: {
    id: Generated<number>
    pair_id: number
    source: string
    state: DocumentPhase
    amount: BigInteger
  }
  inlay_tags: TagRow
  /** A row for each pair of a tagged document, so that access can be checked in one query. */
  inlay_document_tags: { tag_id: number; pair_id: number; document_id: string }
  inlay_document_images: { image_id: string; document_id: string }
  inlay_file_holds: FileHoldRow
  /** Tasks as JSON that transactions of the host have added; see `addToInbox`. */
  inlay_inbox: { id: Generated<number>; document_id: string; task: string; large_id: string | null }
  inlay_document_metadata: DocumentMetadataRow
  inlay_document_sets: { id: number; name: string; description: string; is_public: number; created_at: BigInteger }
  inlay_document_set_pairs: { set_id: number; pair_id: number }
  inlay_grants: GrantRow
  inlay_claims: ClaimRow
  inlay_dead_generations: DeadGenerationRow
  inlay_job_leases: JobLeaseRow
  inlay_counters: CounterRow
  inlay_spaces: IndexSpaceRow
  inlay_figures: FiguresRow
}

/** The database of the installation, with the tables of this package. */
export type Records = Kysely<Tables>
