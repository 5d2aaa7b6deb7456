import { createCallerLimit, createFairTurns, createPace } from '@inlay/scheduling'
import { createSharedCapacity, type SharedCapacity } from './limits/shared-capacity.ts'
import { InlayError, type Principal } from '@inlay/protocol'
import { H3, type H3Event } from 'h3'
import { rememberCallers } from './auth/remembered-callers.ts'
import type { Authenticator } from './auth/required-caller.ts'
import { toAddresses } from './http/addresses.ts'
import { createMcpCalls } from './http/mcp-calls.ts'
import { endpoint, respond, type EndpointSetting } from './http/endpoint.ts'
import { createStallWatch } from './http/stall-watch.ts'
import { preflightReply, type CorsOrigins } from './http/cors.ts'
import { errorReply, reply, type Reply } from './http/replies.ts'
import type { Method, MountedApi, Route, ServerParts } from './http/route.ts'
import { routes } from './routes/index.ts'
import {
  readsPerCaller,
  type AnsweredRequest,
  type WrapRequest,
  type BodyLimits,
  type FailedRequest,
  type ServerSettings,
  type Timer,
} from './http/settings.ts'

export interface ServerOptions extends ServerParts {
  readonly authenticate: Authenticator
  /**
   * Base path of the API. Requests without it are answered too, since hosts and proxies often strip it. Default `/api`.
   */
  readonly basePath?: string
  /**
   * What is served: `knowledge` leaves out chat, with its sessions, projects, agents and actions; `search` leaves only the
   * search, its values and the state of the service. Other calls get 404. Default `everything`.
   */
  readonly serves?: 'everything' | 'knowledge' | 'search'
  /** Stream format when `Accept` does not select one. Default `sse`. */
  readonly streamFormat?: 'sse' | 'lines'
  /**
   * Origins whose pages may call the API; `'*'` allows all. `onError` reports each other origin once, and the chat
   * widget there says that the server does not allow its pages. Default: none, no CORS headers at all.
   */
  readonly corsOrigins?: CorsOrigins
  readonly limits?: Partial<BodyLimits>
  /**
   * Request headers that actions receive and may forward to their services. Include `authorization` only if those
   * services may have the caller's key. Default: none.
   */
  readonly passHeaders?: readonly string[]
  /** Time that ingestion requests wait for their document by default, in milliseconds. Default 0: no wait. */
  readonly ingestionWaitMs?: number
  /** Maximum number of waiting ingestion requests per caller; more are answered with 429. Default 1000. */
  readonly maxWaitingCalls?: number
  /** Maximum total bytes of JSON bodies in memory, for all callers; one caller can use half of it. Default 320 MiB. */
  readonly bodyBytesInFlight?: number
  /** Idle time of a stream before a heartbeat, in milliseconds. Default 15000. */
  readonly heartbeatMs?: number
  /** Default: `setTimeout`. */
  readonly timer?: Timer
  /** Receives unexpected errors, unredacted, with the request id given to the client. Default: nothing is logged. */
  readonly onError?: (error: unknown, request: FailedRequest) => void
  /** Called after each request of a known route; errors it throws go to `onError`. */
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined
  /** Runs each request of a known route, for example within a span. Default: none. */
  readonly wrapRequest?: WrapRequest | undefined
  /** Whether the process is shutting down, so that load balancers send requests elsewhere. Default: never. */
  readonly isEnding?: () => boolean
  /** Days after which sessions are deleted, for clients to show. Default: never. */
  readonly retentionDays?: number | undefined
  /** Search service, for clients that know some by name: `brave`, `exa`, `google_pse`, `searxng`, `serper` or `tavily`. */
  readonly webSearchService?: string | undefined
  /** Another API over the same parts, at `/v1` and `{basePath}/v1`; loaded by its first request. Default: none. */
  readonly openaiApi?: (() => Promise<MountedApi>) | undefined
  /** Version returned by `GET /version`. Default `0.0.0`. */
  readonly version?: string
}

/** A host that authenticates callers passes the principal; `authenticate` is then not called. */
export interface FetchHandler {
  (request: Request): Promise<Response>
  (request: Request, context: { readonly principal: Principal | null | undefined }): Promise<Response>
}

/** The HTTP API as one `fetch` handler. */
export interface Server {
  /** Answers a request; never rejects. */
  readonly fetch: FetchHandler
  /** The table the server is built from. */
  readonly routes: readonly Route[]
}

