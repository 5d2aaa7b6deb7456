import { timestamp } from '../timestamps.ts'
import * as v from 'valibot'
import { boolean, orNull } from '../fields.ts'
import { entriesOf, type NoFields, type PacketFamily } from './packet-entry.ts'
import { exampleDoc, searchDocSchema, type SearchDoc } from './search-doc.ts'

/** Searching and reading pages: the fields of each packet type besides `type`. */
export interface SearchPackets {
  readonly search_tool_start: {
    /** Whether this is a web search. */
    readonly is_internet_search: boolean
  }
  readonly search_tool_queries_delta: {
    /** The queries. */
    readonly queries: readonly string[]
  }
  readonly search_tool_filter_delta: {
    /** Sources to search. */
    readonly sources: readonly string[]
    /** Only documents at or after this time. */
    readonly time_filter_start: string | null
    /** Only documents at or before this time. */
    readonly time_filter_end: string | null
  }
  readonly search_tool_documents_delta: {
    /** The documents. */
    readonly documents: readonly SearchDoc[]
  }
  readonly open_url_start: NoFields
  readonly open_url_urls: {
    /** The addresses. */
    readonly urls: readonly string[]
  }
  readonly open_url_documents: {
    /** The pages. */
    readonly documents: readonly SearchDoc[]
  }
}

const entry = entriesOf<SearchPackets>()

/** Searching and reading pages: schema, example and sentence of each packet type. */
export const searchPackets: PacketFamily<SearchPackets> = {
  search_tool_start: entry(
    'search_tool_start',
    { is_internet_search: v.optional(boolean, false) },
    { is_internet_search: false },
    'Starts a search in the indexed documents or, with `is_internet_search`, on the web.',
  ),
  search_tool_queries_delta: entry(
    'search_tool_queries_delta',
    { queries: v.array(v.string()) },
    { queries: ['lab opening hours', 'when is the lab open'] },
    'Search queries, the most important first.',
  ),
  search_tool_filter_delta: entry(
    'search_tool_filter_delta',
    {
      sources: v.optional(v.array(v.string()), () => []),
      time_filter_start: orNull(timestamp),
      time_filter_end: orNull(timestamp),
    },
    { sources: ['confluence'], time_filter_start: '2026-01-01T00:00:00Z', time_filter_end: null },
    'Filters of the search; sent before its queries, and only if there are any.',
  ),
  search_tool_documents_delta: entry(
    'search_tool_documents_delta',
    { documents: v.array(searchDocSchema) },
    { documents: [exampleDoc] },
    'Documents selected for display; not sent when nothing was found.',
  ),
  open_url_start: entry('open_url_start', {}, {}, 'Begins the reading of pages.'),
  open_url_urls: entry(
    'open_url_urls',
    { urls: v.array(v.string()) },
    { urls: ['https://lab.example/hours'] },
    'URLs being read.',
  ),
  open_url_documents: entry(
    'open_url_documents',
    { documents: v.array(searchDocSchema) },
    { documents: [exampleDoc] },
    'Pages that could be read; not sent when none could.',
  ),
}
