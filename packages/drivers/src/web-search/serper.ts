import { serviceOptions } from '../http/retrying.ts'
import { checkRequired, isText } from '@inlay/protocol'
import type { WebSearch } from '@inlay/agent'
import { endpointOf } from '../http/json-post.ts'
import { createWebSearch, type SearchAccess } from './search-call.ts'

export interface SerperSearchOptions extends SearchAccess {
  /** Sent as `x-api-key`. */
  readonly apiKey: string
  /** Address before `/search`. Default `https://google.serper.dev`. */
  readonly baseUrl?: string
  /** Milliseconds since 1970 UTC, to convert relative ages to dates. Default: the system clock. */
  readonly now?: () => number
}

const subject = 'Serper'

/**
 * Google results by the API of Serper.
 * @throws INVALID_INPUT for a base URL that is none; from a search: the errors of `createWebSearch`
 * @example serperSearch({ apiKey: process.env.SERPER_API_KEY!, parameters: { gl: 'de', hl: 'de' } })
 */
export function serperSearch(options: SerperSearchOptions): WebSearch {
  checkRequired('serperSearch', options, `${serviceOptions} baseUrl now parameters fetch`, {
    apiKey: ['the key of the service', isText],
  })
  return createWebSearch({
    ...options,
    subject,
    method: 'POST',
    url: endpointOf(options.baseUrl ?? 'https://google.serper.dev', '/search', 'a web search'),
    keyHeader: { 'x-api-key': options.apiKey },
    // It answers 403 to a wrong key, and 400 once the credits are used up.
    meaningOf: (status, text) =>
      status === 403 ? 'key' : status === 400 && /credit/i.test(text) ? 'quota' : undefined,
    toQuery: (q, num) => ({ q, num }),
    rowsOf: ({ organic }) => organic,
    read: ({ title, link, snippet, date }) => ({ title, url: link, snippet, date }),
  })
}
