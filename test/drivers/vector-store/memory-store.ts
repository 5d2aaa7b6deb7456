import type { NearPoint, VectorCollection, VectorPoint, VectorStore } from '@inlay/drivers/vector-store'

/** How a vector store in memory treats its points. */
export interface MemorySteps {
  open(shared: Map<string, VectorPoint>): Map<string, VectorPoint>
  put(points: Map<string, VectorPoint>, given: readonly VectorPoint[]): void | Promise<void>
  remove(points: Map<string, VectorPoint>, ids: readonly string[]): void
  cosine(a: Float32Array, b: Float32Array): number
  pick(near: NearPoint[], limit: number, filter: unknown): readonly NearPoint[]
  vector(point: VectorPoint): Float32Array
  clear(points: Map<string, VectorPoint>): void
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

/** Steps that keep the contract. */
export const soundSteps: MemorySteps = {
  open: (shared) => shared,
  put(points, given) {
    for (const point of given) points.set(point.id, { ...point, vector: point.vector.slice() })
  },
  remove(points, ids) {
    for (const id of ids) points.delete(id)
  },
  cosine: (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)),
  pick: (near, limit) => near.sort((a, b) => b.cosine - a.cosine).slice(0, limit),
  vector: ({ vector }) => vector.slice(),
  clear: (points) => points.clear(),
}

/** Vector stores in memory; those of one name share their points. */
export function memoryVectorStores(change: Partial<MemorySteps> = {}): (collection: VectorCollection) => VectorStore {
  const steps = { ...soundSteps, ...change }
  const collections = new Map<string, Map<string, VectorPoint>>()
  return ({ name, dimensions }) => {
    if (!collections.has(name)) collections.set(name, new Map())
    const points = steps.open(collections.get(name)!)
    return {
      async put(given) {
        if (given.some(({ vector }) => vector.length !== dimensions)) throw new Error('dimension mismatch')
        await steps.put(points, given)
      },
      remove: async (ids) => steps.remove(points, ids),
      async nearest(vector, limit, filter) {
        const near = [...points.values()].map(({ id, row, vector: other }) => ({
          id,
          row,
          cosine: steps.cosine(vector, other),
        }))
        return steps.pick(near, limit, filter)
      },
      async vectors(ids) {
        const known = ids.flatMap((id) => points.get(id) ?? [])
        return new Map(known.map((point) => [point.id, steps.vector(point)]))
      },
      clear: async () => steps.clear(points),
      close: async () => {},
    }
  }
}
