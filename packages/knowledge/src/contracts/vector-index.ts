/**
 * Converts texts to vectors of one vector space. Guarantees: the same text gives the same vector up to rounding;
 * results are in the order of the texts; every vector has `dimensions` finite numbers; an aborted call rejects. Run
 * `embedderConformance` of `@inlay/conformance`.
 */
export interface Embedder {
  /** Identifies the vector space: `provider/model@dimensions`. Vectors with different ids are never compared. */
  readonly id: string
  readonly dimensions: number
  /** Maximum number of texts per call; Infinity if unlimited. */
  readonly maxBatchSize: number
  /** Whether it supports only the Latin script: queries in other scripts then use keyword search. Default false. */
  readonly isLatinOnly?: boolean
  /** One vector per text, in the order of the texts. Rejects when the signal aborts. */
  embed(texts: readonly string[], use: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array[]>
}

/**
 * One chunk of one generation of a document, as stored in the index. Rows are never changed, only added and removed.
 */
export interface IndexRow {
  readonly documentId: string
  /** Identifies one indexed version of one document; never reused. */
  readonly generation: string
  /** Index of the chunk in its document, from 0. */
  readonly position: number
  /** Text for display and for the model. */
  readonly text: string
  /** Text for full-text search: the title twice, the text, parts of identifiers. */
  readonly searchText: string
  readonly source: string
  /** Each `key=value` with `%` and `=` in `key` percent-encoded; see `toTag`. */
  readonly tags: readonly string[]
  readonly pairs: readonly number[]
  /** Milliseconds since 1970 UTC: the document's own date, or the time at which its current content was accepted. */
  readonly updatedAt: number
  /** The document's own date of its last change; null if it has none. */
  readonly ownUpdatedAt: number | null
  readonly createdAt: number | null
  /** JSON of what is displayed besides the text (title, link, metadata, owners, …); opaque to the index. */
  readonly chunkMetadata: string
  /** Present if and only if the index was opened with a space; `dimensions` finite numbers. */
  readonly vector?: Float32Array
}

/** Milliseconds since 1970 UTC; both ends inclusive, either may be open. */
export interface TimeRange {
  readonly start?: number
  readonly end?: number
}

/** Filters applied inside the index. All given filters must match. */
export interface IndexFilter {
  readonly sources?: readonly string[]
  /** Rows in any of these pairs; an empty list matches nothing. */
  readonly pairs?: readonly number[]
  /** Each inner list is an OR of tags (one key), the lists are ANDed. */
  readonly tags?: readonly (readonly string[])[]
  readonly createdAt?: TimeRange
  readonly ownUpdatedAt?: TimeRange
  /** `time_cutoff`: updated or created at or after this moment. */
  readonly updatedOrCreatedSince?: number
  readonly documentIds?: readonly string[]
}

/** A matching row. `score` is in [0, 1], higher is better, and only comparable within one result. */
export interface Hit extends Pick<
  IndexRow,
  'documentId' | 'generation' | 'position' | 'text' | 'chunkMetadata' | 'source' | 'updatedAt'
> {
  readonly score: number
  /** Only returned by a `read` with `vectors`. */
  readonly vector?: Float32Array
  /** How the score came about, as far as it is known; for display only. */
  readonly ranking?: HitRanking
}

/** Parts of the score of a hit. */
export interface HitRanking {
  /** Keyword score, 0 to 1: a share of the best one. */
  readonly words?: number
  /** Nearness of the vectors, at most 1: 1 for the nearest row, 0 for the fiftieth. */
  readonly vector?: number
  /** Weight of the vectors in the score, 0 to 1; the keywords have the rest. */
  readonly vectorWeight?: number
  /** Factor for the age of the document, 0 to 1. */
  readonly recency?: number
  /** Whether a reranker scored it. */
  readonly isReranked?: true
  /** Whether it moved up because the query names its document. */
  readonly isNamed?: true
}

/** Statistics of an index, including pending maintenance. */
export interface IndexFigures {
  readonly rows: number
  /** Rows not yet folded into the full-text index. */
  readonly unindexedRows: number
  readonly bytes?: number
  /** Milliseconds until `maintain` has work to do even if nothing is written. */
  readonly upkeepDueMs?: number
}

/** State of the storage location of an index. */
export interface IndexCondition {
  /**
   * `missing`: no index; `damaged`: it cannot be read; `outdated`: it has another format or space. The last two are
   * only detected by a thorough inspection.
   */
  readonly state: 'missing' | 'present' | 'damaged' | 'outdated'
  /** Identity written by the last `mark`; absent if never marked. */
  readonly identity?: string
}

/** Reason why all documents are indexed again. */
export type RebuildReason = 'lost' | 'damaged' | 'foreign' | 'outdated' | 'requested'

/**
 * Stores rows and searches them. Guarantees: an append of many documents is one commit; filters apply before the limit;
 * text in a filter is always taken literally; removing a generation that does not exist is not an error; a closed index
 * rejects with CLOSED. Run `vectorIndexConformance` of `@inlay/conformance`.
 */
export interface VectorIndex {
  /**
   * How long superseded versions stay on disk after `maintain`, in milliseconds; maintenance runs once more after that
   * time. Default 0.
   */
  readonly keepVersionsMs?: number
  /**
   * Opens or creates the index. Without a space: full-text search only. Without `staging` it is opened again, with the
   * new space, if the embedder changes while the index is empty. @throws INDEX_MISMATCH if it was filled from another
   * space
   */
  open(space?: { id: string; dimensions: number }): Promise<void>
  append(rows: readonly IndexRow[]): Promise<void>
  remove(generations: readonly string[]): Promise<void>
  /** With text and vector, fuses both results. Hits are in descending order of score. */
  search(query: IndexQuery): Promise<Hit[]>
  /**
   * Rows of one generation between two positions (inclusive), by position; `score` is 0. With `vectors`, hits include
   * their vectors, so that unchanged chunks need not be embedded again.
   */
  read(generation: string, from: number, to: number, options?: { vectors?: boolean }): Promise<Hit[]>
  /**
   * Rows of several generations with their vectors, those of each by position. Absent if reading them one by one is as
   * fast.
   */
  readonly readAll?: (generations: readonly string[]) => Promise<Hit[]>
  /**
   * Performs compaction, clean-up and index building that are due. `idle` means that nothing has been written for a
   * while.
   */
  maintain(options?: { idle?: boolean; signal?: AbortSignal }): Promise<IndexFigures>
  figures(): Promise<IndexFigures>
  close(): Promise<void>
  /**
   * An index of its own in the same place, which an index migration fills while this one answers searches. It is
   * returned unopened and has its own `close`. Absent if a place holds only one index: a change of the embedder then
   * needs an empty one.
   * @param number tells staging indexes apart: 1 and up
   */
  readonly staging?: (number: number) => VectorIndex
  /**
   * Returns the state of the location, whether or not the index is open. A thorough inspection reads all data; any
   * other is cheap and loads no engine. Absent if the index cannot do this: a lost index is then not detected.
   * @param options.space the space the index should have been filled from, as for `open`; default: the one it was
   * opened with
   */
  readonly inspect?: (options?: {
    readonly thorough?: boolean
    readonly space?: { readonly id: string; readonly dimensions: number } | undefined
  }) => Promise<IndexCondition>
  /**
   * Lists the generations that have rows, in batches and in any order, possibly with duplicates. Rows appended or
   * removed meanwhile may be included or not. Absent if the index cannot do this: lost rows are then not detected.
   */
  readonly eachGeneration?: (listener: (generations: readonly string[]) => void, signal?: AbortSignal) => Promise<void>
  /** Stores an identity with the index, which {@link inspect} returns. It survives any change of the rows. */
  readonly mark?: (identity: string) => Promise<void>
  /**
   * Closes the index and deletes its data, but not that of other indexes at the location. Not an error if there is
   * nothing.
   */
  readonly drop?: () => Promise<void>
}

/** A search of the index, with `text`, `vector` or both. */
export interface IndexQuery {
  readonly text?: string
  readonly vector?: Float32Array
  readonly filter?: IndexFilter
  readonly limit: number
  readonly signal?: AbortSignal
}

/**
 * A piece of metadata as the index stores it: `key=value`, with `%` and `=` in the key percent-encoded, so that
 * different pairs never give the same tag. Case-sensitive.
 */
export function toTag(key: string, value: string): string {
  return `${key.replaceAll('%', '%25').replaceAll('=', '%3D')}=${value}`
}

export function fromTag(tag: string): { key: string; value: string } {
  const at = tag.indexOf('=')
  return { key: tag.slice(0, at).replaceAll('%3D', '=').replaceAll('%25', '%'), value: tag.slice(at + 1) }
}
