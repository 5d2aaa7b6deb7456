import type { BigInteger, JobLeaseRow, NullableBigInteger } from '@inlay/records'
import type { Generated, Kysely } from 'kysely'
import type { DocumentPhase } from '../contracts/documents.ts'
import type { RebuildReason } from '../contracts/vector-index.ts'

/** One accepted document; its text is in {@link ContentRow}, so that claims and settles never rewrite it. */
export interface DocumentRow {
  id: string
  /** Number of the accepted version, from one counter for all documents: greater is later, none comes twice. */
  revision: BigInteger
  /** Revision of the first acceptance since the document was last absent: tells a deleted document from its successor. */
  incarnation: BigInteger
  state: DocumentPhase
  /** Hash of every stored field. */
  hash: string
  semantic_identifier: string
  link: string
  source: string
  content_bytes: BigInteger
  /** When the present version was accepted; dates documents that bring no date. */
  accepted_at: BigInteger
  /** Place in the queue; after a failure the moment of the next try. */
  due_at: BigInteger
  /** Claim that works on it, while `indexing`. */
  claim: string | null
  /** Tries of the present version, also the running one. */
  attempts: number
  /** Tries that failed by the document's own fault. */
  failures: number
  /** Tries that ended with the process. */
  interruptions: number
  /** Why the last try failed. */
  reason: string | null
  /** Generation that search shows. */
  visible_generation: string | null
  /** Revision the visible generation was made from; only ever grows. */
  visible_revision: NullableBigInteger
  /** Rows of the visible generation. */
  chunk_count: number | null
  indexed_at: NullableBigInteger
}

/** The normalised document as JSON; see `StoredDocument`. */
export interface ContentRow {
  id: string
  /** "" when the document is a large one. */
  content: string
  /** See {@link LargeContentRow}. */
  large_id: string | null
}

/** A large document without its texts, which are in {@link ContentPartRow}. It counts once a content names it. */
export interface LargeContentRow {
  id: string
  /** JSON of a `LargeDocument`. */
  document: string
  /** Names the process that writes it. */
  owner: string
  /** It is written until then; 0 once it is whole, -1 while it is being removed. */
  lease_until: BigInteger
}

/** Some of the texts of a large document, all of which follow each other. */
export interface ContentPartRow {
  large_id: string
  position: number
  text: string
}

/** That a document belongs to a pair. */
export interface DocumentPairRow {
  document_id: string
  pair_id: number
}

/** A connector/credential pair. */
export interface PairRow {
  id: number
  name: string
  is_public: number
  is_paused: number
  /** 1 while the documents of a removed pair are still being removed. */
  is_removed: number
  created_at: BigInteger
}

/** A change of how many documents a pair has of a source in a state; see `createPairCounts`. */
export interface PairCountRow {
  id: Generated<number>
  pair_id: number
  source: string
  state: DocumentPhase
  amount: BigInteger
}

/** When something last happened in a pair. */
export interface PairActivityRow {
  pair_id: number
  accepted_at: NullableBigInteger
  indexed_at: NullableBigInteger
}

/** A metadata entry that searchable documents have. */
export interface TagRow {
  id: number
  tag_key: string
  tag_value: string
  source: string
  /** `key=value` in lower case, for finding. */
  wording: string
}

/** That a searchable document has a tag; once for each of its pairs, so that access is told without looking further. */
export interface DocumentTagRow {
  tag_id: number
  pair_id: number
  document_id: string
}

/** That a searchable document has an image. */
export interface DocumentImageRow {
  image_id: string
  document_id: string
}

/** That a file must stay, because a document that is being taken in may name it. */
export interface FileHoldRow {
  /** Id of the call that accepts the document. */
  id: string
  file_id: string
  lease_until: BigInteger
}

/** Metadata of a searchable document that is too large for each of its rows. */
export interface DocumentMetadataRow {
  document_id: string
  /** JSON object of strings and lists of strings. */
  metadata: string
}

export interface DocumentSetRow {
  id: number
  name: string
  description: string
  is_public: number
  created_at: BigInteger
}

/** That a pair belongs to a document set. */
export interface DocumentSetPairRow {
  set_id: number
  pair_id: number
}

/** Someone who may see a private pair or set. */
export interface GrantRow {
  kind: 'pair' | 'document_set'
  target_id: number
  grantee: 'user' | 'group'
  name: string
}

/** Documents that one worker took from the queue together. */
export interface ClaimRow {
  id: string
  owner: string
  /** JSON array of the generations that may be written under this claim. */
  generations: string
  lease_until: BigInteger
}

/** Generations that nobody can see any more and whose rows are to be removed from the index. */
export interface DeadGenerationRow {
  id: string
  /** JSON array. */
  generations: string
  chunk_count: number
}

/** A number that is handed out upwards. Writing it is the first statement of a transaction that needs the write lock. */
export interface CounterRow {
  name: 'revision' | 'pair' | 'document_set' | 'tag'
  value: BigInteger
}

/**
 * `open`: documents live there, or are being moved out of it; `moved`: only documents are left that could not be
 * indexed anew; `closing`: nothing is left, and nothing may come any more; `lost`: its index cannot be read, and its
 * documents are being indexed again.
 */
export type SpacePhase = 'open' | 'moved' | 'closing' | 'lost'

/** A vector space that an index is filled from; see `IndexSpace`. */
export interface IndexSpaceRow {
  number: number
  /** Id of the embedder; "" for an index without vectors. */
  embedder: string
  dimensions: number
  phase: SpacePhase
  identity: string | null
  rebuild_reason: RebuildReason | null
}

/** Counts that are made now and then; see `createFiguresSampler`. */
export interface FiguresRow {
  name: 'documents'
  sampled_at: BigInteger
  /** JSON. */
  figures: string
}

/** The tables of this package. */
export interface Tables {
  inlay_documents: DocumentRow
  inlay_contents: ContentRow
  inlay_large_contents: LargeContentRow
  inlay_content_parts: ContentPartRow
  inlay_document_pairs: DocumentPairRow
  inlay_pairs: PairRow
  inlay_pair_activity: PairActivityRow
  inlay_pair_counts: PairCountRow
  inlay_tags: TagRow
  inlay_document_tags: DocumentTagRow
  inlay_document_images: DocumentImageRow
  inlay_file_holds: FileHoldRow
  inlay_document_metadata: DocumentMetadataRow
  inlay_document_sets: DocumentSetRow
  inlay_document_set_pairs: DocumentSetPairRow
  inlay_grants: GrantRow
  inlay_claims: ClaimRow
  inlay_dead_generations: DeadGenerationRow
  inlay_job_leases: JobLeaseRow
  inlay_counters: CounterRow
  inlay_spaces: IndexSpaceRow
  inlay_figures: FiguresRow
}

/** The records of this package in the database of the instance. */
export type Records = Kysely<Tables>
