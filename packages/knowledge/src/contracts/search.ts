import type { BaseFilters, SearchDoc } from '@inlay/protocol'
import type { Caller } from './pairs.ts'

/**
 * Judges how well texts answer a query, better than an index can: a cross-encoder, mostly behind HTTP.
 * Guarantees: one finite number a text, in the order of the texts; higher is better; an aborted call rejects.
 */
export interface Reranker {
  rerank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<readonly number[]>
}

/**
 * How much newer documents are preferred: each score is multiplied by `(1 - weight) + weight * 2^(-age / half-life)`,
 * the age being that of the document's own date, or of its acceptance when it has none.
 */
export interface Recency {
  /** Age in days at which half of the preference is left; above 0. */
  readonly halfLifeDays: number
  /** 0 to 1: what a very old document loses of its score. Default 0.5. */
  readonly weight?: number
}

/** A passage as search gives it: the wire's SearchDoc, the text, and the headings above it. */
export interface FoundPassage {
  readonly document: SearchDoc
  readonly content: string
  /** The text of its best chunk; absent when that is all of it. */
  readonly core?: string
  readonly headings: readonly string[]
  /** Which chunks of its document it is made of, from 0, both ends inclusive. */
  readonly span: { readonly first: number; readonly last: number }
}

/** A stretch of a document as one text. */
export interface Excerpt {
  readonly content: string
  /** Above its beginning, outermost first. */
  readonly headings: readonly string[]
  readonly span: { readonly first: number; readonly last: number }
  /** Estimated tokens of the content. */
  readonly tokens: number
}

/** How long a document is, as it is searched. */
export interface DocumentSize {
  readonly chunks: number
  /** Estimated. */
  readonly tokens: number
}

/** Asks for a stretch of a document. */
export interface ExcerptRequest {
  readonly documentId: string
  /** Numbers of the first and last chunk wanted, both inclusive; 64 at most are given. */
  readonly first: number
  readonly last: number
  /** Number of the chunk that the excerpt is to hold: it ends where another link begins. */
  readonly chunk: number
  /** Absent: the host itself, no restriction. */
  readonly caller?: Caller
}

/** A search of the knowledge: words in, passages out, best first. */
export interface SearchRequest {
  readonly text: string
  readonly filters?: BaseFilters | null
  /** Absent: the host itself, no restriction. */
  readonly caller?: Caller
  /** Most passages, 1 to 200. Default 10. */
  readonly limit?: number
  /** Whether newer documents are preferred. Absent: as the knowledge was made; null: they are not. */
  readonly recency?: Recency | null
  readonly signal?: AbortSignal
}
