import type { WebSearch } from '@inlay/agent'
import { parseHtml, textOf } from '../files/formats/markup.ts'
import { asReply } from './provider-replies.ts'
import { createWebSearch, type KeyedSearchOptions } from './search-call.ts'

export type { KeyedSearchOptions }

const subject = 'Brave Search'
// Maximum accepted by the service, which refuses longer queries.
const maxQueryLength = 400
const maxWords = 50
const maxResults = 20

/**
 * Web search by the API of Brave, at most 20 results.
 * @throws see `createWebSearch`
 * @example braveSearch({ apiKey: process.env.BRAVE_API_KEY! })
 */
export function braveSearch(options: KeyedSearchOptions): WebSearch {
  return createWebSearch('braveSearch', options, {
    subject,
    method: 'GET',
    baseUrl: 'https://api.search.brave.com/res/v1',
    path: '/web/search',
    keyHeader: 'x-subscription-token',
    // Small plans allow one query per second, and several queries are sent at once.
    patience: { attempts: 3, maxWaitMs: 1500 },
    waitSecondsOf,
    // A wrong key is answered with 422.
    meantStatus: (status, text) => (status === 422 && text.includes('SUBSCRIPTION_TOKEN_INVALID') ? 401 : status),
    toQuery: (text, limit) => {
      const q = text.split(/\s+/).slice(0, maxWords).join(' ').slice(0, maxQueryLength)
      return { q, count: Math.min(limit, maxResults), result_filter: 'web', text_decorations: false }
    },
    rowsOf: ({ web }) => asReply(web ?? {}, subject)['results'],
    toPlain: (markup) => textOf(parseHtml(markup)),
    read: ({ title, url, description, page_age: date }) => ({ title, url, snippet: description, date }),
  })
}

/** Seconds until the shortest rate limit resets: `x-ratelimit-reset: 1, 1419704`, the limit per second first. */
function waitSecondsOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('x-ratelimit-reset')?.split(',')[0] ?? Number.NaN)
  const left = headers.get('x-ratelimit-remaining')?.split(',')[1]?.trim()
  // Once the monthly quota is used up, waiting a second does not help.
  return seconds >= 0 && left !== '0' ? seconds : undefined
}
