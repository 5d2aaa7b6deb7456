/** One query to a web search. */
export interface WebQuery {
  /** Words as a person would type them; never blank. */
  readonly text: string
  /** Most results wanted, 1 to 20. */
  readonly limit: number
  readonly signal?: AbortSignal
}

/** One page that a web search found. */
export interface WebResult {
  /** Plain text; "" when the page has none. */
  readonly title: string
  /** http or https. */
  readonly url: string
  /** Excerpt of the page about the query, as plain text; may be "". */
  readonly snippet: string
  /** When the page was published or last changed, in milliseconds since 1970 UTC. */
  readonly publishedAt?: number
}

/**
 * Searches the web for one query. Results come best first, each address once and at most `limit`; nothing found
 * is an empty list and no error; titles and snippets hold no markup; an aborted call rejects; calls may run side by
 * side. Rejects with an `InlayError` that tells what failed without the words of the service. Run `webSearchConformance` of
 * `@inlay/conformance`.
 */
export type WebSearch = (query: WebQuery) => Promise<readonly WebResult[]>
