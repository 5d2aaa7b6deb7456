import type { WebSearch } from '@inlay/agent'
import { createWebSearch, type SearchAccess } from './search-call.ts'

/** Access to an instance of SearXNG, which anybody can run. */
export interface SearxngSearchOptions extends SearchAccess {
  /** Address before `/search`, such as `http://127.0.0.1:8888`. */
  readonly baseUrl: string
  /** Sent as `Authorization: Bearer`, for instances behind an authenticating proxy; SearXNG itself has no keys. */
  readonly apiKey?: string
}

/**
 * Web search with a SearXNG instance. Its operator has to enable the JSON format: `search.formats` in `settings.yml`
 * must contain `json`, otherwise it responds with 403.
 * @throws see `createWebSearch`
 * @example searxngSearch({ baseUrl: 'http://127.0.0.1:8888', parameters: { language: 'en' } })
 */
export function searxngSearch(options: SearxngSearchOptions): WebSearch {
  return createWebSearch('searxngSearch', options, {
    subject: 'SearXNG',
    method: 'GET',
    forbidden: 'does not answer with JSON: its operator allows that by "json" among search.formats in settings.yml.',
    toQuery: (q) => ({ q, format: 'json' }),
    rowsOf: ({ results }) => results,
    read: ({ title, url, content, publishedDate: date }) => ({ title, url, snippet: content, date }),
  })
}
