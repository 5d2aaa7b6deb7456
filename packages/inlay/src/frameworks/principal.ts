import type { Principal } from '@inlay/protocol'

/** A `fetch` that takes the host's user: that of an assistant. */
export type PrincipalFetch = (
  request: Request,
  context: { readonly principal: Principal | null | undefined },
) => Promise<Response>

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
