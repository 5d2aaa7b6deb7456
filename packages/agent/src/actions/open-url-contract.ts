import type { BaseFilters, Principal, SearchDoc } from '@inlay/protocol'

/** A page as it was read. */
export interface ReadPage {
  /** Final URL, after redirects. */
  readonly url: string
  /** "" when it has none. */
  readonly title: string
  /** Content as Markdown or plain text; never blank. */
  readonly text: string
  /** When it was last changed or published, in milliseconds since 1970 UTC. */
  readonly updatedAt?: number
}

/**
 * Reads the page at an address that a model, a document or a person gave, which is never to be trusted: what the address
 * may be is decided here. A page that cannot be read rejects with an `InlayError` whose message says why.
 */
export type PageReader = (url: string, options?: { readonly signal?: AbortSignal }) => Promise<ReadPage>

/** A document of the organisation that an address belongs to. */
export interface LinkedDocument {
  readonly document: SearchDoc
  /** All of its text, as Markdown or plain text. */
  readonly text: string
}

/** Finds the indexed document with a link; undefined when there is none that the caller and the filters let see. */
export type DocumentByLink = (query: {
  readonly link: string
  readonly filters?: BaseFilters | null
  readonly caller: Principal
  readonly signal?: AbortSignal
}) => Promise<LinkedDocument | undefined>
