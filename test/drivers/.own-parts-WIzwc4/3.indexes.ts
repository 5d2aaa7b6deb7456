import type { NearPoint, VectorCollection, VectorPoint, VectorStore } from 'inlay/drivers'

const collections = new Map<string, Map<string, VectorPoint>>()
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

/** Compares every vector: put the client of your database here. */
export function openVectors({ name, dimensions }: VectorCollection): VectorStore {
  const points = collections.get(name) ?? new Map<string, VectorPoint>()
  collections.set(name, points)
  return {
    async put(given) {
      if (given.some(({ vector }) => vector.length !== dimensions)) throw new Error('A vector has another length.')
      for (const point of given) points.set(point.id, { ...point, vector: point.vector.slice() })
    },
    async remove(ids) {
      for (const id of ids) points.delete(id)
    },
    async nearest(vector, limit) {
      const near = [...points.values()].map(({ id, row, vector: other }): NearPoint => {
        const cosine = dot(vector, other) / Math.sqrt(dot(vector, vector) * dot(other, other))
        return { id, row, cosine }
      })
      return near.sort((a, b) => b.cosine - a.cosine).slice(0, limit)
    },
    async vectors(ids) {
      return new Map(ids.flatMap((id) => (points.has(id) ? [[id, points.get(id)!.vector.slice()]] : [])))
    },
    async clear() {
      points.clear()
    },
    async close() {},
  }
}

import { vectorStoreConformance } from 'inlay/conformance'

for (const [title, run] of vectorStoreConformance(openVectors)) test(title, run)

import { createInlay, type Embedder } from 'inlay'
import { lancedbIndex, vectorStoreIndex } from 'inlay/drivers'

export function openInlay(folder: string, embedder: Embedder) {
  return createInlay({
    embedder,
    index: vectorStoreIndex({ words: lancedbIndex({ folder }), vectors: openVectors }),
  })
}

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vectorIndexConformance } from 'inlay/conformance'

const folder = mkdtempSync(join(tmpdir(), 'index-'))
const indexTests = vectorIndexConformance((store) =>
  vectorStoreIndex({
    words: lancedbIndex({ folder: join(folder, store) }),
    vectors: ({ name, dimensions }) => openVectors({ name: `${store}-${name}`, dimensions }),
  }),
)
for (const [title, run] of indexTests) test(title, run)
