import { InlayError, isInlayError, readJson } from '@inlay/protocol'
import { refusalOf, unreached, type Refusal } from './refusals.ts'
import { retrying, type RetryOptions } from './retrying.ts'

export interface JsonPostOptions extends RetryOptions {
  /** Name of the service, as the beginning of a sentence: `The embedding service`. */
  readonly subject: string
  /** With GET, the values of a body are sent as query parameters. Default POST. */
  readonly method?: 'GET' | 'POST'
  readonly url: URL
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Timeout of one attempt, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
  /** Converts a refusal to an error. Default: `refusalOf`. */
  readonly toRefusal?: (refusal: Refusal) => InlayError
}

/** Posts JSON, or a `FormData` unchanged, and returns the JSON of the response. */
export type JsonPost = (body: unknown, signal: AbortSignal | undefined) => Promise<unknown>

/**
 * Creates a {@link JsonPost} that retries after 408, 429, 5xx and broken connections.
 * @throws from the post: what `refusalOf` makes of a status, GATEWAY_TIMEOUT, CONNECTION_ERROR, BAD_GATEWAY (no JSON)
 */
export function createJsonPost(options: JsonPostOptions): JsonPost {
  return (body, signal) => {
    const isQuery = options.method === 'GET'
    const url = isQuery ? withQuery(options.url, body as Readonly<Record<string, unknown>>) : options.url
    const sent = isQuery ? undefined : body instanceof FormData ? body : JSON.stringify(body)
    return retrying(() => tryOnce({ ...options, url }, sent, signal), signal, options)
  }
}

/** Keeps the query. @throws INVALID_INPUT for anything but an http or https URL without user name and password */
export function endpointOf(baseUrl: string, path: string, subject: string): URL {
  const url = URL.parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new InlayError('INVALID_INPUT', {
      message: `The base URL of ${subject} is an http or https address without a user name or password.`,
    })
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}${path}`
  return url
}

async function tryOnce(
  options: JsonPostOptions,
  body: string | FormData | undefined,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { subject, url, apiKey, headers, timeoutMs = 60_000, fetch: send = fetch, toRefusal = refusalOf } = options
  signal?.throwIfAborted()
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await send(url, {
      method: options.method ?? 'POST',
      headers: {
        // `fetch` sets the type of a form itself, since it contains the boundary.
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        accept: 'application/json',
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      // A redirected POST would lose its body, and the key must not be sent elsewhere.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const text = await response.text()
    if (!response.ok) throw toRefusal({ subject, status: response.status, headers: response.headers, text })
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

/** Converts the failure of a service call to an InlayError; InlayErrors are kept. Throws the reason of `signal`. */
function toCallFailure(
  error: unknown,
  subject: string,
  { signal, timeout }: { readonly signal: AbortSignal | undefined; readonly timeout: AbortSignal },
): InlayError {
  if (isInlayError(error)) return error
  signal?.throwIfAborted()
  if (timeout.aborted)
    return new InlayError('GATEWAY_TIMEOUT', { message: `${subject} did not answer in time.`, cause: error })
  return new InlayError('CONNECTION_ERROR', { message: unreached(subject, error), cause: error })
}

function parseAnswer(text: string, subject: string): unknown {
  const value = readJson(text)
  if (value !== undefined) return value
  throw new InlayError('BAD_GATEWAY', { message: `${subject} sent something else than JSON: check its base URL.` })
}
