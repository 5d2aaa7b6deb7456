export interface WebQuery {
  /** Search words as a person would type them; never blank. */
  readonly text: string
  /** Maximum results, 1 to 20. */
  readonly limit: number
  readonly signal?: AbortSignal
}

export interface WebResult {
  /** Plain text; "" when the page has none. */
  readonly title: string
  /** http or https. */
  readonly url: string
  /** Excerpt about the query, as plain text; may be "". */
  readonly snippet: string
  /** Date of publication or the last change, in milliseconds since 1970 UTC. */
  readonly publishedAt?: number
}

/**
 * Searches the web for one query. Returns results best first, each address once, at most `limit`; no results are an
 * empty list, not an error. Titles and snippets contain no markup. An aborted call rejects; calls may run in parallel.
 * Rejects with an `InlayError` that does not quote the service. Run `webSearchConformance` of `@inlay/conformance`.
 */
export type WebSearch = (query: WebQuery) => Promise<readonly WebResult[]>
