import { InlayError, type Principal } from '@inlay/protocol'
import { bearerKey } from './required-caller.ts'

type CorsOrigins = readonly string[] | '*'

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']

/** What decides whether a request may come from a page of another origin. */
interface PageRules {
  readonly corsOrigins: CorsOrigins
  /** Whether the route reads `multipart/form-data`. */
  readonly takesForms: boolean
  /** Identifies the caller by everything but `Authorization`. */
  readonly withoutKey: () => Promise<Principal | null | undefined>
}

/**
 * Refuses requests that a page of another origin makes a browser send with its user's credentials (CSRF). Browsers add
 * cookies, Basic credentials and client certificates automatically, but never a Bearer key, so a request that its key
 * identified passes. A key beside a cookie that identified the caller proves nothing.
 * @throws INSUFFICIENT_PERMISSIONS, UNSUPPORTED_MEDIA_TYPE for a body that a form could have sent
 */
export async function refuseForeignPages(request: Request, caller: Principal, rules: PageRules): Promise<void> {
  const { method, headers } = request
  if (method === 'GET' || method === 'HEAD') return
  const hasKey = bearerKey(request) !== undefined
  if (!isOfAllowedPage(request, rules.corsOrigins) && !(hasKey && (await isKnownByKey(caller, rules))))
    throw new InlayError('INSUFFICIENT_PERMISSIONS', {
      message:
        'A page of another origin sent this request with the credentials of its reader. To allow that page, add its origin to corsOrigins.',
    })
  // No form can send a Bearer key.
  if (hasKey) return
  const mediaType = (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  if (!formTypes.includes(mediaType) || (rules.takesForms && mediaType === 'multipart/form-data')) return
  throw new InlayError('UNSUPPORTED_MEDIA_TYPE', {
    message:
      'Send "Content-Type: application/json": without an API key, media types that HTML forms can send are refused.',
  })
}

/** An authenticator may fail without credentials: nobody is identified then. */
async function isKnownByKey(caller: Principal, { withoutKey }: PageRules): Promise<boolean> {
  const other = await withoutKey().catch(() => undefined)
  return other?.id !== caller.id
}

/** Browsers set `Sec-Fetch-Site` and `Origin`, and pages cannot change them. Other clients send neither. */
function isOfAllowedPage({ url, headers }: Request, corsOrigins: CorsOrigins): boolean {
  const site = headers.get('sec-fetch-site')
  // Browsers that send neither header identify the page by `Referer`.
  const origin = headers.get('origin') ?? (site === null ? originOf(headers.get('referer')) : null)
  // All sandboxed frames and local files have the origin "null", so it must never be allowed.
  if (origin === 'null') return false
  if (origin !== null && corsOrigins !== '*' && corsOrigins.includes(origin)) return true
  if (site === 'same-origin') return true
  if (site !== null && site !== 'none') return false
  return origin === null || isOwnOrigin(origin, new URL(url), headers.get('host'))
}

/** A proxy may terminate TLS, so a page at `https:` may match a request over `http:`, but not the reverse. */
function isOwnOrigin(origin: string, { protocol, host }: URL, hostHeader: string | null): boolean {
  const page = URL.parse(origin)
  if (page === null || !/^https?:$/.test(page.protocol) || (protocol === 'https:' && page.protocol !== 'https:'))
    return false
  return page.host === host || page.host === hostHeader?.toLowerCase()
}

/** Null without an address; "null", the origin of no page, for an invalid one. */
function originOf(address: string | null): string | null {
  return address === null ? null : (URL.parse(address)?.origin ?? 'null')
}