const chatTopics = ['Chat', 'Chat sessions', 'Projects', 'Personalization', 'Agents', 'Actions']

function isServed({ topic }: Route, serves: ServerOptions['serves']): boolean {
  if (serves === 'search') return topic === 'Search' || topic === 'Service'
  return serves !== 'knowledge' || !chatTopics.includes(topic)
}

const leftOut = (route: Route): Route => ({
  ...route,
  input: {},
  handle() {
    throw new InlayError('NOT_FOUND', { message: `${route.topic}: this deployment leaves it out (option serves).` })
  },
})

const mebibyte = 1024 * 1024

/** Calls per pass of the event loop: with 8, half of 200 concurrent messages begin after a fifth less CPU time. */
const callsInPass = 8

/** Creates the HTTP API. Nothing is opened or called before a request needs it. */
export function createServer(options: ServerOptions): Server {
  const { authenticate } = options
  const settings = settingsOf(options)
  const principals = new WeakMap<Request, Principal>()
  const authenticateInOutages = rememberCallers(authenticate)
  const setting: EndpointSetting = {
    parts: options,
    authenticate: (request) => principals.get(request) ?? authenticate(request),
    authenticateWithoutKey: async (request) => principals.get(request) ?? authenticate(withoutKey(request)),
    authenticateInOutages: (request) => principals.get(request) ?? authenticateInOutages(request),
    settings,
    routes: routes.filter((route) => isServed(route, options.serves)),
    stalls: createStallWatch(settings.onError),
  }
  // Malformed percent-encoding is answered here, as a validation error of the parameter that contains it.
  const app = new H3({ silent: true, allowMalformedURL: true })
  const prefixes = [...new Set([settings.basePath, ''])]
  const table = routes.map((route) => (setting.routes.includes(route) ? route : leftOut(route)))
  register(app, prefixes, setting, table)
  const isWhole = setting.routes.length === routes.length
  const openai = isWhole && options.openaiApi ? mount(options.openaiApi, setting) : undefined
  if (openai) for (const prefix of prefixes) app.all(`${prefix}/v1/**`, (event) => openai(event, prefix))
  app.all('/**', (event) => {
    const path = withSingleSlashes(event)
    const prefix = path === event.url.pathname ? undefined : prefixes.find((each) => path.startsWith(`${each}/v1/`))
    if (openai && prefix !== undefined) return openai(event, prefix)
    return respond(event.req, settings, undefined, async () => otherMethod(event.req, [], settings))
  })
  return {
    // Some runtimes pass a second argument of their own.
    fetch: async (request: Request, context?: { readonly principal?: Principal | null | undefined }) => {
      if (context?.principal) principals.set(request, context.principal)
      return app.fetch(request)
    },
    routes: setting.routes,
  }
}

function register(app: H3, prefixes: readonly string[], setting: EndpointSetting, table = setting.routes): void {
  const { settings } = setting
  for (const [path, methods] of toAddresses(table)) {
    const runs = new Map(
      [...methods].map(([method, { route, fixed }]) => [method, [endpoint(route, setting), fixed] as const]),
    )
    // Methods that a fixed path serves for a more general one, such as a document with the id "batch", are documented
    // there.
    const documented = [...methods].flatMap(([method, { fixed }]) => (Object.keys(fixed).length === 0 ? [method] : []))
    const handler = ({ req: request, url, context }: H3Event): Promise<Response> => {
      const [run, fixed] = runs.get(request.method === 'HEAD' ? 'GET' : (request.method as Method)) ?? []
      if (run !== undefined) return run({ request, url, pathValues: { ...context.params, ...fixed } })
      return respond(request, settings, undefined, async () => otherMethod(request, documented, settings))
    }
    // Registered for all methods: the most specific path is selected before the method.
    const pattern = path.replace(/\{(\w+)\}/g, ':$1')
    for (const prefix of prefixes) app.all(prefix + pattern, handler)
  }
}

/** The path of a request of a client that joins addresses with a slash too many. */
const withSingleSlashes = ({ url }: H3Event): string => url.pathname.replace(/\/{2,}/g, '/')

