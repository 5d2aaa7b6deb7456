import type { WebSearch } from '@inlay/agent'
import { createWebSearch, type KeyedSearchOptions } from './search-call.ts'

export type { KeyedSearchOptions }

/**
 * Web search by the API of Exa; snippets are the passages it holds to fit the query.
 * @throws see `createWebSearch`
 * @example exaSearch({ apiKey: process.env.EXA_API_KEY! })
 */
export function exaSearch(options: KeyedSearchOptions): WebSearch {
  return createWebSearch('exaSearch', options, {
    subject: 'Exa',
    method: 'POST',
    baseUrl: 'https://api.exa.ai',
    keyHeader: 'x-api-key',
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
