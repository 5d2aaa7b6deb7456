import { createHash } from 'node:crypto'
import type { IndexRow } from '@inlay/knowledge'
import { guarded } from './failures.ts'
import type { VectorPoint, VectorStore } from './store.ts'

type Place = Pick<IndexRow, 'generation' | 'position'>

const maxPoints = 500

/** A UUID for a row, since some stores accept no other ids. */
export function idOf({ generation, position }: Place): string {
  const digest = createHash('sha256').update(`${position} ${generation}`).digest('hex')
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`]
  return [...parts, digest.slice(20, 32)].join('-')
}

export async function putRows(store: VectorStore, rows: readonly IndexRow[]): Promise<void> {
  const points = rows.flatMap(({ vector, ...row }) => (vector ? [toPoint(row, vector)] : []))
  await inGroups(points, (group) => store.put(group))
}

export async function removeRows(store: VectorStore, rows: readonly Place[]): Promise<void> {
  await inGroups(rows.map(idOf), (ids) => store.remove(ids))
}

/** The vectors of rows by their ids. */
export async function vectorsOf(store: VectorStore, rows: readonly Place[]): Promise<Map<string, Float32Array>> {
  const vectors = new Map<string, Float32Array>()
  await inGroups(rows.map(idOf), async (ids) => {
    for (const [id, vector] of await store.vectors(ids)) vectors.set(id, vector)
  })
  return vectors
}

function toPoint(given: Omit<IndexRow, 'vector'>, vector: Float32Array): VectorPoint {
  const { documentId, generation, position, source, tags, pairs, updatedAt, ownUpdatedAt, createdAt } = given
  const row = { documentId, generation, position, source, tags, pairs, updatedAt, ownUpdatedAt, createdAt }
  return { id: idOf(given), vector, row }
}

async function inGroups<Item>(items: readonly Item[], work: (group: readonly Item[]) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += maxPoints) await guarded(() => work(items.slice(at, at + maxPoints)))
}
