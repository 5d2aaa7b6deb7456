import type { SourceValue } from '@inlay/protocol'
import type { Excerpt, ExcerptRequest, FoundPassage, SearchRequest } from './search.ts'

export interface PrivateFile {
  readonly id: string
  /** Id of the owner; files of several owners are indexed in turn. */
  readonly ownerId?: string
  readonly title: string
  readonly source: SourceValue
  readonly sections: readonly { readonly text: string; readonly heading?: string }[]
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt: number
}

/**
 * Documents that can only be found by their ids: no search, listing or count includes them, whoever calls. The code
 * that uses this interface must check access itself.
 */
export interface PrivateFileIndex {
  /** See `Knowledge.accept`. */
  put(document: PrivateFile, options?: { readonly waitMs?: number; readonly signal?: AbortSignal }): Promise<void>
  /** Does nothing if the document does not exist. */
  remove(id: string): Promise<void>
  /**
   * Passages of only these documents, best first. Filters apply; a document set matches none of them. The caller is
   * used for fair scheduling, not for access.
   */
  search(
    query: Pick<SearchRequest, 'text' | 'filters' | 'limit' | 'signal' | 'caller'> & {
      readonly documentIds: readonly string[]
    },
  ): Promise<FoundPassage[]>
  /** Current text around a passage of one of these documents; undefined if it does not exist. */
  excerpt(request: Omit<ExcerptRequest, 'caller'>): Promise<Excerpt | undefined>
}
