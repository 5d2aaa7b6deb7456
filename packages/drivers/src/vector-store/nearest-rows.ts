import type { Hit, IndexFilter, VectorIndex } from '@inlay/knowledge'
import { mapConcurrent, untilAborted } from '@inlay/scheduling'
import { testOf } from '../hybrid-search/row-filter.ts'
import { guarded } from './failures.ts'
import type { NearPoint, VectorStore } from './store.ts'

interface NearestQuery {
  readonly store: VectorStore
  /** Contains the rows. */
  readonly words: VectorIndex
  readonly vector: Float32Array
  readonly filter: IndexFilter | undefined
  readonly limit: number
  readonly signal: AbortSignal | undefined
}

const maxReads = 8

/** Nearest first, by the cosine. If the store does not filter, more points are requested until enough match. */
export async function nearestRows(query: NearestQuery): Promise<{ hit: Hit; nearness: number }[]> {
  const { store, words, vector, filter, limit, signal } = query
  const rows = new Map<string, Hit | undefined>()
  const passes = testOf(filter)
  const readRow = async ({ id, row }: NearPoint): Promise<void> => {
    if (rows.has(id)) return
    const [hit] = await words.read(row.generation, row.position, row.position)
    rows.set(id, hit)
  }
  const nearest = (count: number): Promise<readonly NearPoint[]> => {
    const call = guarded(() => store.nearest(vector, count, filter))
    return signal ? untilAborted(call, signal) : call
  }
  /** Some points may have lost their row, so as many more are read. */
  const hitsOf = async (points: readonly NearPoint[]): Promise<{ hit: Hit; nearness: number }[]> => {
    for (let wanted = limit; ;) {
      await mapConcurrent(points.slice(0, wanted), maxReads, readRow)
      signal?.throwIfAborted()
      const hits = points.slice(0, wanted).flatMap(({ id, cosine }) => {
        const hit = rows.get(id)
        return hit ? [{ hit, nearness: cosine }] : []
      })
      if (hits.length >= limit || wanted >= points.length) return hits.slice(0, limit)
      wanted += limit - hits.length
    }
  }
  for (let count = filter ? limit * 4 : limit; ; count *= 4) {
    const points = await nearest(count)
    const hits = await hitsOf(points.filter(({ row }) => passes(row)))
    if (hits.length >= limit || points.length < count) return hits
  }
}
