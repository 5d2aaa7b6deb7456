import type { TransportRequest } from './transport.ts'

const redirects = new Set([301, 302, 303, 307, 308])
// What may go to another origin; any other header may hold a credential.
const harmlessHeaders = new Set(['accept', 'content-type', 'user-agent'])

/** The request that follows a redirect; undefined when the answer is none. */
export function redirectedRequest(
  request: TransportRequest,
  status: number,
  location: string | undefined,
): TransportRequest | undefined {
  if (!redirects.has(status) || location === undefined || !URL.canParse(location, request.url)) return undefined
  const from = new URL(request.url)
  const to = new URL(location, from)
  if (to.protocol !== 'http:' && to.protocol !== 'https:') return undefined
  const becomesGet = status === 303 || ((status === 301 || status === 302) && request.method === 'POST')
  const kept = Object.entries(request.headers).filter(
    ([name]) =>
      (from.origin === to.origin || harmlessHeaders.has(name)) && !(becomesGet && name.startsWith('content-')),
  )
  const { method, body, ...rest } = request
  const moved = { ...rest, url: to.href, headers: Object.fromEntries(kept) }
  return becomesGet ? { ...moved, method: 'GET' } : { ...moved, method, body }
}