/** Serves an API with a table and a form of errors of its own, loaded once. */
function mount(
  load: () => Promise<MountedApi>,
  setting: EndpointSetting,
): (event: H3Event, prefix: string) => Promise<unknown> {
  let opened: Promise<H3> | undefined
  const open = async (): Promise<H3> => {
    const { routes, toErrorReply, missing } = await load()
    const settings = { ...setting.settings, toErrorReply, allowsAskedHeaders: true }
    const app = new H3({ silent: true, allowMalformedURL: true })
    register(app, [''], { ...setting, routes, settings })
    return app.all('/**', ({ req, url }) =>
      respond(req, settings, undefined, async () => otherMethod(req, [], settings, () => missing?.(url.pathname))),
    )
  }
  return async (event, prefix) => {
    try {
      opened ??= open()
      const app = await opened
      event.url.pathname = withSingleSlashes(event).slice(prefix.length)
      return app.handler(event)
    } catch (error) {
      // Only loading fails; the next request tries again.
      opened = undefined
      return respond(event.req, setting.settings, undefined, () => Promise.reject(error))
    }
  }
}

function settingsOf(options: ServerOptions): ServerSettings {
  const refused = new Set<string>()
  const callsPerCaller = Math.max(4, 2 * (navigator.hardwareConcurrency ?? 1))
  return {
    isNewlyRefused: (origin) => {
      // Bounded, since anybody can send any origin.
      if (refused.has(origin) || refused.size >= 20) return false
      refused.add(origin)
      return true
    },
    basePath: cleanBasePath(options.basePath ?? '/api'),
    streamFormat: options.streamFormat ?? 'sse',
    corsOrigins: options.corsOrigins ?? [],
    limits: {
      maxChatBytes: 10 * mebibyte,
      maxIngestionBytes: 128 * mebibyte,
      maxUploadBytes: 2048 * mebibyte,
      maxOtherBytes: mebibyte,
      ...options.limits,
    },
    webSearchService: options.webSearchService ?? 'searxng',
    passHeaders: (options.passHeaders ?? []).map((name) => name.toLowerCase()),
    allowsAskedHeaders: false,
    toErrorReply: errorReply,
    ingestionWaitMs: options.ingestionWaitMs ?? 0,
    maxWaitingCalls: createCallerLimit(options.maxWaitingCalls ?? 1000),
    bodyBudget: createBodyBudget(options.bodyBytesInFlight ?? 320 * 2 ** 20),
    turns: createFairTurns({ limit: Infinity, limitPerCaller: callsPerCaller, yieldsToUnqueued: true }),
    pace: createPace(callsInPass),
    readTurns: createFairTurns({ limit: Infinity, limitPerCaller: readsPerCaller, yieldsToUnqueued: true }),
    reads: createCallerLimit(Infinity),
    serves: options.serves ?? 'everything',
    mcpCalls: createMcpCalls(),
    heartbeatMs: options.heartbeatMs ?? 15_000,
    timer: options.timer ?? systemTimer,
    onError: options.onError ?? (() => {}),
    onAnswered: options.onAnswered,
    wrapRequest: options.wrapRequest,
    isEnding: options.isEnding ?? (() => false),
    retentionDays: options.retentionDays ?? null,
    version: options.version ?? '0.0.0',
  }
}

/** Answers preflights, OPTIONS, and methods that a path does not support; 404 for a path without methods. */
function otherMethod(
  request: Request,
  methods: readonly Method[],
  settings: ServerSettings,
  missing?: () => InlayError | undefined,
): Reply {
  const preflight = preflightReply(request, settings)
  if (preflight !== undefined) return preflight
  if (methods.length === 0) throw missing?.() ?? new InlayError('NOT_FOUND')
  const allow = [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ')
  if (request.method === 'OPTIONS') return reply(null, { status: 204, headers: { allow } })
  throw new InlayError('METHOD_NOT_ALLOWED', { data: { allow } })
}

function withoutKey({ url, method, headers }: Request): Request {
  const others = new Headers(headers)
  others.delete('authorization')
  return new Request(url, { method, headers: others })
}

function cleanBasePath(basePath: string): string {
  const clean = `/${basePath}`.replace(/\/+/g, '/').replace(/\/$/, '')
  if (/[:*?#{}\s]/.test(clean)) {
    throw new InlayError('INVALID_INPUT', {
      message: 'The base path cannot contain spaces, wildcards or a query: use something like "/api".',
    })
  }
  return clean
}

const systemTimer: Timer = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs)
  return () => clearTimeout(timer)
}

function createBodyBudget(total: number): SharedCapacity {
  const message = 'The request bodies being processed take too much memory: try again in a moment.'
  return createSharedCapacity({ total, perCaller: total / 2, message })
}
