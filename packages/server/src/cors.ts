const exposed = 'link, preference-applied, retry-after, x-request-id'
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const headers = 'authorization, content-type, idempotency-key, last-event-id, prefer, x-request-id'
/** How long a browser may remember a preflight: two hours, the most Chromium takes. */
const preflightSeconds = 7200

/** Origins whose pages may read answers: listed ones, or all. */
export type CorsOrigins = readonly string[] | '*'

/** The answer to a preflight of an allowed origin; undefined for every other request. */
export function preflightResponse(request: Request, origins: CorsOrigins): Response | undefined {
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return undefined
  if (!isAllowed(request, origins)) return undefined
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': headers,
      'access-control-max-age': String(preflightSeconds),
    },
  })
}

/** Lets the page that asked read the response, if its origin is allowed. Credentials are never: keys travel as headers. */
export function allowOrigin(response: Response, request: Request, origins: CorsOrigins): void {
  if (origins !== '*' && origins.length === 0) return
  if (origins !== '*') response.headers.append('vary', 'origin')
  if (!isAllowed(request, origins)) return
  response.headers.set('access-control-allow-origin', origins === '*' ? '*' : (request.headers.get('origin') ?? ''))
  response.headers.set('access-control-expose-headers', exposed)
}

function isAllowed(request: Request, origins: CorsOrigins): boolean {
  const origin = request.headers.get('origin')
  return origin !== null && (origins === '*' || origins.includes(origin))
}
