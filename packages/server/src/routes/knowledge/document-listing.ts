import type { DocumentStatus } from '@inlay/knowledge'
import type { DocMinimalInfo } from '@inlay/protocol'
import { toDate } from '../../http/dates.ts'

export function toMinimalInfo(status: DocumentStatus): DocMinimalInfo {
  return {
    document_id: status.documentId,
    semantic_id: status.semanticIdentifier,
    link: status.link,
    state: status.phase,
  }
}

/** As {@link toMinimalInfo}, with what a table of documents shows. */
export function toDetailedInfo(status: DocumentStatus): DocMinimalInfo {
  const details = {
    source: status.source,
    bytes: status.contentBytes,
    chunk_count: status.chunkCount,
    accepted_at: new Date(status.acceptedAt).toISOString(),
    indexed_at: toDate(status.indexedAt),
    reason: status.reason,
    cc_pair_ids: status.pairIds,
    tags: (status.tags ?? []).map(({ key, value }) => ({ tag_key: key, tag_value: value })),
  }
  return { ...toMinimalInfo(status), details }
}

/** The `link` header of the next page; none after the last page. */
export function nextPageHeaders(url: URL, next: string | null): Record<string, string> {
  if (next === null) return {}
  // Only the query: a relative reference stays correct behind proxies that rewrite paths.
  const query = new URLSearchParams(url.search)
  query.set('after', next)
  return { link: `<?${query}>; rel="next"` }
}

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
