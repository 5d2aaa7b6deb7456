import type { SearchDoc } from '@inlay/protocol'

/** A page of the web as it is shown and cited. */
export interface WebPage {
  /** The address it is known by: the same page has the same document, whichever action came upon it. */
  readonly url: string
  /** URL the page was read from, if different. */
  readonly readAt?: string
  readonly title: string
  readonly blurb: string
  /** Milliseconds since 1970 UTC. */
  readonly updatedAt?: number
  /** Place among the results, from 0. */
  readonly rank: number
}

/** A line of a stream is bounded, and so is what a page or a service may put into it, in characters. */
const longestTitle = 500
const longestBlurb = 4_000
/** Longest address that is shown and opened, in characters. */
export const longestAddress = 8_000

/** Makes the document that stands for a page of the web; its title and blurb are cut to what a list shows. */
export function toWebDocument({ url, readAt = url, title, blurb, updatedAt, rank }: WebPage): SearchDoc {
  return {
    document_id: `WEB_SEARCH_DOC_${url}`,
    chunk_ind: 0,
    semantic_identifier: title.trim() === '' ? 'Unknown' : title.slice(0, longestTitle).toWellFormed(),
    link: readAt.length > longestAddress ? url : readAt,
    blurb: blurb.slice(0, longestBlurb).toWellFormed(),
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
