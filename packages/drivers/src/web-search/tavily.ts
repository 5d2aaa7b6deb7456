import { serviceOptions } from '../http/retrying.ts'
import { checkRequired, isText } from '@inlay/protocol'
import type { WebSearch } from '@inlay/agent'
import { endpointOf } from '../http/json-post.ts'
import { createWebSearch, type SearchAccess } from './search-call.ts'

export interface TavilySearchOptions extends SearchAccess {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey: string
  /** Address before `/search`. Default `https://api.tavily.com`. */
  readonly baseUrl?: string
}

const subject = 'Tavily'
const maxQueryLength = 400
const maxResults = 20

/**
 * Web search by the API of Tavily, at most 20 results; snippets are the passages it chose for the query.
 * @throws INVALID_INPUT for a base URL that is none; from a search: the errors of `createWebSearch`
 * @example tavilySearch({ apiKey: process.env.TAVILY_API_KEY!, parameters: { search_depth: 'advanced' } })
 */
export function tavilySearch(options: TavilySearchOptions): WebSearch {
  checkRequired('tavilySearch', options, `${serviceOptions} baseUrl parameters fetch`, {
    apiKey: ['the key of the service', isText],
  })
  return createWebSearch({
    ...options,
    subject,
    method: 'POST',
    url: endpointOf(options.baseUrl ?? 'https://api.tavily.com', '/search', 'a web search'),
    keyHeader: { authorization: `Bearer ${options.apiKey}` },
    // Its own statuses for a plan, or a pay-as-you-go limit, that is used up.
    meaningOf: (status) => (status === 432 || status === 433 ? 'quota' : undefined),
    toQuery: (text, limit) => ({
      query: text.slice(0, maxQueryLength),
      max_results: Math.min(limit, maxResults),
    }),
    rowsOf: ({ results }) => results,
    read: ({ title, url, content, published_date: date }) => ({ title, url, snippet: content, date }),
  })
}
