import type { IndexFilter, IndexRow, TimeRange } from '@inlay/knowledge'

export function testOf(
  filter: IndexFilter | undefined,
): (row: Omit<IndexRow, 'text' | 'searchText' | 'chunkMetadata'>) => boolean {
  if (!filter) return () => true
  const { sources, documentIds, pairs, tags, createdAt, ownUpdatedAt, updatedOrCreatedSince: from } = filter
  return (row) =>
    (!sources || sources.includes(row.source)) &&
    (!documentIds || documentIds.includes(row.documentId)) &&
    (!pairs || pairs.some((pair) => row.pairs.includes(pair))) &&
    (!tags || tags.every((any) => any.some((tag) => row.tags.includes(tag)))) &&
    (!createdAt || isWithin(row.createdAt, createdAt)) &&
    (!ownUpdatedAt || isWithin(row.ownUpdatedAt, ownUpdatedAt)) &&
    (from === undefined || row.updatedAt >= from || (row.createdAt !== null && row.createdAt >= from))
}

function isWithin(time: number | null, { start, end }: TimeRange): boolean {
  return time !== null && (start === undefined || time >= start) && (end === undefined || time <= end)
}
