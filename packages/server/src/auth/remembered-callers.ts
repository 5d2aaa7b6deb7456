import { isInlayError, type Principal } from '@inlay/protocol'
import { endsWithin } from '@inlay/scheduling'
import type { Authenticator } from './required-caller.ts'

const rememberedMs = 60 * 60_000
const maxRemembered = 100
/** Wait for the authentication of a remembered caller: a scrape usually ends after 10 seconds. */
const waitMs = 1_000

/**
 * Identifies callers also while the database of keys is away: credentials accepted within the last hour are accepted if
 * the authentication fails or takes long. For routes that are needed in an outage and reveal little, since a key
 * revoked in the meantime still counts.
 */
export function rememberCallers(authenticate: Authenticator): Authenticator {
  const remembered = new Map<string, { readonly caller: Principal; readonly at: number }>()
  return async (request) => {
    const credentials = request.headers.get('authorization') ?? ''
    const known = remembered.get(credentials)
    const identified = (async () => authenticate(request))()
    if (known && performance.now() - known.at < rememberedMs) {
      const isAway = identified.then(() => false, isOutage)
      if (!(await endsWithin(isAway, waitMs)) || (await isAway)) return known.caller
    }
    remembered.delete(credentials)
    const caller = await identified
    if (caller && credentials !== '' && remembered.size < maxRemembered)
      remembered.set(credentials, { caller, at: performance.now() })
    return caller
  }
}

/** An authenticator of the host rejects with the error of its database. */
const isOutage = (error: unknown): boolean => !isInlayError(error) || error.code === 'SERVICE_UNAVAILABLE'
