import type { WebSearch } from '@inlay/agent'
import { createWebSearch, type KeyedSearchOptions } from './search-call.ts'

export type { KeyedSearchOptions }

/**
 * Google results by the API of Serper.
 * @throws see `createWebSearch`
 * @example serperSearch({ apiKey: process.env.SERPER_API_KEY!, parameters: { gl: 'de', hl: 'de' } })
 */
export function serperSearch(options: KeyedSearchOptions): WebSearch {
  return createWebSearch('serperSearch', options, {
    subject: 'Serper',
    method: 'POST',
    baseUrl: 'https://google.serper.dev',
    keyHeader: 'x-api-key',
    // It answers 403 to a wrong key, and 400 once the credits are used up.
    meantStatus: (status, text) => (status === 403 ? 401 : status === 400 && /credit/i.test(text) ? 402 : status),
    toQuery: (q, num) => ({ q, num }),
    rowsOf: ({ organic }) => organic,
    read: ({ title, link, snippet, date }) => ({ title, url: link, snippet, date }),
  })
}
