import { InlayError } from '@inlay/protocol'
import { parseAnswer, toCallFailure } from '../http/json-post.ts'
import { retryAfter } from '../http/refusals.ts'
import { retrying, type RetryOptions } from '../http/retrying.ts'

/** Options of every search service. */
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

/** Code of a refusal, if the status does not determine it. */
export type SearchRefusal = 'key' | 'quota'

/** A search service. */
export interface SearchService extends SearchAccess {
  /** Name of the service, as the beginning of a sentence: `Brave Search`. */
  readonly subject: string
  readonly method: 'GET' | 'POST'
  readonly address: URL
  /** Header that carries the key. */
  readonly keyHeader?: Readonly<Record<string, string>>
  /** Meaning of a 403, if it does not concern the key. */
  readonly forbidden?: string
  /** Seconds to wait by the service's own headers, if it sends no `retry-after`. */
  readonly waitSecondsOf?: (headers: Headers) => number | undefined
  /** Meaning of a refusal, where the status suggests another. */
  readonly meaningOf?: (status: number, text: string) => SearchRefusal | undefined
}

/** Calls a service; values are sent as query parameters by GET, as JSON by POST. */
export type SearchCall = (
  values: Readonly<Record<string, unknown>>,
  signal: AbortSignal | undefined,
) => Promise<unknown>

/**
 * Creates a {@link SearchCall} that returns the JSON of the response. Retries once (`attempts`: 2) after 408, 429, 5xx
 * and broken connections, unless the service asks to wait longer than a second (`maxWaitMs`).
 * @throws from the call: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (`data.retryAfterSeconds`), BUDGET_EXCEEDED,
 * NOT_FOUND, UNPROCESSABLE_ENTITY, API_ERROR, CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (no JSON)
 */
export function createSearchCall(service: SearchService): SearchCall {
  const patience = { ...service, attempts: service.attempts ?? 2, maxWaitMs: service.maxWaitMs ?? 1000 }
  return (values, signal) => {
    const parameters = { ...values, ...service.parameters }
    return retrying(() => tryOnce(service, parameters, signal), signal, patience)
  }
}

async function tryOnce(
  service: SearchService,
  values: Readonly<Record<string, unknown>>,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { subject, method, timeoutMs = 10_000, fetch: send = fetch } = service
  signal?.throwIfAborted()
  const timeout = AbortSignal.timeout(timeoutMs)
  const isGet = method === 'GET'
  try {
    const response = await send(isGet ? withQuery(service.address, values) : service.address, {
      method,
      headers: {
        accept: 'application/json',
        ...(isGet ? {} : { 'content-type': 'application/json' }),
        ...service.headers,
        ...service.keyHeader,
      },
      ...(isGet ? {} : { body: JSON.stringify(values) }),
      // The key must not be sent elsewhere.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const text = await response.text()
    if (!response.ok) throw toRefusal(service, response, text)
    return parseAnswer(text, subject)
  } catch (error) {
    throw toCallFailure(error, subject, { signal, timeout })
  }
}

function withQuery(address: URL, values: Readonly<Record<string, unknown>>): URL {
  const whole = new URL(address)
  for (const [name, value] of Object.entries(values)) whole.searchParams.set(name, String(value))
  return whole
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
function toRefusal(service: SearchService, { status, headers }: Response, text: string): InlayError {
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
