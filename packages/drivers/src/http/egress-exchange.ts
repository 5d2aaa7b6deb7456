import { InlayError } from '@inlay/protocol'
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { lowerCased, type OutgoingRequest } from './redirects.ts'

export interface Target {
  readonly url: URL
  readonly hostname: string
  /** At least one; all are allowed. */
  readonly addresses: readonly string[]
}

/** Timeout for connecting to one of several addresses. */
const connectMs = 3_000

/** Sends the request to the first address that accepts a connection, since IPv4 or IPv6 may not work here. */
export async function exchange(
  target: Target,
  request: OutgoingRequest,
  signal: AbortSignal,
  userAgent: string,
): Promise<IncomingMessage> {
  const { addresses } = target
  for (const [at, address] of addresses.entries()) {
    const isLast = at === addresses.length - 1
    const options = { ...toOptions(target, address, request, userAgent), signal }
    const attempt = await exchangeWith(options, request.body, isLast ? undefined : connectMs)
    if ('message' in attempt) return attempt.message
    // The server may have carried out a request that was sent, so another address is tried only if no connection was
    // made.
    if (isLast || attempt.isConnected || signal.aborted) throw attempt.error
  }
  throw new InlayError('BAD_GATEWAY', { message: 'The name of the address is not known.' })
}

type AddressedOptions = RequestOptions & { readonly servername?: string }

function toOptions(
  { url, hostname }: Target,
  address: string,
  request: OutgoingRequest,
  userAgent: string,
): AddressedOptions {
  const isSecure = url.protocol === 'https:'
  return {
    protocol: url.protocol,
    // Connects to the checked address, so a second DNS lookup cannot lead elsewhere (DNS rebinding).
    host: address,
    port: url.port || (isSecure ? 443 : 80),
    path: url.pathname + url.search,
    method: request.method ?? 'GET',
    headers: {
      'user-agent': userAgent,
      'accept-encoding': 'gzip, deflate, br',
      ...lowerCased(request.headers),
      host: url.host,
    },
    agent: false,
    maxHeaderSize: 65_536,
    ...(isSecure && !isIP(hostname) ? { servername: hostname } : {}),
  }
}

type Attempt =
  | { readonly message: IncomingMessage }
  | { readonly error: unknown; /** Whether anything may have been sent. */ readonly isConnected: boolean }

function exchangeWith(
  options: AddressedOptions,
  body: OutgoingRequest['body'],
  connectTimeoutMs: number | undefined,
): Promise<Attempt> {
  return new Promise((resolve) => {
    const send = options.protocol === 'https:' ? httpsRequest : httpRequest
    const sent = send(options, (message) => resolve({ message }))
    let isConnected = false
    const giveUp = (): void => void sent.destroy(new Error('the address does not accept the connection'))
    const timer = connectTimeoutMs === undefined ? undefined : setTimeout(giveUp, connectTimeoutMs)
    sent.once('socket', (socket) =>
      socket.once('connect', () => {
        isConnected = true
        clearTimeout(timer)
      }),
    )
    sent.on('error', (error) => resolve({ error, isConnected }))
    // A response that switches protocols (101) closes the connection without an error.
    sent.once('close', () => {
      clearTimeout(timer)
      const error = Object.assign(new Error('the connection was closed without a response'), { code: 'ECONNRESET' })
      resolve({ error, isConnected })
    })
    sent.end(body)
  })
}
