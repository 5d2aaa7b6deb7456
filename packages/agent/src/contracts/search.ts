import type { BaseFilters, Principal, SearchDoc } from '@inlay/protocol'
import type { PastText } from './action.ts'

/** A passage found: what clients show, and the text the model reads. */
export interface Passage {
  readonly document: SearchDoc
  /** The matched text, possibly with its neighbours; Markdown or plain text. */
  readonly content: string
  /** The part of it that was found first of all; kept where the whole is too long. Default: the whole. */
  readonly core?: string
  /** Title and headings above the text, outermost first. */
  readonly headings?: readonly string[]
  /** Position in its document; absent when unknown. */
  readonly span?: Span
}

/** A stretch of a document by the numbers of its chunks, from 0, both ends inclusive. */
export interface Span {
  readonly first: number
  readonly last: number
}

/** A stretch of a document as one text. */
export interface Excerpt {
  readonly content: string
  /** Title and headings above its beginning, outermost first. */
  readonly headings?: readonly string[]
  readonly span: Span
}

/**
 * Reads a stretch of a document as it is now, as far as it has the link of the chunk `chunk`, so that a citation of the
 * excerpt never leads elsewhere. Undefined when there is no such document that the caller may see.
 */
export type ExcerptReader = (
  query: Span & {
    readonly documentId: string
    readonly chunk: number
    readonly caller: Principal
    readonly signal?: AbortSignal
  },
) => Promise<Excerpt | undefined>

/** Finds passages. Filters and the caller's access bind inside the search; results come best first. */
export type PassageSearch = (query: {
  readonly text: string
  readonly filters?: BaseFilters | null
  readonly caller: Principal
  readonly limit: number
  readonly signal?: AbortSignal
}) => Promise<readonly Passage[]>

/** A search without an answer. */
export interface PassageQuery {
  readonly text: string
  readonly filters: BaseFilters | null
  readonly caller: Principal
  /** Persona whose document sets and start date bound the search, and whose model helps; 0 is the default one. */
  readonly personaId: number
  /** Model that thinks of further queries; null: that of the persona. */
  readonly model: { readonly provider: string; readonly version: string } | null
  /** Whether the text alone is searched for. */
  readonly skipsExpansion: boolean
  /** The conversation before the text, oldest first. Default: none. */
  readonly messages?: readonly PastText[]
  /** Most passages, 1 to 200. */
  readonly limit: number
  readonly signal: AbortSignal
}

/** Searches among files that are too long for a prompt. The engine asks for files it has checked, and nothing else. */
export interface FileSearch {
  /** Passages of these files alone, best first; `document_id` of each is the file's id. Filters bind as in any search. */
  search(query: {
    readonly text: string
    readonly fileIds: readonly string[]
    /** The caller whose turn in the queue the search uses; does not affect the results. */
    readonly caller?: Principal
    readonly filters?: BaseFilters | null
    readonly limit: number
    readonly signal?: AbortSignal
  }): Promise<readonly Passage[]>
  /**
   * Reads text around a passage of a file, like {@link ExcerptReader} for documents. Default: passages stay as they
   * are.
   */
  readonly excerpt?: (
    query: Span & {
      readonly fileId: string
      readonly chunk: number
      readonly signal?: AbortSignal
    },
  ) => Promise<Excerpt | undefined>
}

/** A document set as a turn needs it. */
export interface NamedDocumentSet {
  readonly id: number
  readonly name: string
}
