import type { IndexFilter, IndexRow } from '@inlay/knowledge'

/** A collection of vectors to open, or to create if it does not exist. */
export interface VectorCollection {
  /** Letters, digits and `-`. */
  readonly name: string
  readonly dimensions: number
}

/** Properties stored with a vector, as plain JSON. A store may use them for filtering. */
export type VectorRow = Pick<
  IndexRow,
  'documentId' | 'generation' | 'position' | 'source' | 'tags' | 'pairs' | 'updatedAt' | 'ownUpdatedAt' | 'createdAt'
>

export interface VectorPoint {
  /** A UUID, always the same for the same row. */
  readonly id: string
  readonly vector: Float32Array
  readonly row: VectorRow
}

export interface NearPoint {
  readonly id: string
  /** Cosine of the angle between the vectors, -1 to 1: 1 minus a cosine distance. */
  readonly cosine: number
  readonly row: VectorRow
}

/**
 * A store for vectors only. Guarantees: writes are visible when the call resolves, also to other handles of the same
 * collection; failures reject. Run `vectorStoreConformance`.
 */
export interface VectorStore {
  /** Stores points, replacing those with the same id. At most 500 points per call. */
  put(points: readonly VectorPoint[]): Promise<void>
  /** Removes points by id; unknown ids are ignored. At most 500 ids per call. */
  remove(ids: readonly string[]): Promise<void>
  /**
   * The nearest points, nearest first: `limit` points, or all if there are fewer.
   * @param filter may be used to restrict the search; points that do not match may also be returned
   */
  nearest(vector: Float32Array, limit: number, filter?: IndexFilter): Promise<readonly NearPoint[]>
  /** Vectors by id, unchanged; unknown ids are omitted. */
  vectors(ids: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>
  /** Removes all points. */
  clear(): Promise<void>
  close(): Promise<void>
}
