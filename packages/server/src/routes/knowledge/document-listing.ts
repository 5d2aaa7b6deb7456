import type { DocumentStatus } from '@inlay/knowledge'
import type { DocMinimalInfo } from '@inlay/protocol'

/** A document as an entry of a listing. */
export function toMinimalInfo(status: DocumentStatus): DocMinimalInfo {
  return {
    document_id: status.documentId,
    semantic_id: status.semanticIdentifier,
    link: status.link,
    state: status.phase,
  }
}

/** The `link` header of the next page; none after the last page. */
export function nextPageHeaders(url: URL, next: string | null): Record<string, string> {
  if (next === null) return {}
  // Only the query: a relative reference stays correct behind proxies that rewrite paths.
  const query = new URLSearchParams(url.search)
  query.set('after', next)
  return { link: `<?${query}>; rel="next"` }
}

/** A page of a listing. */
export interface Page {
  readonly documents: readonly DocumentStatus[]
  readonly next: string | null
}

/** Streams a listing as one JSON array. Only one page is in memory, however long the listing is. */
export function wholeListing(first: Page, pageAfter: (next: string) => Promise<Page>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let page: Page | undefined = first
  let before = '['
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { documents, next }: Page = page!
      const items = documents.map((document) => JSON.stringify(toMinimalInfo(document)))
      controller.enqueue(encoder.encode(`${before}${items.join(',')}${next === null ? ']' : ''}`))
      before = ','
      if (next === null) controller.close()
      else page = await pageAfter(next)
    },
  })
}
