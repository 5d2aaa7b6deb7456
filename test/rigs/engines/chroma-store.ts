import type { VectorCollection, VectorRow, VectorStore } from '@inlay/drivers/vector-store'

type Json = Record<string, unknown>

/** Result of a Chroma query: a list per query vector. */
interface Neighbours {
  readonly ids: readonly string[][]
  readonly distances: readonly number[][]
  readonly metadatas: readonly { readonly row: string }[][]
}

/** Collections of a Chroma server as stores of vectors. Its metadata holds no lists: a row is kept as JSON. */
export function chromaStores(server: string): (collection: VectorCollection) => Promise<VectorStore> {
  const root = `${server}/api/v2/tenants/default_tenant/databases/default_database/collections`
  async function post<Reply>(path: string, body: Json): Promise<Reply> {
    const response = await fetch(root + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`Chroma answered ${response.status}: ${await response.text()}`)
    // Replies as its API describes them.
    return (await response.json()) as Reply
  }
  return async ({ name }) => {
    const configuration = { hnsw: { space: 'cosine' } }
    const { id } = await post<{ id: string }>('', { name, configuration, get_or_create: true })
    const listed = (body: Json) =>
      post<{ ids: string[]; embeddings?: number[][] }>(`/${id}/get`, { limit: 500, include: [], ...body })
    const remove = async (ids: readonly string[]): Promise<void> => {
      if (ids.length > 0) await post(`/${id}/delete`, { ids })
    }
    return {
      async put(points) {
        if (points.length === 0) return
        await post(`/${id}/upsert`, {
          ids: points.map((point) => point.id),
          embeddings: points.map(({ vector }) => [...vector]),
          metadatas: points.map(({ row }) => ({ row: JSON.stringify(row) })),
        })
      },
      remove,
      async nearest(vector, limit) {
        const include = ['distances', 'metadatas']
        const reply = await post<Neighbours>(`/${id}/query`, {
          query_embeddings: [[...vector]],
          n_results: limit,
          include,
        })
        return (reply.ids[0] ?? []).map((point, at) => ({
          id: point,
          cosine: 1 - reply.distances[0]![at]!,
          row: JSON.parse(reply.metadatas[0]![at]!.row) as VectorRow,
        }))
      },
      async vectors(ids) {
        if (ids.length === 0) return new Map()
        const { ids: known, embeddings = [] } = await listed({ ids, include: ['embeddings'] })
        return new Map(known.map((point, at) => [point, Float32Array.from(embeddings[at]!)]))
      },
      async clear() {
        for (let ids = (await listed({})).ids; ids.length > 0; ids = (await listed({})).ids) await remove(ids)
      },
      close: async () => {},
    }
  }
}
