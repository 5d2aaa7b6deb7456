import { timestamp } from '../timestamps.ts'
import * as v from 'valibot'
import { boolean, orNull } from '../fields.ts'
import { packetFamily, type PacketFieldsOf } from './packet-entry.ts'
import { exampleDoc, searchDocSchema } from './search-doc.ts'

export const searchPackets = packetFamily({
  search_tool_start: {
    sentence: 'Starts a search in the indexed documents or, with `is_internet_search`, on the web.',
    fields: {
      /** Whether this is a web search. */
      is_internet_search: v.optional(boolean, false),
    },
    example: { is_internet_search: false },
  },
  search_tool_queries_delta: {
    sentence: 'Search queries, the most important first.',
    fields: {
      /** The queries. */
      queries: v.array(v.string()),
    },
    example: { queries: ['lab opening hours', 'when is the lab open'] },
  },
  search_tool_filter_delta: {
    sentence: 'Filters of the search; sent before its queries, and only if there are any.',
    fields: {
      /** Sources to search. */
      sources: v.optional(v.array(v.string()), () => []),
      /** Only documents at or after this time. */
      time_filter_start: orNull(timestamp),
      /** Only documents at or before this time. */
      time_filter_end: orNull(timestamp),
    },
    example: { sources: ['confluence'], time_filter_start: '2026-01-01T00:00:00Z', time_filter_end: null },
  },
  search_tool_documents_delta: {
    sentence: 'Documents selected for display; not sent when nothing was found.',
    fields: {
      /** The documents. */
      documents: v.array(searchDocSchema),
    },
    example: { documents: [exampleDoc] },
  },
  open_url_start: { sentence: 'Begins the reading of pages.', fields: {}, example: {} },
  open_url_urls: {
    sentence: 'URLs being read.',
    fields: {
      /** The addresses. */
      urls: v.array(v.string()),
    },
    example: { urls: ['https://lab.example/hours'] },
  },
  open_url_documents: {
    sentence: 'Pages that could be read; not sent when none could.',
    fields: {
      /** The pages. */
      documents: v.array(searchDocSchema),
    },
    example: { documents: [exampleDoc] },
  },
})

/** Searching and reading pages: the fields of each packet type besides `type`. */
export type SearchPackets = PacketFieldsOf<typeof searchPackets>
