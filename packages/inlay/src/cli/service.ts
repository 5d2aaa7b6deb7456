import { createClient, toError, type Client, type Fetch } from '@inlay/client'
import { InlayError, operator, parseAnswer, type WireSchema } from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import { misuse, type CommandContext } from './command.ts'
import { placeOfRecords, needData, noteErrors, readsOnly, withInlay } from './with-inlay.ts'

/** A server given by `--url`. */
export interface Remote {
  /** URL of its API, without a trailing slash. */
  readonly url: string
  readonly key: string | undefined
}

/** The installation that a command uses: a server, or the data folder of this machine. */
export interface Service {
  readonly client: Client
  /** Sends a request to a path of the API. The caller must read or cancel the body. */
  readonly send: (path: string, init?: RequestInit) => Promise<Response>
  /** The assistant on the data folder; undefined for a server. */
  readonly inlay: Inlay | undefined
  /** URL or folder, for messages. */
  readonly place: string
}

interface Use {
  readonly indexes?: boolean
  readonly creates?: boolean
  readonly onError?: (error: unknown) => void
}

/** Base URL of requests that never leave this process. */
const localBase = 'http://data-folder.invalid/api'

/** The server given by `--url`; undefined without it. @throws INVALID_INPUT for an invalid URL */
export function remoteOf(context: Pick<CommandContext, 'options' | 'settings'>): Remote | undefined {
  const given = context.options['url']
  if (typeof given !== 'string') return undefined
  return { url: baseUrlOf(given), key: keyOf(context) }
}

/** The key given by `--key`, otherwise INLAY_API_KEY. */
export function keyOf({ options, settings }: Pick<CommandContext, 'options' | 'settings'>): string | undefined {
  const given = options['key']
  return typeof given === 'string' ? given : settings.options.apiKey
}

/** Completes a URL: `localhost:3000` becomes `http://localhost:3000/api`, the default of `inlay serve`. */
export function baseUrlOf(given: string): string {
  const url = URL.parse(/^https?:\/\//i.test(given) ? given : `http://${given}`)
  if (url === null || given.trim() === '') throw misuse(`"${given}" is not a URL such as http://localhost:3000/api.`)
  if (url.pathname === '/') url.pathname = '/api'
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '')
}

/**
 * Runs a command on the server given by `--url`, otherwise on the data folder.
 * @param options.indexes whether it may index documents there
 * @param options.creates whether it may create the data folder
 * @param options.onError receives errors that happen beside the command; by default they are printed
 */
export async function withService<Result>(
  context: CommandContext,
  work: (service: Service) => Promise<Result>,
  { indexes = false, creates = false, onError = noteErrors(context) }: Use = {},
): Promise<Result> {
  const remote = remoteOf(context)
  if (remote) return work(serviceAt(remote, serverFetch(remote.url), { place: remote.url }))
  if (!creates) await needData(context)
  return withInlay(
    context,
    (inlay) => {
      const send: Fetch = async (url, init) => inlay.fetch(new Request(url, init))
      return work(serviceAt({ url: localBase, key: undefined }, send, { place: placeOfRecords(context), inlay }))
    },
    { ...(indexes ? {} : readsOnly), onError, basePath: '/api', authenticate: () => operator },
  )
}

function serviceAt(
  { url, key }: Remote,
  fetch: Fetch,
  { place, inlay }: { readonly place: string; readonly inlay?: Inlay },
): Service {
  return {
    client: createClient({ baseUrl: url, apiKey: key, fetch, resume: { attempts: 2 } }),
    send: (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
      return fetch(`${url}${path}`, { ...init, headers })
    },
    inlay,
    place,
  }
}

/** The platform's `fetch`, with errors that say what is wrong with the URL of the API. */
export function serverFetch(url: string): Fetch {
  return async (address, init) => {
    // Followed, a redirect would lose the key and turn a POST into a GET.
    const manual: RequestInit = { ...init, redirect: 'manual' }
    // oxlint-disable-next-line eslint/no-restricted-properties -- the operator names the address
    const response = await globalThis.fetch(address, manual).catch((cause: unknown) => {
      if (init.signal?.aborted) throw cause
      // Without the cause, which the message contains.
      throw new InlayError('CONNECTION_ERROR', { message: unreachable(url, cause) })
    })
    const fault = foreignAnswer(url, response)
    if (fault === undefined) return response
    await response.body?.cancel()
    throw new InlayError('BAD_GATEWAY', { message: fault })
  }
}

/** An error of a connection; `reason` is what OpenSSL says in plain words. */
type TlsError = NodeJS.ErrnoException & { readonly reason?: string }

/** Codes of errors about a server that answers without TLS. */
const withoutTls = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])

/** Codes of errors about a certificate that is valid, but of an issuer that Node does not know. */
const unknownIssuer = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/** Errors of `fetch` contain the reason only in their cause. */
function unreachable(url: string, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const { code = '', message = 'no answer', reason = message } = (cause ?? {}) as TlsError
  if (withoutTls.has(code)) return `${url} cannot be reached: the server does not speak TLS. Try http://.`
  if (unknownIssuer.has(code))
    return `${url} cannot be reached: ${message}. Add its certificate with NODE_EXTRA_CA_CERTS=<file>.`
  // Any other advice would lead to a connection that is not safe.
  if (/^ERR_(?:SSL|TLS)_|^CERT_/.test(code)) return `${url} cannot be reached: ${reason}.`
  const advice = 'Is inlay serve running, and is the URL right?'
  if (code === 'ECONNREFUSED') return `${url} cannot be reached: nothing listens there. ${advice}`
  if (code === 'ENOTFOUND') return `${url} cannot be reached: there is no host of this name. Is the URL right?`
  const isTlsLikely = url.startsWith('http://') && (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET')
  return `${url} cannot be reached: ${message}. ${advice}${isTlsLikely ? ' Perhaps it needs https://.' : ''}`
}

/** Describes a response that is not from Inlay, but from a web site or a proxy; undefined for others. */
function foreignAnswer(url: string, { status, headers }: Response): string | undefined {
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null)
    return `${url} redirects to ${URL.parse(location, url)?.origin ?? location}: specify the URL that the API really has.`
  if (!/^text\/html/i.test(headers.get('content-type') ?? '')) return undefined
  return status >= 500
    ? `${url} answered with status ${status} and a web page: a proxy stands there, and Inlay behind it does not answer.`
    : `${url} answered with a web page, so it is not the API of Inlay. Specify the URL of the API, such as https://docs.example.com/api.`
}

/**
 * @throws InlayError with the code and message of an error response; BAD_GATEWAY if a response does not match the
 * schema
 */
export async function jsonOf<Value>(
  { send }: Pick<Service, 'send'>,
  path: string,
  schema: WireSchema<Value>,
  init: RequestInit = {},
): Promise<Value> {
  const response = await send(path, { ...init, headers: { 'content-type': 'application/json' } })
  if (!response.ok) throw await toError(response)
  return parseAnswer(schema, await response.json().catch(() => undefined))
}
