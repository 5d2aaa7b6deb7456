import type { BaseFilters, SearchDoc } from '@inlay/protocol'
import type { Caller } from './pairs.ts'
import type { HitRanking } from './vector-index.ts'

/**
 * Scores how well texts answer a query, more accurately than an index: a cross-encoder, usually over HTTP. Guarantees:
 * one finite number per text, in the order of the texts; higher is better; an aborted call rejects.
 */
export interface Reranker {
  rerank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<readonly number[]>
}

/**
 * How much newer documents are preferred: each score is multiplied by `(1 - weight) + weight * 2^(-age / half-life)`.
 * The age is that of the document's own date, or of its acceptance if it has none.
 */
export interface Recency {
  /** Age in days at which half of the preference remains; above 0. */
  readonly halfLifeDays: number
  /** 0 to 1: the share of its score that a very old document loses. Default 0.5. */
  readonly weight?: number
}

/** A passage found by a search: its SearchDoc on the wire, its text, and the headings above it. */
export interface FoundPassage {
  readonly document: SearchDoc
  readonly content: string
  /** The text of its best chunk; absent if the passage is one chunk. */
  readonly core?: string
  readonly headings: readonly string[]
  /** Indexes of its first and last chunk in the document, from 0, both inclusive. */
  readonly span: { readonly first: number; readonly last: number }
  /** How the score of its best chunk came about. */
  readonly ranking?: HitRanking
  readonly replacedBy?: DocumentReplacement
}

/** The newer document that replaces another one; the caller may read both. */
export interface DocumentReplacement {
  readonly documentId: string
  readonly title: string
  /** Link of its best passage; null if it has none. */
  readonly link: string | null
}

/** A range of a document as one text. */
export interface Excerpt {
  readonly content: string
  /** Headings above its beginning, outermost first. */
  readonly headings: readonly string[]
  readonly span: { readonly first: number; readonly last: number }
  /** Estimated tokens of the content. */
  readonly tokens: number
}

export interface DocumentChunk {
  /** Index in the document, from 0. */
  readonly position: number
  /** Markdown, without what splitting a table or a code block added. */
  readonly text: string
  /** Text between the chunk and the previous one. */
  readonly separator: string
  /** Headings above the chunk, outermost first. */
  readonly headings: readonly string[]
  readonly link: string | null
  readonly imageId: string | null
}

export interface DocumentChunks {
  readonly semanticIdentifier: string
  readonly source: string
  /** Milliseconds since 1970 UTC: the document's own date, or the time at which its content was accepted. */
  readonly updatedAt: number
  readonly fileId: string | null
  readonly chunks: readonly DocumentChunk[]
  /** Position at which to go on reading; null after the last chunk. */
  readonly next: number | null
}

export interface ChunksRequest {
  readonly documentId: string
  /** Index of the first chunk. */
  readonly first: number
  /** 1 to 64. */
  readonly limit: number
  /** Absent for the host itself, which has no restriction. */
  readonly caller?: Caller
}

export interface DocumentSize {
  readonly chunks: number
  /** Estimated. */
  readonly tokens: number
}

export interface ExcerptRequest {
  readonly documentId: string
  /** Indexes of the first and last chunk, both inclusive; at most 64 chunks are returned. */
  readonly first: number
  readonly last: number
  /** Index of a chunk that the excerpt must contain; the excerpt ends at chunks with another link. */
  readonly chunk: number
  /** Absent for the host itself, which has no restriction. */
  readonly caller?: Caller
}

export interface SearchRequest {
  readonly text: string
  readonly filters?: BaseFilters | null
  /** Absent: the host itself, no restriction. */
  readonly caller?: Caller
  /** Maximum number of passages, 1 to 200. Default 10. */
  readonly limit?: number
  /** How much newer documents are preferred. Absent: as configured; null: not at all. */
  readonly recency?: Recency | null
  readonly signal?: AbortSignal
}
