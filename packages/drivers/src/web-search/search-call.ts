import type { WebSearch } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { createJsonPost } from '../http/json-post.ts'
import { retryAfter, type Refusal } from '../http/refusals.ts'
import type { RetryOptions } from '../http/retrying.ts'
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

export interface SearchService extends SearchAccess, PageReading {
  /** Queries are sent as query parameters by GET, as JSON by POST. */
  readonly method: 'GET' | 'POST'
  readonly url: URL
  /** Header that carries the key. */
  readonly keyHeader?: Readonly<Record<string, string>>
  /** Meaning of a 403, if it does not concern the key. */
  readonly forbidden?: string
  /** Seconds to wait by the service's own headers, if it sends no `retry-after`. */
  readonly waitSecondsOf?: (headers: Headers) => number | undefined
  /** Meaning of a refusal, where the status suggests another. */
  readonly meaningOf?: (status: number, text: string) => 'key' | 'quota' | undefined
  readonly toQuery: (text: string, limit: number) => Readonly<Record<string, unknown>>
  /** The list in a response; absent and null mean no results, as services omit empty lists. */
  readonly rowsOf: (reply: Readonly<Record<string, unknown>>) => unknown
}

/**
 * Creates the search of a service. Retries once (`attempts`: 2) after 408, 429, 5xx and broken connections, unless the
 * service asks to wait longer than a second (`maxWaitMs`).
 * @throws from the search: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (`data.retryAfterSeconds`), BUDGET_EXCEEDED,
 * NOT_FOUND, UNPROCESSABLE_ENTITY, API_ERROR, CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (no JSON, or no results)
 */
export function createWebSearch(service: SearchService): WebSearch {
  const post = createJsonPost({
    ...service,
    // Sent in `keyHeader` only.
    apiKey: '',
    attempts: service.attempts ?? 2,
    maxWaitMs: service.maxWaitMs ?? 1000,
    timeoutMs: service.timeoutMs ?? 10_000,
    headers: { ...service.headers, ...service.keyHeader },
    toRefusal: (refusal) => toRefusal(service, refusal),
  })
  return async ({ text, limit, signal }) => {
    const reply = await post({ ...service.toQuery(text, limit), ...service.parameters }, signal)
    return toWebResults(service.rowsOf(asReply(reply, service.subject)), service, limit)
  }
}

type Meaning = readonly [code: ConstructorParameters<typeof InlayError>[0], sentence: string]

const badKey: Meaning = ['AUTH_ERROR', 'rejected the configured API key.']
const noQuota: Meaning = ['BUDGET_EXCEEDED', 'has used up its quota or budget.']

const meanings: Readonly<Record<number, Meaning>> = {
  400: ['UNPROCESSABLE_ENTITY', 'refused the query.'],
  401: badKey,
  402: noQuota,
  403: ['PERMISSION_DENIED', 'does not open its search to this installation: check the API key and its plan.'],
  404: ['NOT_FOUND', 'knows no such address: check the base URL.'],
  408: ['GATEWAY_TIMEOUT', 'did not answer in time.'],
  422: ['UNPROCESSABLE_ENTITY', 'refused the query.'],
  429: ['RATE_LIMIT', 'limits the rate of requests: try again in a while.'],
  503: ['SERVICE_UNAVAILABLE', 'is not available right now.'],
  504: ['GATEWAY_TIMEOUT', 'did not answer in time.'],
}

/** Omits the response's message, which may quote the query or the key. */
function toRefusal(service: SearchService, { status, headers, text }: Refusal): InlayError {
  const { subject, meaningOf, forbidden, waitSecondsOf } = service
  const own = meaningOf?.(status, text)
  const known = own === 'key' ? badKey : own === 'quota' ? noQuota : meanings[status]
  const [code, sentence] = known ?? [
    'API_ERROR',
    status < 400 ? 'points to another address: set the base URL to that.' : 'failed.',
  ]
  const retryAfterSeconds = retryAfter(headers) ?? waitSecondsOf?.(headers)
  return new InlayError(code, {
    message: `${subject} ${status === 403 && forbidden && own === undefined ? forbidden : sentence}`,
    data: { status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
    retryable: own === undefined && (status === 408 || status === 429 || status >= 500),
  })
}
