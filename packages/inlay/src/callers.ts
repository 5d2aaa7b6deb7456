import { hash, timingSafeEqual } from 'node:crypto'
import { operator } from '@inlay/protocol'
import { bearerKey, type Authenticator } from '@inlay/server'

/** Asks each in turn; the first who knows the caller decides. */
export function firstOf(authenticators: readonly Authenticator[]): Authenticator {
  return async (request) => {
    for (const authenticate of authenticators) {
      const caller = await authenticate(request)
      if (caller) return caller
    }
    return undefined
  }
}

/** Accepts one key, as the operator. Compared by hash, so that the time it takes tells nothing. */
export function fixedKey(key: string): Authenticator {
  const expected = hash('sha256', key, 'buffer')
  return (request) => {
    const given = bearerKey(request)
    return given !== undefined && timingSafeEqual(hash('sha256', given, 'buffer'), expected) ? operator : undefined
  }
}
