import type { IndexRow } from '@inlay/knowledge'

/** A row for tests of the index, whose search text is its text. */
export function row(id: string, text: string, rest: Partial<IndexRow> = {}): IndexRow {
  return {
    documentId: id,
    generation: `generation of ${id}`,
    position: 0,
    text,
    searchText: text,
    source: 'web',
    tags: [],
    pairs: [1],
    updatedAt: 0,
    ownUpdatedAt: null,
    createdAt: null,
    chunkMetadata: '{}',
    ...rest,
  }
}
