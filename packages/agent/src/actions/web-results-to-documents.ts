import type { SearchDoc } from '@inlay/protocol'

export interface WebPage {
  /** Canonical address: the same page is the same document, whichever action found it. */
  readonly url: string
  /** URL that the page was read from, if different. */
  readonly readAt?: string
  readonly title: string
  readonly blurb: string
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt?: number
  /** Position among the results, from 0. */
  readonly rank: number
}

/** Maximum characters from a page or service: lines of a stream are bounded. */
const maxTitleLength = 500
const maxBlurbLength = 4_000
export const maxAddressLength = 8_000

/** Creates the document of a web page; title and blurb are cut to the length that lists show. */
export function toWebDocument({ url, readAt = url, title, blurb, updatedAt, rank }: WebPage): SearchDoc {
  return {
    document_id: `WEB_SEARCH_DOC_${url}`,
    chunk_ind: 0,
    semantic_identifier: title.trim() === '' ? 'Unknown' : title.slice(0, maxTitleLength).toWellFormed(),
    link: readAt.length > maxAddressLength ? url : readAt,
    blurb: blurb.slice(0, maxBlurbLength).toWellFormed(),
    source_type: 'web',
    boost: 1,
    hidden: false,
    metadata: {},
    score: 1 / (rank + 1),
    is_relevant: null,
    relevance_explanation: null,
    match_highlights: [],
    updated_at: toTimestamp(updatedAt),
    primary_owners: null,
    secondary_owners: null,
    is_internet: true,
    file_id: null,
  }
}

function toTimestamp(timestamp: number | undefined): string | null {
  if (timestamp === undefined || Number.isNaN(new Date(timestamp).getTime())) return null
  return new Date(timestamp).toISOString()
}
