import { setTimeout as delay } from 'node:timers/promises'
import { InlayError, isInlayError, type ErrorCode } from '@inlay/protocol'

/** How requests are sent and repeated. */
export interface RetryOptions {
  readonly address: URL
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly attempts?: number
  readonly timeoutMs?: number
  readonly longestWaitMs?: number
  readonly fetch?: typeof fetch
  readonly sleep?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Posts JSON and answers with the JSON of the reply. */
export type Post = (body: unknown, signal: AbortSignal | undefined) => Promise<unknown>

/** Makes a {@link Post} that tries again what may succeed later. */
export function createRetrying(options: RetryOptions): Post {
  const { attempts = 4, longestWaitMs = 30_000, sleep = wait } = options
  return async (body, signal) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await tryOnce(options, JSON.stringify(body), signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (!isInlayError(error) || !error.retryable || attempt >= attempts) throw error
        const delayMs = delayAfter(error, attempt)
        if (delayMs > longestWaitMs) throw error
        await sleep(delayMs, signal)
      }
    }
  }
}

async function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(delayMs, undefined, { signal })
}

/** What the server asked for, or half a second, then twice as long each time; a fifth more or less, so that many callers part. */
function delayAfter(error: InlayError, attempt: number): number {
  const asked = error.data['retryAfterSeconds']
  if (typeof asked === 'number') return asked * 1000
  return 500 * 2 ** (attempt - 1) * (0.8 + 0.4 * Math.random())
}

async function tryOnce(options: RetryOptions, body: string, signal: AbortSignal | undefined): Promise<unknown> {
  const { address, apiKey, headers, timeoutMs = 60_000, fetch: send = fetch } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await send(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
        ...headers,
      },
      body,
      // A redirected POST would lose its body, and the key should go nowhere else.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const text = await response.text()
    if (!response.ok) throw refusal(response, text)
    return parse(text)
  } catch (error) {
    if (isInlayError(error)) throw error
    signal?.throwIfAborted()
    if (timeout.aborted)
      throw new InlayError('GATEWAY_TIMEOUT', {
        message: 'The embedding service did not answer in time.',
        cause: error,
      })
    throw new InlayError('CONNECTION_ERROR', {
      message: 'The embedding service could not be reached, or the connection broke.',
      cause: error,
    })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InlayError('BAD_GATEWAY', {
      message: 'The embedding service sent something else than JSON: check its base URL.',
    })
  }
}

const refusals: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  400: [
    'UNPROCESSABLE_ENTITY',
    'The embedding service refused the texts: check the model, and that chunks fit its limit.',
  ],
  401: ['AUTH_ERROR', 'The embedding service rejected the configured API key.'],
  402: ['BUDGET_EXCEEDED', 'The quota or budget at the embedding service is used up.'],
  403: ['PERMISSION_DENIED', 'The configured API key may not use this embedding model.'],
  404: ['NOT_FOUND', 'The embedding service knows no such model or address: check the model and the base URL.'],
  408: ['GATEWAY_TIMEOUT', 'The embedding service did not answer in time.'],
  413: ['REQUEST_TOO_LARGE', 'The texts are larger than the embedding service takes: lower the batch size.'],
  422: [
    'UNPROCESSABLE_ENTITY',
    'The embedding service refused the texts: check the model, and that chunks fit its limit.',
  ],
  429: ['RATE_LIMIT', 'The embedding service limits the rate of requests.'],
  503: ['SERVICE_UNAVAILABLE', 'The embedding service is not available right now.'],
  504: ['GATEWAY_TIMEOUT', 'The embedding service did not answer in time.'],
}

/** The reply's own words stay out: they may quote texts or the key. */
function refusal(response: Response, text: string): InlayError {
  const { status, headers } = response
  const isQuota = status === 429 && /insufficient_quota|billing|credit/i.test(text)
  const other: readonly [ErrorCode, string] =
    status < 400
      ? ['API_ERROR', 'The embedding service points to another address: set the base URL to that.']
      : ['API_ERROR', 'The embedding service failed.']
  const [code, message] = refusals[isQuota ? 402 : status] ?? other
  const retryAfterSeconds = retryAfter(headers)
  return new InlayError(code, {
    message,
    data: { status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
    retryable: !isQuota && (status === 408 || status === 429 || status >= 500),
  })
}

/** Seconds to wait by the server's word: `retry-after` holds seconds or a date. */
function retryAfter(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (milliseconds >= 0) return milliseconds / 1000
  const text = headers.get('retry-after')
  if (!text) return undefined
  const seconds = Number(text)
  if (seconds >= 0) return seconds
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000)
}
