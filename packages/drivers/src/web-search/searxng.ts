import { checkRequired, isText } from '@inlay/protocol'
import type { WebSearch } from '@inlay/agent'
import { endpointOf } from '../http/json-post.ts'
import { asReply, toWebResults } from './provider-replies.ts'
import { createSearchCall, type SearchAccess } from './search-call.ts'

/** Access to an instance of SearXNG, which anybody can run. */
export interface SearxngSearchOptions extends SearchAccess {
  /** Address before `/search`, such as `http://127.0.0.1:8888`. */
  readonly baseUrl: string
  /** Sent as `Authorization: Bearer`, for instances behind a gate; SearXNG itself knows no keys. */
  readonly apiKey?: string
}

const subject = 'SearXNG'

/**
 * Web search by an instance of SearXNG. The operator of the instance has to allow its JSON format: `search.formats` in
 * its `settings.yml` holds `json`, else it answers 403.
 * @throws INVALID_INPUT for a base URL that is none; from a search: what `createSearchCall` says
 * @example searxngSearch({ baseUrl: 'http://127.0.0.1:8888', parameters: { language: 'en' } })
 */
export function searxngSearch(options: SearxngSearchOptions): WebSearch {
  checkRequired('searxngSearch', options, { baseUrl: ['the address of the instance', isText] })
  const { apiKey, baseUrl } = options
  const call = createSearchCall({
    ...options,
    subject,
    method: 'GET',
    address: endpointOf(baseUrl, '/search', 'a web search'),
    forbidden: 'does not answer with JSON: its operator allows that by "json" among search.formats in settings.yml.',
    ...(apiKey === undefined ? {} : { keyHeader: { authorization: `Bearer ${apiKey}` } }),
  })
  return async ({ text, limit, signal }) => {
    const { results } = asReply(await call({ q: text, format: 'json' }, signal), subject)
    return toWebResults(results, {
      subject,
      limit,
      read: ({ title, url, content, publishedDate: date }) => ({ title, url, snippet: content, date }),
    })
  }
}
