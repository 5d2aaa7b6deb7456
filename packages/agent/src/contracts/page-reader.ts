import type { BaseFilters, Principal, SearchDoc } from '@inlay/protocol'

export interface ReadPage {
  /** Final URL, after redirects. */
  readonly url: string
  /** "" when it has no title. */
  readonly title: string
  /** Content as Markdown or plain text; never blank. */
  readonly text: string
  /** Date of the last change or publication, in milliseconds since 1970 UTC. */
  readonly updatedAt?: number
}

/**
 * Reads the page at an untrusted address, given by a model, a document or a person; the reader decides which addresses
 * are allowed. Rejects with an `InlayError` whose message says why a page cannot be read.
 */
export type PageReader = (url: string, options?: { readonly signal?: AbortSignal }) => Promise<ReadPage>

/** An indexed document that an address belongs to. */
export interface LinkedDocument {
  readonly document: SearchDoc
  /** All its text, as Markdown or plain text. */
  readonly text: string
}

/** Finds the indexed document with a link; undefined when the caller and the filters allow none. */
export type DocumentByLink = (query: {
  readonly link: string
  readonly filters?: BaseFilters | null
  readonly caller: Principal
  readonly signal?: AbortSignal
}) => Promise<LinkedDocument | undefined>
