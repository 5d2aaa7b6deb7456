import type { StoredFile } from '../../contracts/file-store.ts'
import type { ExcerptReader, FileSearch, PassageSearch } from '../../contracts/search.ts'
import { fuseRankings, passageKey } from '../merged-queries.ts'

/** @param others search of the organisation's documents; undefined to search only the files */
export function createFileSearch(
  index: FileSearch,
  files: readonly StoredFile[],
  others: PassageSearch | undefined,
): PassageSearch {
  const fileIds = files.map(({ id }) => id)
  return async (query) => {
    const [own, outside] = await Promise.all([index.search({ ...query, fileIds }), others?.(query) ?? []])
    if (outside.length === 0) return own
    const rankings = [own, outside].map((items) => ({ items, weight: 1 }))
    return fuseRankings(rankings, passageKey)
      .map(({ item }) => item)
      .slice(0, query.limit)
  }
}

export function createFileExcerpts(
  index: FileSearch,
  files: readonly StoredFile[],
  others: ExcerptReader | undefined,
): ExcerptReader {
  const fileIds = new Set(files.map(({ id }) => id))
  return async ({ documentId, caller, ...part }) => {
    if (fileIds.has(documentId)) return index.excerpt?.({ fileId: documentId, ...part })
    return others?.({ documentId, caller, ...part })
  }
}
