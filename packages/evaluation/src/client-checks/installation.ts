import { isJsonObject, readJson } from '@inlay/protocol'

/** The installation to check, called as a client with a key. */
export interface Installation {
  /** Base URL of the API, without a trailing slash. */
  readonly base: string
  readonly key: string
  /** Origin of a page to check; undefined to skip these checks. */
  readonly origin: string | undefined
  readonly signal: AbortSignal
  /** Sends the requests, to a URL that the operator specified. */
  readonly fetch: (address: string, init: RequestInit) => Promise<Response>
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown
}

/** Sends a request like existing clients: with any media type, and the key in both headers. */
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
  return { status: response.status, text, json: readJson(text) }
}

/** A field of a response body; undefined if it is missing or the body is not an object. */
export function fieldOf(answer: Answer, name: string): unknown {
  return isJsonObject(answer.json) ? answer.json[name] : undefined
}

/** Describes a response whose status is not 200; undefined if it is. */
export function refused({ status, text }: Answer): string | undefined {
  return status === 200 ? undefined : `It answered ${status}: ${text.slice(0, 200)}`
}
