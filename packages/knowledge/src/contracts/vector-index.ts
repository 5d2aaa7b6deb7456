/**
 * Turns texts into vectors of one space.
 * Guarantees: the same text gives the same vector up to rounding; results come in the order of the texts; every vector has
 * `dimensions` finite numbers; an aborted call rejects. Run `embedderConformance` of `@inlay/conformance`.
 */
export interface Embedder {
  /** Names the vector space: `provider/model@dimensions`. Vectors of two ids are never compared. */
  readonly id: string
  readonly dimensions: number
  /** Most texts in one call; Infinity when unlimited. */
  readonly batch: number
  /** Whether it knows the Latin script alone: words answer queries in others. Default: it knows all. */
  readonly isLatinOnly?: boolean
  embed(texts: readonly string[], use: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array[]>
}

/** One chunk of one generation of a document, as the index keeps it. Rows are never changed, only added and removed. */
export interface IndexRow {
  readonly documentId: string
  /** Names one indexed version of one document; unique over all documents and time. */
  readonly generation: string
  /** Number of the chunk in its document, from 0. */
  readonly position: number
  /** Text for display and for the model. */
  readonly text: string
  /** Text for full-text search: the title twice, the text, parts of identifiers. */
  readonly searchText: string
  readonly source: string
  /** Each `key=value` with `key` percent-encoded where it holds `=` or `%`; see `toTag`. */
  readonly tags: readonly string[]
  /** Connector/credential pairs the document belongs to. */
  readonly pairs: readonly number[]
  /** Milliseconds since 1970 UTC: the document's own date, or when its present content was accepted. */
  readonly updatedAt: number
  /** The document's own date of its last change; null when it has none. */
  readonly ownUpdatedAt: number | null
  readonly createdAt: number | null
  /** JSON of what a passage shows besides its text (title, link, metadata, owners, …); opaque to the index. */
  readonly chunkMetadata: string
  /** Present exactly when the index was opened with a space; `dimensions` finite numbers. */
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

/** A row found. `score` lies in [0, 1], higher is nearer, comparable only inside one result. */
export interface Hit {
  readonly documentId: string
  readonly generation: string
  readonly position: number
  readonly text: string
  readonly chunkMetadata: string
  readonly source: string
  readonly updatedAt: number
  readonly score: number
  /** Only in a `read` that asked for it. */
  readonly vector?: Float32Array
}

/** Statistics of an index, including pending maintenance. */
export interface IndexFigures {
  readonly rows: number
  /** Rows not yet folded into the full-text index. */
  readonly unindexedRows: number
  readonly bytes?: number
  /** When `maintain` has something to do again though nothing is written, in milliseconds from now. */
  readonly upkeepDueMs?: number
}

/** State of the storage location of an index. */
export interface IndexCondition {
  /**
   * `missing`: no index; `damaged`: one that cannot be read; `outdated`: one of another format or space. The last two
   * are only told by a thorough look.
   */
  readonly state: 'missing' | 'present' | 'damaged' | 'outdated'
  /** Identity written by the last `mark`; absent if never marked. */
  readonly identity?: string
  /** True for an index from before its driver could mark any: it is then taken for the right one. */
  readonly predatesMarks?: true
}

/** Why all documents are indexed again. */
export type RebuildReason = 'lost' | 'damaged' | 'foreign' | 'outdated' | 'requested'

/**
 * Keeps rows and finds them. Guarantees: an append of many documents is one commit; filters bind before the limit; text of
 * a filter never changes its meaning; removing what is not there is no error; a closed index refuses with CLOSED.
 * Run `vectorIndexConformance` of `@inlay/conformance`.
 */
export interface VectorIndex {
  /** How long superseded versions stay on disk after `maintain`, in ms: one more upkeep run follows then. Default 0. */
  readonly keepVersionsMs?: number
  /** Opens or creates; INDEX_MISMATCH when it was filled from another space. No space: full text only. */
  open(space?: { id: string; dimensions: number }): Promise<void>
  append(rows: readonly IndexRow[]): Promise<void>
  remove(generations: readonly string[]): Promise<void>
  /** With text and vector: both sides fused. Hits come by falling score. */
  search(query: IndexQuery): Promise<Hit[]>
  /**
   * Rows of one generation between two positions (inclusive), by position; `score` is 0. With `vectors`, each hit
   * carries its vector when the row has one, so that unchanged chunks are not embedded again.
   */
  read(generation: string, from: number, to: number, options?: { vectors?: boolean }): Promise<Hit[]>
  /** Compaction, clean-up, index building, as far as due; `idle` says that nothing was written for a while. */
  maintain(options?: { idle?: boolean; signal?: AbortSignal }): Promise<IndexFigures>
  figures(): Promise<IndexFigures>
  close(): Promise<void>
  /**
   * Another index in the same place, for another space: nothing of one is found in the other. It is not opened yet, and
   * closed by itself. Absent when a place holds one index only: changing the embedder then needs an empty one.
   * @param number names it, 1 and up
   */
  readonly beside?: (number: number) => VectorIndex
  /**
   * Tells what is in the place, opened or not. A thorough look reads all there is; another one costs next to nothing
   * and loads no engine. Absent when the index cannot tell: a lost one is then not noticed.
   * @param options.space what it should have been filled from, as `open` takes it; default: what it was opened with
   */
  readonly inspect?: (options?: {
    readonly thorough?: boolean
    readonly space?: { readonly id: string; readonly dimensions: number } | undefined
  }) => Promise<IndexCondition>
  /**
   * Lists the generations that have rows, some at a time and in any order; one may come several times. What is appended or
   * removed meanwhile may be listed or not. Absent when the index cannot: rows that it has lost are then not noticed.
   */
  readonly eachGeneration?: (listener: (generations: readonly string[]) => void, signal?: AbortSignal) => Promise<void>
  /** Marks the index in the place, so that {@link inspect} tells it from any other. Survives whatever its rows do. */
  readonly mark?: (identity: string) => Promise<void>
  /** Closes, then removes all it holds, but nothing of indexes beside it. No error when nothing is there. */
  readonly drop?: () => Promise<void>
}

/** A search of the index; at least one of `text` and `vector`. */
export interface IndexQuery {
  readonly text?: string
  readonly vector?: Float32Array
  readonly filter?: IndexFilter
  readonly limit: number
  readonly signal?: AbortSignal
}

/**
 * The form in which an index keeps one piece of metadata: `key=value`, with `%` and `=` of the key percent-encoded, so
 * that two pairs never share a tag. Upper and lower case differ.
 */
export function toTag(key: string, value: string): string {
  return `${key.replaceAll('%', '%25').replaceAll('=', '%3D')}=${value}`
}

/** Takes a tag apart again. */
export function fromTag(tag: string): { key: string; value: string } {
  const at = tag.indexOf('=')
  return { key: tag.slice(0, at).replaceAll('%3D', '=').replaceAll('%25', '%'), value: tag.slice(at + 1) }
}
