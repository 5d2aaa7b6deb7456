import type { IndexFilter, IndexRow } from '@inlay/knowledge'

/** A collection of vectors to be opened, and made when it is missing. */
export interface VectorCollection {
  /** Letters, digits and `-`. */
  readonly name: string
  /** Numbers of each vector. */
  readonly dimensions: number
}

/** Properties stored with a vector, as plain JSON. A store may use them for filtering. */
export type VectorRow = Pick<
  IndexRow,
  'documentId' | 'generation' | 'position' | 'source' | 'tags' | 'pairs' | 'updatedAt' | 'ownUpdatedAt' | 'createdAt'
>

/** A vector, and the row it stands for. */
export interface VectorPoint {
  /** A UUID, the same for the same row at any time. */
  readonly id: string
  readonly vector: Float32Array
  readonly row: VectorRow
}

/** A point near to a vector. */
export interface NearPoint {
  readonly id: string
  /** Cosine of the angle between the vectors, -1 to 1: 1 minus a cosine distance. */
  readonly cosine: number
  readonly row: VectorRow
}

/**
 * A store of vectors, and of nothing else. Guarantees: what a call wrote counts once it has resolved, also for another
 * handle of the same collection; failures reject. Run `vectorStoreConformance`.
 */
export interface VectorStore {
  /** Keeps points; one with an id that is there replaces it. At most 500 points in a call. */
  put(points: readonly VectorPoint[]): Promise<void>
  /** Removes points by id; ids that are not there are no error. At most 500 ids in a call. */
  remove(ids: readonly string[]): Promise<void>
  /**
   * The nearest points, nearest first: as many as `limit` says, or all there are.
   * @param filter may narrow the search; points that do not pass may come as well
   */
  nearest(vector: Float32Array, limit: number, filter?: IndexFilter): Promise<readonly NearPoint[]>
  /** Vectors by id, as they were put; ids that are not there are left out. */
  vectors(ids: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>
  /** Removes every point. */
  clear(): Promise<void>
  close(): Promise<void>
}
