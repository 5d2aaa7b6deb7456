import { InlayError } from '@inlay/protocol'
import { untilAborted } from '@inlay/scheduling'
import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isPublicAddress } from './egress-address.ts'
import { exchange, type Target } from './egress-exchange.ts'
import { isRedirect, isSameHost, redirectedRequest, type OutgoingRequest } from './redirects.ts'

export interface EgressOptions {
  /** Hosts (`name` or `name:port`, lower case) allowed although their addresses are not public. Default none. */
  readonly allowHosts?: readonly string[]
  /**
   * The only allowed hosts besides those of `allowHosts`: `name`, or `*.name` for its subdomains, lower case. Default:
   * any public host.
   */
  readonly onlyHosts?: readonly string[]
  /** Timeout of the whole request including redirects, in milliseconds. Default 20,000. */
  readonly timeoutMs?: number
  /** Maximum bytes of a body after decompression. Default 10 MiB. */
  readonly maxBytes?: number
  /** Maximum number of redirects. Default 5. */
  readonly maxRedirects?: number
  /** `User-Agent` header. Default `Inlay/0.1`. */
  readonly userAgent?: string
  /** Resolves a host name to all its addresses. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
}

/** One request; absent fields default to the options of the client. */
export interface EgressRequest extends OutgoingRequest {
  readonly signal?: AbortSignal
  readonly maxBytes?: number
  readonly timeoutMs?: number
  /** Accepted media types, by prefix such as `text/`. Absent: any. */
  readonly mediaTypes?: readonly string[]
}

export const refused = (message: string): InlayError => new InlayError('BAD_REQUEST', { message, retryable: false })

async function systemAddresses(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address)
}

function parsed(text: string): URL {
  const url = URL.parse(text)
  if (!url) throw refused('This is not an address: give a whole http or https URL.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused('Only http and https addresses are fetched.')
  if (url.username !== '' || url.password !== '') throw refused('An address must not carry a user name or password.')
  return url
}

function isOf(hostname: string, host: string): boolean {
  return host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host
}

/** Resolves a name once; every address of the name must be allowed. */
async function locate(url: URL, options: EgressOptions, signal: AbortSignal): Promise<Target> {
  // URL has already turned decimal, octal, hex and short IPv4 forms into dotted ones.
  const hostname = url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const allowed = options.allowHosts?.includes(hostname) || options.allowHosts?.includes(`${hostname}:${port}`)
  // Before the name is resolved: a DNS query alone could leak data.
  if (!allowed && options.onlyHosts && !options.onlyHosts.some((host) => isOf(hostname, host)))
    throw refused('This address is not among those that the operator opened.')
  let addresses: readonly string[]
  try {
    addresses = isIP(hostname)
      ? [hostname]
      : // The system's resolver cannot be stopped.
        await untilAborted((options.resolve ?? systemAddresses)(hostname), signal)
  } catch (error) {
    throw new InlayError('BAD_GATEWAY', { message: 'The name of the address is not known.', cause: error })
  }
  if (addresses.length === 0) throw new InlayError('BAD_GATEWAY', { message: 'The name of the address is not known.' })
  if (!allowed && !addresses.every(isPublicAddress))
    throw refused('This address is not on the public internet; an operator may allow its host.')
  return { url, hostname, addresses }
}

/** Checks each redirect like the first address. The caller must read the body or destroy the message. */
export async function openAddress(
  address: string,
  first: EgressRequest,
  options: EgressOptions,
  signal: AbortSignal,
): Promise<{ readonly url: URL; readonly request: EgressRequest; readonly message: IncomingMessage }> {
  const userAgent = options.userAgent ?? 'Inlay/0.1'
  let url = parsed(address)
  let request = first
  for (let hops = 0; ; hops++) {
    const message = await exchange(await locate(url, options, signal), request, signal, userAgent)
    const { location } = message.headers
    const status = message.statusCode ?? 0
    if (!isRedirect(status) || location === undefined) return { url, request, message }
    message.destroy()
    if (hops >= (options.maxRedirects ?? 5)) throw refused('The address redirects too often.')
    const next = parsed(URL.canParse(location, url) ? new URL(location, url).href : location)
    request = redirectedRequest(request, status, url, next)
    // A body written for one service must not reach another.
    if (request.body !== undefined && !isSameHost(url, next))
      throw refused('The address redirects what was sent to it to another host.')
    url = next
  }
}
