import { timestamp } from '../timestamps.ts'
import * as v from 'valibot'
import { boolean, orNull } from '../fields.ts'
import { packetFamily, suchAs, type PacketFieldsOf } from './packet-entry.ts'
import { exampleDoc, searchDocSchema } from './search-doc.ts'

export const searchPackets = packetFamily({
  /** Starts a search in the indexed documents or, with `is_internet_search`, on the web. */
  search_tool_start: {
    /** Whether this is a web search. */
    is_internet_search: suchAs(v.optional(boolean, false), false),
  },
  /** Search queries, the most important first. */
  search_tool_queries_delta: {
    /** The queries. */
    queries: suchAs(v.array(v.string()), ['lab opening hours', 'when is the lab open']),
  },
  /** Filters of the search; sent before its queries, and only if there are any. */
  search_tool_filter_delta: {
    /** Sources to search. */
    sources: suchAs(
      v.optional(v.array(v.string()), () => []),
      ['confluence'],
    ),
    /** Only documents at or after this time. */
    time_filter_start: suchAs(orNull(timestamp), '2026-01-01T00:00:00Z'),
    /** Only documents at or before this time. */
    time_filter_end: suchAs(orNull(timestamp), null),
  },
  /** Documents selected for display; not sent when nothing was found. */
  search_tool_documents_delta: {
    /** The documents. */
    documents: suchAs(v.array(searchDocSchema), [exampleDoc]),
  },
  /** Begins the reading of pages. */
  open_url_start: {},
  /** URLs being read. */
  open_url_urls: {
    /** The addresses. */
    urls: suchAs(v.array(v.string()), ['https://lab.example/hours']),
  },
  /** Pages that could be read; not sent when none could. */
  open_url_documents: {
    /** The pages. */
    documents: suchAs(v.array(searchDocSchema), [exampleDoc]),
  },
})

/** Searching and reading pages: the fields of each packet type besides `type`. */
export type SearchPackets = PacketFieldsOf<typeof searchPackets>
