import { InlayError } from '@inlay/protocol'
import { toError } from './failures.ts'

/** A `fetch` as the platform has it. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>

/** URL of the service and the `fetch` function to use. */
export interface TransportOptions {
  /** Address of the API with its prefix, such as `https://app.example/api`; in a page `/api` will do. */
  readonly baseUrl: string
  /** Sent as bearer key; a function is asked before every request. Absent: the host app knows the caller otherwise. */
  readonly apiKey?: string | (() => string | Promise<string>)
  /** Default: the platform's. */
  readonly fetch?: Fetch
}

/** One request. */
export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is; the content type of a text stands in `headers`, that of a form is made with it. */
  readonly body?: string | FormData
  readonly signal?: AbortSignal
}

/** Sends requests; answers only responses that succeeded. */
export interface Transport {
  /**
   * @throws InlayError of the answer's code, CONNECTION_ERROR without an answer, INSUFFICIENT_PERMISSIONS when the
   * service does not allow the origin of this page, or the signal's reason
   */
  send(path: string, call: Call): Promise<Response>
}

/** Makes the transport all methods of a client share. */
export function createTransport(options: TransportOptions): Transport {
  // Hosts may be written without types.
  if (typeof options?.baseUrl !== 'string')
    throw new InlayError('INVALID_INPUT', { message: 'A client needs a baseUrl, such as https://app.example/api.' })
  const base = options.baseUrl.replace(/\/+$/, '')
  // Looked up at each call: a page or a test may replace it later.
  const send: Fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const keyOf = async (): Promise<string | undefined> =>
    typeof options.apiKey === 'function' ? options.apiKey() : options.apiKey
  let isReadable = false
  return {
    async send(path, call) {
      const key = await keyOf()
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
        // After an answer that could be read, this origin is allowed and only the connection failed.
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

/** Longest wait for an answer to a probe, in milliseconds. */
const probeTimeoutMs = 1000

/**
 * Whether the service answers, but to no page of this origin (CORS). A browser gives `fetch` the same TypeError for this
 * as for a service that is down, so both are tried without a key. False outside of pages.
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

/** The error for a connection that could not be made or broke; an abort keeps its own reason. */
export function lost(cause: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  return new InlayError('CONNECTION_ERROR', {
    message: 'The service could not be reached, or the connection to it broke.',
    cause,
  })
}
