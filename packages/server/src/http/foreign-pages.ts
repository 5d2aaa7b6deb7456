import { InlayError } from '@inlay/protocol'
import type { CorsOrigins } from './replies.ts'

/**
 * Refuses what a page of another site has a browser send with the cookies of the person: where the host signs people in by
 * a cookie, any page could delete and change things in their name. Browsers say where a request comes from, and pages
 * cannot change that. A request with a key is not refused, as pages of others have none.
 * @throws INSUFFICIENT_PERMISSIONS
 */
export function refuseForeignPages({ method, headers }: Request, corsOrigins: CorsOrigins): void {
  if (method === 'GET' || method === 'HEAD') return
  if (headers.get('sec-fetch-site') !== 'cross-site' || !headers.has('cookie') || headers.has('authorization')) return
  const origin = headers.get('origin') ?? ''
  if (corsOrigins !== '*' && corsOrigins.includes(origin)) return
  throw new InlayError('INSUFFICIENT_PERMISSIONS', {
    message:
      'A page of another site sent this with the cookies of the person who reads it. If that page may do so, list its origin in corsOrigins.',
  })
}
