import { InlayError, type Principal } from '@inlay/protocol'

/** A `fetch` that takes the host's user: that of an assistant. */
export type PrincipalFetch = (
  request: Request,
  context: { readonly principal: Principal | null | undefined },
) => Promise<Response>

/** An assistant, or its `fetch` alone. */
export type Mountable = PrincipalFetch | { readonly fetch: PrincipalFetch }

/** @throws INVALID_INPUT for any other value, which would fail with the first request only */
export function fetchOf(assistant: Mountable, mount: string): PrincipalFetch {
  const fetch = typeof assistant === 'function' ? assistant : assistant?.fetch
  if (typeof fetch === 'function') return fetch
  throw new InlayError('INVALID_INPUT', { message: `${mount}() needs an assistant of createInlay(), or its fetch.` })
}

/** How a host that has already signed its user in says who calls. */
export interface PrincipalOption<Call> {
  /**
   * The caller, from what the host's sign-in left on its request; nobody means that `authenticate` and API keys are
   * asked. What it throws is the host's to answer.
   */
  readonly principal?:
    | ((call: Call) => Principal | null | undefined | Promise<Principal | null | undefined>)
    | undefined
}
