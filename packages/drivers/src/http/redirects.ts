/** A repeatable request. */
export interface OutgoingRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

// All other headers may contain a credential, since services name them freely.
const harmlessHeader = /^(accept|accept-.+|content-.+|user-agent|range|cache-control)$/

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/**
 * The request that follows a redirect, with the rules of `fetch`: a POST becomes a GET without body after 301, 302 and
 * 303. Another origin only receives headers that cannot contain a credential. Header names are in lower case.
 */
export function redirectedRequest<Request extends OutgoingRequest>(
  request: Request,
  status: number,
  from: URL,
  to: URL,
): Request {
  const method = (request.method ?? 'GET').toUpperCase()
  const becomesGet = status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST'
  const kept = Object.entries(lowerCased(request.headers)).filter(
    ([name]) =>
      (from.origin === to.origin || harmlessHeader.test(name)) && !(becomesGet && name.startsWith('content-')),
  )
  const headers = Object.fromEntries(kept)
  return becomesGet ? { ...request, headers, method: 'GET', body: undefined } : { ...request, headers }
}

/** Whether a redirect stays on its host; the host's own https counts as the same. */
export function isSameHost(from: URL, to: URL): boolean {
  if (to.username !== '' || to.password !== '') return false
  if (to.origin === from.origin) return true
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === ''
  return isUpgrade && from.hostname === to.hostname
}

export function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
