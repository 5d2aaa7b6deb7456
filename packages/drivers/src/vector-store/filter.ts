import type { IndexFilter, TimeRange } from '@inlay/knowledge'
import type { VectorRow } from './store.ts'

const isWithin = (time: number | null, { start = -Infinity, end = Infinity }: TimeRange): boolean =>
  time !== null && time >= start && time <= end

/** Whether a row passes a filter. */
export function passes(row: VectorRow, filter: IndexFilter = {}): boolean {
  const { sources, pairs, tags, documentIds, createdAt, ownUpdatedAt, updatedOrCreatedSince } = filter
  return (
    (!sources || sources.includes(row.source)) &&
    (!pairs || pairs.some((pair) => row.pairs.includes(pair))) &&
    (!tags || tags.every((any) => any.some((tag) => row.tags.includes(tag)))) &&
    (!documentIds || documentIds.includes(row.documentId)) &&
    (!createdAt || isWithin(row.createdAt, createdAt)) &&
    (!ownUpdatedAt || isWithin(row.ownUpdatedAt, ownUpdatedAt)) &&
    (updatedOrCreatedSince === undefined ||
      Math.max(row.updatedAt, row.createdAt ?? -Infinity) >= updatedOrCreatedSince)
  )
}
