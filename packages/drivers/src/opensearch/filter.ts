import type { IndexFilter, TimeRange } from '@inlay/knowledge'

/** Query clauses of a filter, all of which must match; [] for none. */
export function clausesOf(filter: IndexFilter = {}): Record<string, unknown>[] {
  const { sources, pairs, tags = [], documentIds, createdAt, ownUpdatedAt, updatedOrCreatedSince: since } = filter
  return [
    ...(sources ? [{ terms: { source: sources } }] : []),
    ...(pairs ? [{ terms: { pairs } }] : []),
    ...tags.map((any) => ({ terms: { tags: any } })),
    ...(documentIds ? [{ terms: { documentId: documentIds } }] : []),
    ...(createdAt ? [rangeOf('createdAt', createdAt)] : []),
    ...(ownUpdatedAt ? [rangeOf('ownUpdatedAt', ownUpdatedAt)] : []),
    ...(since === undefined
      ? []
      : [{ bool: { should: [rangeOf('updatedAt', { start: since }), rangeOf('createdAt', { start: since })] } }]),
  ]
}

function rangeOf(field: string, { start, end }: TimeRange): Record<string, unknown> {
  if (start === undefined && end === undefined) return { exists: { field } }
  return { range: { [field]: { ...(start !== undefined && { gte: start }), ...(end !== undefined && { lte: end }) } } }
}
