import { InlayError, isInlayError } from '@inlay/protocol'
import { toError } from './failures.ts'

/** A function like the platform's `fetch`. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>

/** URL of the service and the `fetch` function to use. */
export interface TransportOptions {
  /** URL of the API with its path, such as `https://app.example/api`; in a page, `/api` suffices. */
  readonly baseUrl: string
  /**
   * Sent as bearer key; a function is called before every request. Absent: the host app authenticates the caller in
   * another way.
   */
  readonly apiKey?: string | (() => string | Promise<string>)
  /** Default: the platform's `fetch`. */
  readonly fetch?: Fetch
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** Sent unchanged; set the content type of a text in `headers`. */
  readonly body?: string | FormData
  readonly signal?: AbortSignal
}

/** Sends requests; resolves only with successful responses. */
export interface Transport {
  /**
   * @throws InlayError with the code of the response, CONNECTION_ERROR without a response, INSUFFICIENT_PERMISSIONS if
   * the service does not allow the origin of this page, or the reason of the signal
   */
  send(path: string, call: Call): Promise<Response>
  readonly isLoopback: boolean
}

export function createTransport(options: TransportOptions): Transport {
  // Hosts may be written in JavaScript.
  const given: unknown = options?.baseUrl
  // Without a scheme, `localhost:3000` would be read as one, and a name as a path of the page.
  if (typeof given !== 'string' || !/^(?:https?:\/\/[^/]|[/.]|$)/i.test(given)) {
    const fault = typeof given === 'string' ? ` "${given.slice(0, 200)}" lacks http://, https:// or /.` : ''
    const message = `A client requires a baseUrl, such as https://app.example/api.${fault}`
    throw new InlayError('INVALID_INPUT', { message })
  }
  const base = given.replace(/(?<!\/)\/+$/, '')
  // Looked up for each call: a page or a test may replace it later.
  const send: Fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  let isReadable = false
  return {
    isLoopback: /^(localhost|127\..+|\[::1])$/.test(URL.parse(base, pageOrigin())?.hostname ?? ''),
    async send(path, call) {
      // Waits also for a plain key: an abort right after the call sends nothing.
      const key = await (typeof options.apiKey === 'function' ? options.apiKey() : options.apiKey)
      const init: RequestInit = {
        method: call.method ?? 'GET',
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(call.json !== undefined && { 'content-type': 'application/json' }),
          ...call.headers,
        },
        ...((call.json !== undefined || call.body !== undefined) && { body: call.body ?? JSON.stringify(call.json) }),
        ...(call.signal && { signal: call.signal }),
      }
      const response = await send(base + path, init).catch(async (cause: unknown) => {
        // If a response was readable before, this origin is allowed and only the connection failed.
        if (!isReadable && !call.signal?.aborted && cause instanceof TypeError && (await refusesPage(base, send)))
          throw pageRefused(base, cause)
        throw lost(cause, call.signal)
      })
      isReadable = true
      if (response.ok) return response
      throw await toError(response)
    },
  }
}

const probeTimeoutMs = 1000

/**
 * Whether the service responds, but does not allow this page's origin (CORS). A browser's `fetch` throws the same
 * TypeError as for a service that is down, so this probes without a key. False outside of pages.
 */
async function refusesPage(base: string, send: Fetch): Promise<boolean> {
  const page = pageOrigin()
  if (page === undefined || URL.parse(base, page)?.origin === page) return false
  const answers = (mode: RequestMode): Promise<boolean> =>
    send(`${base}/health`, { mode, cache: 'no-store', signal: AbortSignal.timeout(probeTimeoutMs) }).then(
      () => true,
      () => false,
    )
  return (await answers('no-cors')) && !(await answers('cors'))
}

/** Undefined outside of browsers. */
function pageOrigin(): string | undefined {
  const { location } = globalThis as { readonly location?: { readonly origin?: string } }
  return location?.origin
}

function pageRefused(base: string, cause: unknown): InlayError {
  const [service, page] = [new URL(base).origin, pageOrigin()]
  const message =
    `The server at ${service} does not allow pages of ${page}: ` +
    `add "${page}" to its option corsOrigins, or to INLAY_CORS_ORIGINS.`
  return new InlayError('INSUFFICIENT_PERMISSIONS', { message, cause })
}

/** The error for a connection that failed or broke. An abort, and an error of the host's own `fetch`, stay what they are. */
export function lost(cause: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  if (isInlayError(cause)) return cause
  return new InlayError('CONNECTION_ERROR', {
    message: 'The service could not be reached, or the connection to it broke.',
    cause,
  })
}
