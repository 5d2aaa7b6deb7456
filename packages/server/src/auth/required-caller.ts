import { hasScope, InlayError, type Principal, type Scope } from '@inlay/protocol'

/**
 * Identifies the caller of a request from its headers only; the body must not be read. Undefined and null mean an
 * unknown caller, answered as 401. An InlayError it throws is answered with its own status and code, anything else as
 * 500. Called concurrently, once per request, and again without `Authorization` for a request with a key from a page of
 * another origin.
 */
export type Authenticator = (request: Request) => Promise<Principal | null | undefined> | Principal | null | undefined

/** The key in `Authorization: Bearer <key>`; undefined when the header is absent or has another form. */
export function bearerKey(request: Request): string | undefined {
  const header = request.headers.get('authorization')
  return header === null ? undefined : /^bearer +(\S+) *$/i.exec(header)?.[1]
}

/** @throws UNAUTHENTICATED without credentials, INVALID_TOKEN with unknown ones */
export async function callerOf(request: Request, authenticate: Authenticator): Promise<Principal> {
  const caller = await authenticate(request)
  if (!caller) {
    // A client with an unset key sends an empty header.
    const isGiven = !/^(?:bearer)?\s*$/i.test(request.headers.get('authorization') ?? '')
    throw new InlayError(isGiven ? 'INVALID_TOKEN' : 'UNAUTHENTICATED')
  }
  // Ownership depends on this id: callers without one would share all their data.
  if (typeof caller.id === 'string' && caller.id !== '' && Array.isArray(caller.scopes)) return caller
  // For the log: the client cannot fix this.
  const cause = new Error(
    '`authenticate`, or the `principal` passed to `fetch`, returned a caller whose id is not a string or whose scopes are not a list.',
  )
  throw new InlayError('INTERNAL_ERROR', { cause })
}

/** Checks that the caller has at least one of the scopes. @throws INSUFFICIENT_PERMISSIONS */
export function checkScopes(caller: Principal, scopes: readonly Scope[]): void {
  if (!scopes.some((scope) => hasScope(caller, scope))) {
    throw new InlayError('INSUFFICIENT_PERMISSIONS', {
      message: `This needs a key with the scope ${scopes.map((scope) => `"${scope}"`).join(' or ')}.`,
    })
  }
}
