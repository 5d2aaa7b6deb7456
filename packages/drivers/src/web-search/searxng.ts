import { serviceOptions } from '../http/retrying.ts'
import { checkRequired, isText } from '@inlay/protocol'
import type { WebSearch } from '@inlay/agent'
import { endpointOf } from '../http/json-post.ts'
import { createWebSearch, type SearchAccess } from './search-call.ts'

/** Access to an instance of SearXNG, which anybody can run. */
export interface SearxngSearchOptions extends SearchAccess {
  /** Address before `/search`, such as `http://127.0.0.1:8888`. */
  readonly baseUrl: string
  /** Sent as `Authorization: Bearer`, for instances behind an authenticating proxy; SearXNG itself has no keys. */
  readonly apiKey?: string
}

const subject = 'SearXNG'

/**
 * Web search with a SearXNG instance. Its operator has to enable the JSON format: `search.formats` in `settings.yml`
 * must contain `json`, otherwise it responds with 403.
 * @throws INVALID_INPUT for an invalid base URL; from a search: the errors of `createWebSearch`
 * @example searxngSearch({ baseUrl: 'http://127.0.0.1:8888', parameters: { language: 'en' } })
 */
export function searxngSearch(options: SearxngSearchOptions): WebSearch {
  checkRequired('searxngSearch', options, `${serviceOptions} apiKey parameters fetch`, {
    baseUrl: ['the address of the instance', isText],
  })
  const { apiKey, baseUrl } = options
  return createWebSearch({
    ...options,
    subject,
    method: 'GET',
    url: endpointOf(baseUrl, '/search', 'a web search'),
    forbidden: 'does not answer with JSON: its operator allows that by "json" among search.formats in settings.yml.',
    ...(apiKey === undefined ? {} : { keyHeader: { authorization: `Bearer ${apiKey}` } }),
    toQuery: (q) => ({ q, format: 'json' }),
    rowsOf: ({ results }) => results,
    read: ({ title, url, content, publishedDate: date }) => ({ title, url, snippet: content, date }),
  })
}
