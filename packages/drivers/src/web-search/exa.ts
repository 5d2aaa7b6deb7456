import { serviceOptions } from '../http/retrying.ts'
import { checkRequired, isText } from '@inlay/protocol'
import type { WebSearch } from '@inlay/agent'
import { endpointOf } from '../http/json-post.ts'
import { createWebSearch, type SearchAccess } from './search-call.ts'

export interface ExaSearchOptions extends SearchAccess {
  /** Sent as `x-api-key`. */
  readonly apiKey: string
  /** Address before `/search`. Default `https://api.exa.ai`. */
  readonly baseUrl?: string
}

const subject = 'Exa'

/**
 * Web search by the API of Exa; snippets are the passages it holds to fit the query.
 * @throws INVALID_INPUT for a base URL that is none; from a search: the errors of `createWebSearch`
 * @example exaSearch({ apiKey: process.env.EXA_API_KEY! })
 */
export function exaSearch(options: ExaSearchOptions): WebSearch {
  checkRequired('exaSearch', options, `${serviceOptions} baseUrl parameters fetch`, {
    apiKey: ['the key of the service', isText],
  })
  return createWebSearch({
    ...options,
    subject,
    method: 'POST',
    url: endpointOf(options.baseUrl ?? 'https://api.exa.ai', '/search', 'a web search'),
    keyHeader: { 'x-api-key': options.apiKey },
    toQuery: (query, numResults) => ({ query, numResults, type: 'auto', contents: { highlights: true } }),
    rowsOf: ({ results }) => results,
    read: ({ title, url, highlights, text: content, publishedDate: date }) => ({
      title,
      url,
      snippet: Array.isArray(highlights) && highlights.length > 0 ? highlights.join(' … ') : content,
      date,
    }),
  })
}
