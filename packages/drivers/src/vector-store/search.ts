import type { Hit, IndexQuery, VectorIndex } from '@inlay/knowledge'
import { fuse, type VectorHit } from '../hybrid-search/fusion.ts'
import { nearestRows } from './nearest-rows.ts'
import { idOf, vectorsOf } from './points.ts'
import type { VectorStore } from './store.ts'

interface VectorQuery {
  readonly query: IndexQuery & { readonly vector: Float32Array }
  readonly store: VectorStore
  readonly words: VectorIndex
  /** Weight of the vector in a fused score. */
  readonly share: number | undefined
}

/** Hits of both searches, best first; without text, the score is (1 + cosine) / 2. */
export async function searchBoth({ query, store, words, share }: VectorQuery): Promise<Hit[]> {
  const { vector, text = '', filter, limit, signal } = query
  const hasWords = text.trim() !== ''
  const depth = hasWords ? Math.max(limit * 4, 50) : limit
  const near = await nearestRows({ store, words, vector, filter, limit: depth, signal })
  signal?.throwIfAborted()
  const byWords = hasWords
    ? await words.search({ text, limit: depth, ...(filter && { filter }), ...(signal && { signal }) })
    : []
  if (byWords.length === 0)
    return near.slice(0, limit).map(({ hit, nearness }) => ({ ...hit, score: (1 + nearness) / 2 }))
  const hits = fuse(await withVectors(store, byWords, near), near, { vector, share, text, limit })
  signal?.throwIfAborted()
  return hits
}

/** Adds vectors to hits that only keyword search found. */
async function withVectors(
  store: VectorStore,
  hits: readonly Hit[],
  near: readonly VectorHit[],
): Promise<{ hit: Hit; score: number; vector?: Float32Array }[]> {
  const known = new Set(near.map(({ hit }) => idOf(hit)))
  const others = hits.filter((hit) => !known.has(idOf(hit)))
  const vectors = await vectorsOf(store, others)
  return hits.map((hit) => {
    const vector = vectors.get(idOf(hit))
    return { hit, score: hit.score, ...(vector && { vector }) }
  })
}
