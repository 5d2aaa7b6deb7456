import type { WebSearch } from '@inlay/agent'
import { checkRequired, isText } from '@inlay/protocol'
import { createJsonPost, endpointOf } from '../http/json-post.ts'
import { refusalOf, type Meanings } from '../http/refusals.ts'
import { serviceOptions, type RetryOptions } from '../http/retrying.ts'
import { asReply, toWebResults, type PageReading } from './provider-replies.ts'

export interface SearchAccess extends RetryOptions {
  /** Additional headers of each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Additional parameters of the service, such as country, language or safe search. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Timeout of one attempt, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof fetch
}

export interface KeyedSearchOptions extends SearchAccess {
  /** Key of the service. */
  readonly apiKey: string
  /** Address before the path of the search. Default: that of the service. */
  readonly baseUrl?: string
}

interface SearchService extends PageReading {
  /** Queries are sent as query parameters by GET, as JSON by POST. */
  readonly method: 'GET' | 'POST'
  /** Default for the base URL; absent: it is required, and a key is not. */
  readonly baseUrl?: string
  /** Default `/search`. */
  readonly path?: string
  /** Header that carries the key. Default: `Authorization: Bearer`. */
  readonly keyHeader?: string
  /** Attempts and longest wait between them. Default: 2, and a second. */
  readonly patience?: Pick<RetryOptions, 'attempts' | 'maxWaitMs'>
  /** Meaning of a 403, if it does not concern the key. */
  readonly forbidden?: string
  /** Seconds to wait by the service's own headers, if it sends no `retry-after`. */
  readonly waitSecondsOf?: (headers: Headers) => number | undefined
  /** The status that says what a refusal means, where that of the service says something else. */
  readonly meantStatus?: (status: number, text: string) => number
  readonly toQuery: (text: string, limit: number) => Readonly<Record<string, unknown>>
  /** The list in a response; absent and null mean no results, as services omit empty lists. */
  readonly rowsOf: (reply: Readonly<Record<string, unknown>>) => unknown
}

/**
 * Creates the search of a service. Retries after 408, 429, 5xx and broken connections, unless the service asks for a longer
 * wait.
 * @param maker name of the function that takes the options
 * @throws INVALID_INPUT for options that cannot work; from the search: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT
 * (`data.retryAfterSeconds`), BUDGET_EXCEEDED, NOT_FOUND, UNPROCESSABLE_ENTITY, API_ERROR, CONNECTION_ERROR, GATEWAY_TIMEOUT,
 * BAD_GATEWAY (no JSON, or no results)
 */
export function createWebSearch(
  maker: string,
  options: SearchAccess & Partial<KeyedSearchOptions>,
  service: SearchService,
): WebSearch {
  const isKeyed = service.baseUrl !== undefined
  checkRequired(
    maker,
    options,
    `${serviceOptions} ${isKeyed ? 'baseUrl' : 'apiKey'} parameters fetch`,
    isKeyed ? { apiKey: ['the key of the service', isText] } : { baseUrl: ['the address of the instance', isText] },
  )
  const { apiKey = '', baseUrl = service.baseUrl ?? '', ...access } = options
  const { keyHeader, waitSecondsOf, meantStatus } = service
  const meanings = service.forbidden
    ? { ...ofQueries, 403: ['PERMISSION_DENIED', service.forbidden] as const }
    : ofQueries
  const post = createJsonPost({
    attempts: 2,
    maxWaitMs: 1000,
    timeoutMs: 10_000,
    ...service.patience,
    ...access,
    subject: service.subject,
    method: service.method,
    url: endpointOf(baseUrl, service.path ?? '/search', 'a web search'),
    apiKey: keyHeader === undefined ? apiKey : '',
    headers: { ...access.headers, ...(keyHeader !== undefined && { [keyHeader]: apiKey }) },
    // The response's message may quote the query or the key.
    toRefusal: (refusal) => {
      const seconds = waitSecondsOf?.(refusal.headers)
      const headers = new Headers({ ...(seconds !== undefined && { 'retry-after': String(seconds) }) })
      for (const [name, value] of refusal.headers) headers.set(name, value)
      return refusalOf({ ...refusal, headers }, meanings, meantStatus?.(refusal.status, refusal.text))
    },
  })
  return async ({ text, limit, signal }) => {
    const reply = await post({ ...service.toQuery(text, limit), ...options.parameters }, signal)
    return toWebResults(service.rowsOf(asReply(reply, service.subject)), service, limit)
  }
}

const ofQueries: Meanings = {
  400: ['UNPROCESSABLE_ENTITY', 'refused the query.'],
  403: ['PERMISSION_DENIED', 'does not open its search to this installation: check the API key and its plan.'],
  404: ['NOT_FOUND', 'knows no such address: check the base URL.'],
  422: ['UNPROCESSABLE_ENTITY', 'refused the query.'],
}
