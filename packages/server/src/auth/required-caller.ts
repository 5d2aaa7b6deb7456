import { hasScope, InlayError, type Principal, type Scope } from '@inlay/protocol'

/**
 * Tells who sends a request, from its headers alone: the body is not read yet and must not be touched. Undefined and
 * null mean "nobody I know", which is answered as 401. May throw an InlayError of its own (its status and code are
 * answered); any other throw is a 500. Called once a request, concurrently.
 */
export type Authenticator = (request: Request) => Promise<Principal | null | undefined> | Principal | null | undefined

/** The key of `Authorization: Bearer <key>`; undefined when the header is absent or of another form. */
export function bearerKey(request: Request): string | undefined {
  const header = request.headers.get('authorization')
  return header === null ? undefined : /^bearer +(\S+) *$/i.exec(header)?.[1]
}

/**
 * The caller of a request that needs one.
 * @throws UNAUTHENTICATED without credentials, INVALID_TOKEN with unknown ones
 */
export async function callerOf(request: Request, authenticate: Authenticator): Promise<Principal> {
  const caller = await authenticate(request)
  if (!caller) {
    // A program whose key is not set sends an empty header.
    const isGiven = !/^(?:bearer)?\s*$/i.test(request.headers.get('authorization') ?? '')
    throw new InlayError(isGiven ? 'INVALID_TOKEN' : 'UNAUTHENTICATED')
  }
  // What a host hands in decides whose things are whose: people without an id of their own would share everything.
  if (typeof caller.id === 'string' && caller.id !== '' && Array.isArray(caller.scopes)) return caller
  // For the log: a client cannot do anything about it.
  const cause = new Error(
    '`authenticate`, or the `principal` of `fetch`, is a caller whose id is no text, or that has no list of scopes.',
  )
  throw new InlayError('INTERNAL_ERROR', { cause })
}

/** Any of the scopes suffices. @throws INSUFFICIENT_PERMISSIONS without one of them */
export function checkScopes(caller: Principal, scopes: readonly Scope[]): void {
  if (!scopes.some((scope) => hasScope(caller, scope))) {
    throw new InlayError('INSUFFICIENT_PERMISSIONS', {
      message: `This needs a key with the scope ${scopes.map((scope) => `"${scope}"`).join(' or ')}.`,
    })
  }
}
