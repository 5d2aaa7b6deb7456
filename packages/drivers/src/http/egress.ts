import { joinInSlices } from '@inlay/scheduling'
import type { EgressOptions, EgressRequest } from './egress-open.ts'
import { defaultTimeoutMs, egressStream, toEgressError } from './egress-stream.ts'

export type { EgressOptions, EgressRequest } from './egress-open.ts'
export { retryAfter } from './refusals.ts'

/** A response with its whole body, of any status except redirects, which are followed. */
export interface EgressAnswer {
  /** Final URL, after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

/** Fetches URLs that come from a user, a document, a tool or a model. */
export type Egress = (url: string, request?: EgressRequest) => Promise<EgressAnswer>

/**
 * Creates the client for untrusted URLs. Only http and https; a name is resolved once, each of its addresses must be
 * public (or its host allowed by the operator), and the connection uses a checked address. Redirects are followed by
 * hand and checked like the first address; headers that may hold a key stay with
 * their origin. Rejects with BAD_REQUEST (refused), BAD_GATEWAY, GATEWAY_TIMEOUT, PAYLOAD_TOO_LARGE; messages name no
 * address.
 * @example
 * const page = await egress()('https://example.com/', { mediaTypes: ['text/'] })
 */
export function egress(options: EgressOptions = {}): Egress {
  const open = egressStream(options)
  return async (address, first = {}) => {
    const timeoutMs = first.timeoutMs ?? options.timeoutMs ?? defaultTimeoutMs
    const timeout = AbortSignal.timeout(timeoutMs)
    const signal = first.signal ? AbortSignal.any([first.signal, timeout]) : timeout
    try {
      const { body, ...answer } = await open(address, { ...first, signal })
      const parts: Uint8Array[] = []
      let size = 0
      for await (const part of body) {
        parts.push(part)
        size += part.byteLength
      }
      return { ...answer, bytes: await joinInSlices(parts, size) }
    } catch (error) {
      throw toEgressError(error, first.signal, timeout)
    }
  }
}
