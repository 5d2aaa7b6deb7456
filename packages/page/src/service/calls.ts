import { toError, type Client } from '@inlay/client'
import { InlayError } from '@inlay/protocol'

/** Requests to routes that the client has no methods for; each rejects with the error of the response. */
export interface ServiceCalls {
  get<Body>(path: string, signal?: AbortSignal): Promise<Body>
  /** An answer that is no JSON. */
  text(path: string, signal?: AbortSignal): Promise<string>
  /** @param body sent as JSON, or as a form */
  send<Body>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Body>
  readonly client: Client
  /** Path of the API, such as `/api`. */
  readonly baseUrl: string
}

export function serviceCalls(client: Client, baseUrl: string, apiKey: string): ServiceCalls {
  const request = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { authorization: `Bearer ${apiKey}`, ...init.headers }
    const response = await fetch(`${baseUrl}${path}`, { ...init, headers }).catch((cause: unknown) => {
      if (init.signal?.aborted === true) throw cause
      throw new InlayError('CONNECTION_ERROR', { cause })
    })
    if (!response.ok) throw await toError(response)
    return response
  }
  const call = async <Body>(path: string, init: RequestInit): Promise<Body> => {
    const response = await request(path, init)
    // Page and server have the same version, so the response has the shape of `@inlay/protocol`.
    return response.status === 204 ? (undefined as Body) : ((await response.json()) as Body)
  }
  return {
    get: (path, signal) => call(path, { ...(signal && { signal }) }),
    text: async (path, signal) => (await request(path, { ...(signal && { signal }) })).text(),
    send: (method, path, body) =>
      call(path, {
        method,
        ...(body instanceof FormData
          ? { body }
          : body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    client,
    baseUrl,
  }
}
