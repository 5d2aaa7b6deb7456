import { InlayError } from '@inlay/protocol'
import { parseAnswer, toCallFailure } from '../http/json-post.ts'
import { retryAfter } from '../http/refusals.ts'
import { retrying, type RetryOptions } from '../http/retrying.ts'

/** Options that every search service takes. */
export interface SearchAccess extends RetryOptions {
  /** Sent with each request beside those of the service. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further parameters as the service names them, such as its country, language or safe-search. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Longest time one try may take, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number
  /** Sends the requests. Default: the platform's. */
  readonly fetch?: typeof fetch
}

/** Meaning of a refusal besides its status. */
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
  /** Seconds to wait, as its own headers say, where it sends no `retry-after`. */
  readonly waitSecondsOf?: (headers: Headers) => number | undefined
  /** Meaning of a refusal, where the status suggests another. */
  readonly meaningOf?: (status: number, text: string) => SearchRefusal | undefined
}

/** Asks a service; the values are sent in the address by GET, as JSON by POST. */
export type SearchCall = (
  values: Readonly<Record<string, unknown>>,
  signal: AbortSignal | undefined,
) => Promise<unknown>

/**
 * Makes a {@link SearchCall} that answers with the JSON of the reply. It tries once more (`attempts`: 2) after 408, 429,
 * 5xx and broken connections, if the service asks for no longer wait than a second (`longestWaitMs`).
 * @throws from the call: AUTH_ERROR, PERMISSION_DENIED, RATE_LIMIT (`data.retryAfterSeconds`), BUDGET_EXCEEDED,
 * NOT_FOUND, UNPROCESSABLE_ENTITY, API_ERROR, CONNECTION_ERROR, GATEWAY_TIMEOUT, BAD_GATEWAY (no JSON)
 */
export function createSearchCall(service: SearchService): SearchCall {
  const patience = { ...service, attempts: service.attempts ?? 2, longestWaitMs: service.longestWaitMs ?? 1000 }
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
      // The key should go nowhere else.
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

/** The reply's own words stay out: they may quote the query or the key. */
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
