import { vectorStoreConformance, vectorIndexConformance } from '@inlay/conformance'
import { vectorStoreIndex } from '@inlay/drivers/vector-store'
import { describe, expect, it, test } from 'vitest'
import { sampleRow } from '@inlay/conformance/internal/vector-index/sample-rows'
import { plainIndexes } from '../../knowledge/plain-index.ts'
import { testMutants } from '../../mutants.ts'
import { memoryVectorStores, soundSteps, type MemorySteps } from './memory-store.ts'

describe('an index over a store of vectors', () => {
  const words = plainIndexes()
  const stores = new Map<string, ReturnType<typeof memoryVectorStores>>()
  const vectorsOf = (store: string): ReturnType<typeof memoryVectorStores> => {
    if (!stores.has(store)) stores.set(store, memoryVectorStores())
    return stores.get(store)!
  }
  const tests = vectorIndexConformance((store) => vectorStoreIndex({ words: words(store), vectors: vectorsOf(store) }))
  for (const [title, run] of tests) test(title, run)

  it('passes by vectors whose rows are gone', async () => {
    const rows = plainIndexes()('lost')
    const index = vectorStoreIndex({ words: rows, vectors: memoryVectorStores() })
    await index.open({ id: 'plain/letters@2', dimensions: 2 })
    const row = (id: string, degrees: number) =>
      sampleRow(id, id, { generation: id, vector: Float32Array.of(Math.cos(degrees / 57), Math.sin(degrees / 57)) })
    await index.append(Array.from({ length: 30 }, (_, at) => row(`r${at}`, at)))
    await rows.remove(Array.from({ length: 20 }, (_, at) => `r${at}`))
    const hits = await index.search({ vector: Float32Array.of(1, 0), limit: 3 })
    expect(hits.map(({ documentId }) => documentId)).toEqual(['r20', 'r21', 'r22'])
  })

  it('tells the failure of a store in words of its own', async () => {
    const vectors = memoryVectorStores({
      pick: () => {
        throw new Error('secret upstream text')
      },
    })
    const index = vectorStoreIndex({ words: plainIndexes()('failing'), vectors })
    await index.open({ id: 'plain/letters@2', dimensions: 2 })
    const search = index.search({ vector: Float32Array.of(1, 0), limit: 3 })
    await expect(search).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await expect(search).rejects.not.toThrow('secret')
  })
})

const length = (vector: Float32Array): number => Math.hypot(...vector)
const changingRow =
  (change: (json: string) => string): MemorySteps['put'] =>
  (points, given) =>
    soundSteps.put(
      points,
      given.map((point) => ({ ...point, row: JSON.parse(change(JSON.stringify(point.row))) })),
    )

testMutants<Partial<MemorySteps>>('vector store', (change) => vectorStoreConformance(memoryVectorStores(change)), {
  sound: {},
  mutants: {
    'takes the dot product for a cosine': { cosine: (a, b) => soundSteps.cosine(a, b) * length(a) * length(b) },
    'gives distances': { cosine: (a, b) => 1 - soundSteps.cosine(a, b) },
    'gives scores from 0 to 1': { cosine: (a, b) => (1 + soundSteps.cosine(a, b)) / 2 },
    'does not sort': { pick: (near, limit) => near.slice(0, limit) },
    'gives a hundred points at most': {
      pick: (near, limit, filter) => soundSteps.pick(near, Math.min(limit, 100), filter),
    },
    'gives one point more than the limit': { pick: (near, limit, filter) => soundSteps.pick(near, limit + 1, filter) },
    'limits before it filters': {
      pick: (near, limit, filter) => soundSteps.pick(near, filter ? 10 : limit, filter),
    },
    'joins tags of different lists by any': {
      pick: (near, limit, filter) => {
        const { sources } = (filter ?? {}) as { sources?: readonly string[] }
        return soundSteps.pick(near, limit, filter).filter(({ row }) => !sources || sources[0] !== row.source)
      },
    },
    'keeps normalised vectors': { vector: ({ vector }) => vector.map((value) => value / length(vector)) },
    'keeps eight bits of a number': { vector: ({ vector }) => vector.map((value) => Math.round(value * 127) / 127) },
    'keeps the array of the caller': {
      put: (points, given) => {
        for (const point of given) points.set(point.id, point)
      },
    },
    'takes null for nothing': { put: changingRow((json) => json.replaceAll('null', '0')) },
    'joins tags by commas': {
      put: (points, given) =>
        soundSteps.put(
          points,
          given.map((point) => ({ ...point, row: { ...point.row, tags: point.row.tags.join(',').split(',') } })),
        ),
    },
    'escapes quotes twice': { put: changingRow((json) => json.replaceAll("'", "''")) },
    'keeps the first point of an id': {
      put: (points, given) =>
        soundSteps.put(
          points,
          given.filter(({ id }) => !points.has(id)),
        ),
    },
    'takes the first hundred of a call': { put: (points, given) => soundSteps.put(points, given.slice(0, 100)) },
    'removes nothing': { remove: () => {} },
    'removes the first of several': { remove: (points, ids) => soundSteps.remove(points, ids.slice(0, 1)) },
    'fails to remove what is not there': {
      remove: (points, ids) => {
        if (ids.some((id) => !points.delete(id))) throw new Error('unknown id')
      },
    },
    'clears nothing': { clear: () => {} },
    'has points for each handle': { open: (shared) => new Map(shared) },
    'loses a write beside another': {
      put: async (points, given) => {
        const all = new Map(points)
        await Promise.resolve()
        points.clear()
        for (const [id, point] of all) points.set(id, point)
        soundSteps.put(points, given)
      },
    },
  },
})
