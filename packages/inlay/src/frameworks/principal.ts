import { InlayError, type Principal } from '@inlay/protocol'

/** The `fetch` of an assistant, which also accepts the host's user. */
export type PrincipalFetch = (
  request: Request,
  context: { readonly principal: Principal | null | undefined },
) => Promise<Response>

/** An assistant, or only its `fetch`. */
export type Mountable = PrincipalFetch | { readonly fetch: PrincipalFetch }

/** @throws INVALID_INPUT for any other value, which would fail with the first request only */
export function fetchOf(assistant: Mountable, mount: string): PrincipalFetch {
  const fetch = typeof assistant === 'function' ? assistant : assistant?.fetch
  if (typeof fetch === 'function') return fetch
  throw new InlayError('INVALID_INPUT', {
    message: `${mount}() requires an assistant created by createInlay(), or its fetch.`,
  })
}

/** How a host that has already authenticated its user passes the caller. */
export interface PrincipalOption<Call> {
  /**
   * Returns the caller from the host's request; null or undefined falls back to `authenticate` and API keys. Errors it
   * throws are handled by the host.
   */
  readonly principal?:
    | ((call: Call) => Principal | null | undefined | Promise<Principal | null | undefined>)
    | undefined
}
