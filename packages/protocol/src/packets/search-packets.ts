import { timestamp } from '../timestamps.ts'
import * as v from 'valibot'
import { boolean, orNull } from '../fields.ts'
import { entriesOf, type NoFields, type PacketFamily } from './packet-entry.ts'
import { exampleDoc, searchDocSchema, type SearchDoc } from './search-doc.ts'

/** Searching and reading pages: the fields of each packet type besides `type`. */
export interface SearchPackets {
  readonly search_tool_start: {
    /** Whether the web is searched. */
    readonly is_internet_search: boolean
  }
  readonly search_tool_queries_delta: {
    /** The queries. */
    readonly queries: readonly string[]
  }
  readonly search_tool_filter_delta: {
    /** Kinds of source that are searched. */
    readonly sources: readonly string[]
    /** Documents from this moment on. */
    readonly time_filter_start: string | null
    /** Documents up to this moment. */
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
    'Begins a search in the indexed documents or, when `is_internet_search`, on the web.',
  ),
  search_tool_queries_delta: entry(
    'search_tool_queries_delta',
    { queries: v.array(v.string()) },
    { queries: ['lab opening hours', 'when is the lab open'] },
    'The queries that are run, weightiest first.',
  ),
  search_tool_filter_delta: entry(
    'search_tool_filter_delta',
    {
      sources: v.optional(v.array(v.string()), () => []),
      time_filter_start: orNull(timestamp),
      time_filter_end: orNull(timestamp),
    },
    { sources: ['confluence'], time_filter_start: '2026-01-01T00:00:00Z', time_filter_end: null },
    'What the search was narrowed to; before its queries, and only when it was.',
  ),
  search_tool_documents_delta: entry(
    'search_tool_documents_delta',
    { documents: v.array(searchDocSchema) },
    { documents: [exampleDoc] },
    'The documents chosen for display; none is sent when nothing was found.',
  ),
  open_url_start: entry('open_url_start', {}, {}, 'Begins the reading of pages.'),
  open_url_urls: entry(
    'open_url_urls',
    { urls: v.array(v.string()) },
    { urls: ['https://lab.example/hours'] },
    'The addresses that are read.',
  ),
  open_url_documents: entry(
    'open_url_documents',
    { documents: v.array(searchDocSchema) },
    { documents: [exampleDoc] },
    'What could be read; none is sent when nothing could.',
  ),
}
