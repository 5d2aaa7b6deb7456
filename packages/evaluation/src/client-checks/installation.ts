import { isJsonObject, readJson } from '@inlay/protocol'

/** An installation that checks call, as a client with a key. */
export interface Installation {
  /** Base address of the API, without a slash at its end. */
  readonly base: string
  readonly key: string
  /** Origin of a page whose browser calls; undefined when no page is to be checked. */
  readonly origin: string | undefined
  readonly signal: AbortSignal
  /** Carries the calls: to an address that the operator names. */
  readonly fetch: (address: string, init: RequestInit) => Promise<Response>
}

/** What a call answered, read whole. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown
}

/** Calls an address as existing clients do: any media type, and both headers that carry keys. */
export async function call(
  { base, key, signal, fetch }: Installation,
  method: string,
  path: string,
  body?: object | FormData,
): Promise<Answer> {
  const isForm = body instanceof FormData
  const response = await fetch(`${base}${path}`, {
    method,
    signal,
    headers: {
      accept: '*/*',
      authorization: `Bearer ${key}`,
      'x-onyx-authorization': `Bearer ${key}`,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: readJson(text) }
}

/** A field of an answer; undefined when the answer is no object or has none. */
export function fieldOf(answer: Answer, name: string): unknown {
  return isJsonObject(answer.json) ? answer.json[name] : undefined
}

/** What is wrong with an answer whose status was to be 200; undefined when it was. */
export function refused({ status, text }: Answer): string | undefined {
  return status === 200 ? undefined : `It answered ${status}: ${text.slice(0, 200)}`
}
