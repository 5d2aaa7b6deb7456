import type { StoredFile } from '../../contracts/file-store.ts'
import type { ExcerptReader, FileSearch, PassageSearch } from '../../contracts/search.ts'
import { fuseRankings, passageKey } from '../merged-queries.ts'

/**
 * The search over files that are too long for the prompt, besides what `others` finds.
 * @param others search of the organisation's documents; undefined: the files alone
 */
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

/** Creates a reader of the text around passages that {@link createFileSearch} finds. */
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
