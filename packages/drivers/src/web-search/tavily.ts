import type { WebSearch } from '@inlay/agent'
import { createWebSearch, type KeyedSearchOptions } from './search-call.ts'

export type { KeyedSearchOptions }

const maxQueryLength = 400
const maxResults = 20

/**
 * Web search by the API of Tavily, at most 20 results; snippets are the passages it chose for the query.
 * @throws see `createWebSearch`
 * @example tavilySearch({ apiKey: process.env.TAVILY_API_KEY!, parameters: { search_depth: 'advanced' } })
 */
export function tavilySearch(options: KeyedSearchOptions): WebSearch {
  return createWebSearch('tavilySearch', options, {
    subject: 'Tavily',
    method: 'POST',
    baseUrl: 'https://api.tavily.com',
    // Its own statuses for a plan, or a pay-as-you-go limit, that is used up.
    meantStatus: (status) => (status === 432 || status === 433 ? 402 : status),
    toQuery: (text, limit) => ({
      query: text.slice(0, maxQueryLength),
      max_results: Math.min(limit, maxResults),
    }),
    rowsOf: ({ results }) => results,
    read: ({ title, url, content, published_date: date }) => ({ title, url, snippet: content, date }),
  })
}
