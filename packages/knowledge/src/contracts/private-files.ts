import type { SourceValue } from '@inlay/protocol'
import type { Excerpt, ExcerptRequest, FoundPassage, SearchRequest } from './search.ts'

export interface PrivateFile {
  readonly id: string
  /** Id of the owner: files of several people take turns in the queue. */
  readonly ownerId?: string
  readonly title: string
  readonly source: SourceValue
  readonly sections: readonly { readonly text: string; readonly heading?: string }[]
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt: number
}

/**
 * Documents that only their ids find: no search, listing or count shows them, to no caller. Whoever asks here has
 * checked who may see what.
 */
export interface PrivateFileIndex {
  /** As `Knowledge.accept`. */
  put(document: PrivateFile, options?: { readonly waitMs?: number; readonly signal?: AbortSignal }): Promise<void>
  /** No error when it is not there. */
  remove(id: string): Promise<void>
  /**
   * Passages of these documents alone, best first; filters bind, and a document set finds nothing. The caller decides
   * whose turn it takes, not what is found.
   */
  search(
    query: Pick<SearchRequest, 'text' | 'filters' | 'limit' | 'signal' | 'caller'> & {
      readonly documentIds: readonly string[]
    },
  ): Promise<FoundPassage[]>
  /** Current text around a passage of one of these documents. Undefined when it does not exist. */
  excerpt(request: Omit<ExcerptRequest, 'caller'>): Promise<Excerpt | undefined>
}
