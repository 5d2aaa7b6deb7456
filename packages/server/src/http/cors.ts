import { reply, type Reply } from './replies.ts'
import type { ServerSettings } from './settings.ts'

const exposed =
  'content-disposition, etag, link, mcp-session-id, openai-poll-after-ms, preference-applied, retry-after, x-request-id, x-should-retry'
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const headers =
  'authorization, content-encoding, content-type, idempotency-key, if-none-match, last-event-id, mcp-protocol-version, mcp-session-id, prefer, x-request-id'
/** How long browsers may cache a preflight: two hours, Chromium's maximum. */
const preflightSeconds = 7200

export type CorsOrigins = readonly string[] | '*'

/** The response to a preflight of an allowed origin; undefined for other requests. */
export function preflightReply(
  request: Request,
  {
    corsOrigins,
    passHeaders,
    allowsAskedHeaders,
  }: Pick<ServerSettings, 'corsOrigins' | 'passHeaders' | 'allowsAskedHeaders'>,
): Reply | undefined {
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return undefined
  if (!isAllowed(request, corsOrigins)) return undefined
  const requestHeaders = (allowsAskedHeaders && request.headers.get('access-control-request-headers')) || headers
  return reply(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': [requestHeaders, ...passHeaders].join(', '),
      'access-control-max-age': String(preflightSeconds),
    },
  })
}

/** CORS headers for a request from an allowed origin. Credentials are never allowed, since keys are sent as headers. */
export function corsHeaders(request: Request, origins: CorsOrigins): Record<string, string> {
  const vary: Record<string, string> = origins === '*' ? {} : { vary: 'origin' }
  if (!isAllowed(request, origins)) return vary
  const origin = origins === '*' ? '*' : (request.headers.get('origin') ?? '')
  return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed }
}

/**
 * Origin of a page that will not receive the response because `corsOrigins` lacks its origin; undefined otherwise.
 * Programs and pages of the server's own origin send no preflight, and no `Sec-Fetch-Site` of another site.
 */
export function refusedOrigin(request: Request, origins: CorsOrigins): string | undefined {
  const { headers, method } = request
  const origin = headers.get('origin')
  if (origin === null || origin === 'null' || isAllowed(request, origins)) return undefined
  const isPreflight = method === 'OPTIONS' && headers.has('access-control-request-method')
  return isPreflight || foreignSites.includes(headers.get('sec-fetch-site')) ? origin : undefined
}

const foreignSites: readonly (string | null)[] = ['cross-site', 'same-site']

function isAllowed(request: Request, origins: CorsOrigins): boolean {
  const origin = request.headers.get('origin')
  return origin !== null && (origins === '*' || origins.includes(origin))
}
