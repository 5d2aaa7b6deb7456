import { createClient, toError, type Client, type Fetch } from '@inlay/client'
import { InlayError, operator } from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import { misuse, textOption, type CommandContext } from './command.ts'
import { dataFolderOf, needData, noteErrors, readsOnly, withInlay } from './with-inlay.ts'

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

/** How a command uses the data folder. */
interface Use {
  readonly indexes?: boolean
  readonly creates?: boolean
  readonly onError?: (error: unknown) => void
}

/** Base URL of requests that never leave this process. */
const localBase = 'http://data-folder.invalid/api'

/**
 * The server given by `--url`; undefined without it. A URL without a path gets the path `/api`, the default of `inlay
 * serve`.
 * @throws INVALID_INPUT for an invalid URL
 */
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

/** Completes a URL: `localhost:3000` becomes `http://localhost:3000/api`. */
export function baseUrlOf(given: string): string {
  const url = URL.parse(/^https?:\/\//i.test(given) ? given : `http://${given}`)
  if (url === null || given.trim() === '') throw misuse(`"${given}" is not a URL such as http://localhost:3000/api.`)
  if (url.pathname === '/') url.pathname = '/api'
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
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
  // oxlint-disable-next-line eslint/no-restricted-globals, eslint/no-restricted-properties -- the operator names the address
  if (remote) return work(serviceAt(remote, globalThis.fetch, { place: remote.url }))
  if (!creates) await needData(context)
  return withInlay(
    context,
    (inlay) => {
      const send: Fetch = async (url, init) => inlay.fetch(new Request(url, init))
      return work(serviceAt({ url: localBase, key: undefined }, send, { place: dataFolderOf(context), inlay }))
    },
    { ...(indexes ? {} : readsOnly), onError, basePath: '/api', authenticate: () => operator },
  )
}

function serviceAt(
  { url, key }: Remote,
  fetch: Fetch,
  { place, inlay }: { readonly place: string; readonly inlay?: Inlay },
): Service {
  const reaching: Fetch = (address, init) =>
    fetch(address, init).catch((cause: unknown) => {
      if (init.signal?.aborted) throw cause
      throw new InlayError('CONNECTION_ERROR', { message: unreachable(url, cause), cause })
    })
  return {
    client: createClient({ baseUrl: url, apiKey: key, fetch: reaching, resume: { attempts: 2 } }),
    send: (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
      return reaching(`${url}${path}`, { ...init, headers })
    },
    inlay,
    place,
  }
}

/** Errors of `fetch` contain the reason only in their cause. */
function unreachable(url: string, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  const reason =
    code === 'ECONNREFUSED' ? 'nothing listens there' : cause instanceof Error ? cause.message : 'no answer'
  return `${url} cannot be reached: ${reason}. Is inlay serve running, and is the URL right?`
}

/**
 * Sends JSON and returns the JSON of the response. @throws InlayError with the code and message of an error response
 */
export async function jsonOf({ send }: Pick<Service, 'send'>, path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await send(path, { ...init, headers: { 'content-type': 'application/json' } })
  if (!response.ok) throw await toError(response)
  return response.json()
}

/**
 * Refuses `--url` for a command that reads or writes files of this machine.
 * @param how what to do instead
 */
export function refuseUrl(context: CommandContext, how: string): void {
  if (textOption(context, 'url') !== undefined) throw misuse(`--url does not work here: ${how}.`)
}
