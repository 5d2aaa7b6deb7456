import type { BaseFilters, Principal, SearchDoc } from '@inlay/protocol'
import type { PastText } from './action.ts'

/** A search result: the document for clients, and the text for the model. */
export interface Passage {
  readonly document: SearchDoc
  /** The matched text, possibly with its neighbours; Markdown or plain text. */
  readonly content: string
  /** The part that matched originally; kept when the text is too long. Default: all of it. */
  readonly core?: string
  /** Title and headings above the text, outermost first. */
  readonly headings?: readonly string[]
  /** Position in its document; absent when unknown. */
  readonly span?: Span
  /** How its score came about; for display only. */
  readonly ranking?: PassageRanking
  /** The newer document that replaces this one; the model reads its title if it is among the results too. */
  readonly replacedBy?: { readonly documentId: string; readonly title: string }
}

/** Parts of the score of a passage, as far as they are known. */
export interface PassageRanking {
  /** Keyword score, 0 to 1: a share of the best one. */
  readonly words?: number
  /** Nearness of the vectors, at most 1: 1 for the nearest passage. */
  readonly vector?: number
  /** Weight of the vectors, 0 to 1; the keywords have the rest. */
  readonly vectorWeight?: number
  /** Factor for the age of the document, 0 to 1. */
  readonly recency?: number
  readonly isReranked?: true
  /** Whether it moved up because the query names its document. */
  readonly isNamed?: true
}

/** A range of a document's chunks, numbered from 0, both ends inclusive. */
export interface Span {
  readonly first: number
  readonly last: number
}

/** A range of a document as one text. */
export interface Excerpt {
  readonly content: string
  /** Title and headings above its beginning, outermost first. */
  readonly headings?: readonly string[]
  readonly span: Span
}

/**
 * Reads a range of a document in its current form, as far as it has the link of the chunk `chunk`, so that citations of
 * the excerpt never lead elsewhere. Undefined when the caller can see no such document.
 */
export type ExcerptReader = (
  query: Span & {
    readonly documentId: string
    readonly chunk: number
    readonly caller: Principal
    readonly signal?: AbortSignal
  },
) => Promise<Excerpt | undefined>

/** Finds passages, best first. Filters and the caller's access are applied inside the search. */
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
  /** Persona whose document sets and start date limit the search, and whose model helps; 0 is the default one. */
  readonly personaId: number
  /** Model that adds queries; null for that of the persona. */
  readonly model: { readonly provider: string; readonly version: string } | null
  /** Whether only the text itself is searched for. */
  readonly skipsExpansion: boolean
  /** The conversation before the text, oldest first. Default: none. */
  readonly messages?: readonly PastText[]
  /** Maximum passages, 1 to 200. */
  readonly limit: number
  readonly signal: AbortSignal
}

/** Searches files that are too long for a prompt. The engine passes only files it has checked. */
export interface FileSearch {
  /** Passages of these files only, best first; `document_id` is the file's id. Filters apply as in any search. */
  search(query: {
    readonly text: string
    readonly fileIds: readonly string[]
    /** The caller whose place in the queue is used; does not affect the results. */
    readonly caller?: Principal
    readonly filters?: BaseFilters | null
    readonly limit: number
    readonly signal?: AbortSignal
  }): Promise<readonly Passage[]>
  /** Like {@link ExcerptReader}, for a passage of a file. Default: passages are used as found. */
  readonly excerpt?: (
    query: Span & {
      readonly fileId: string
      readonly chunk: number
      readonly signal?: AbortSignal
    },
  ) => Promise<Excerpt | undefined>
}

export interface NamedDocumentSet {
  readonly id: number
  readonly name: string
}
