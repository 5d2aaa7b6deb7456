import { createBudget, createCallerLimit, createFairTurns, type Budget } from '@inlay/protocol/concurrency'
import { InlayError, type Principal } from '@inlay/protocol'
import { H3, type H3Event } from 'h3'
import type { Authenticator } from './auth/required-caller.ts'
import { toAddresses } from './http/addresses.ts'
import { createMcpCalls } from './http/mcp-calls.ts'
import { endpoint, respond, type EndpointSetting } from './http/endpoint.ts'
import { preflightReply, type CorsOrigins } from './http/cors.ts'
import { reply, type Reply } from './http/replies.ts'
import type { Method, Route, ServerParts } from './http/route.ts'
import { routes } from './routes/index.ts'
import {
  readsPerCaller,
  type AnsweredRequest,
  type BodyLimits,
  type FailedRequest,
  type ServerSettings,
  type Timer,
} from './http/settings.ts'

/** What the HTTP side is made of. */
export interface ServerOptions extends ServerParts {
  readonly authenticate: Authenticator
  /** Where the API lies; requests without it are answered too, as hosts and proxies often strip it. Default `/api`. */
  readonly basePath?: string
  /** Framing for requests whose `Accept` decides nothing. Default `sse`. */
  readonly streamFormat?: 'sse' | 'lines'
  /**
   * Origins whose pages may call; `'*'` for all. `onError` is told once of each other origin that calls; the
   * chat there says that the server does not allow its pages. Default: none, no CORS headers at all.
   */
  readonly corsOrigins?: CorsOrigins
  readonly limits?: Partial<BodyLimits>
  /**
   * Names of request headers that reach the actions of a message, which may send them on to the services behind them.
   * Name `authorization` only if those may have the caller's key. Default: none.
   */
  readonly passHeaders?: readonly string[]
  /** How long ingestion calls wait for their document when they do not say, in milliseconds. Default 0: not at all. */
  readonly ingestionWaitMs?: number
  /** Ingestion calls of one caller that may wait at the same time; more are answered with 429. Default 1000. */
  readonly waitingCalls?: number
  /** Most bytes of JSON bodies held at once, for all callers; one of them may hold half. Default 320 MiB. */
  readonly bodyBytesInFlight?: number
  /** Silence on a stream before a heartbeat, in milliseconds. Default 15000. */
  readonly heartbeatMs?: number
  /** Default: `setTimeout`. */
  readonly timer?: Timer
  /** Receives what was not expected, whole, with the id the client was given. Default: nothing is written anywhere. */
  readonly onError?: (error: unknown, request: FailedRequest) => void
  /** Called with each request of a known route once it is answered; what it throws goes to `onError`. */
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined
  /** Whether the process is about to end, so that balancers should send requests elsewhere. Default: it never is. */
  readonly isEnding?: () => boolean
  /** Days after which sessions are erased, for clients to show. Default: they are kept. */
  readonly retentionDays?: number | undefined
  /** What `GET /version` says. Default `0.0.0`. */
  readonly version?: string
}

/** A handler of web requests. A host that knows who calls hands the principal over; `authenticate` is then not asked. */
export interface FetchHandler {
  (request: Request): Promise<Response>
  (request: Request, context: { readonly principal: Principal | null | undefined }): Promise<Response>
}

/** One `fetch` handler with everything behind it. */
export interface Server {
  /** Answers a request; never rejects. */
  readonly fetch: FetchHandler
  /** The table everything above is made from. */
  readonly routes: readonly Route[]
}

const mebibyte = 1024 * 1024

/** The HTTP side over its parts: nothing is opened or called before a request needs it. */
export function createServer(options: ServerOptions): Server {
  const { agent, knowledge, keys, workspace, localModels, audit, usage, metrics, notices, widget, authenticate } =
    options
  const settings = settingsOf(options)
  const principals = new WeakMap<Request, Principal>()
  const setting: EndpointSetting = {
    parts: { agent, knowledge, keys, workspace, localModels, audit, usage, metrics, notices, widget },
    authenticate: (request) => principals.get(request) ?? authenticate(request),
    settings,
    routes,
  }
  // Malformed percent-encoding is ours to answer, as a validation error of the value it stands in.
  const app = new H3({ silent: true, allowMalformedURL: true })
  const prefixes = [...new Set([settings.basePath, ''])]
  for (const [path, methods] of toAddresses(routes)) {
    const runs = new Map(
      [...methods].map(([method, { route, fixed }]) => [method, [endpoint(route, setting), fixed] as const]),
    )
    // What a fixed address answers for a more general one, such as a document of the id "batch", is documented there.
    const documented = [...methods].flatMap(([method, { fixed }]) => (Object.keys(fixed).length === 0 ? [method] : []))
    const handler = ({ req: request, url, context }: H3Event): Promise<Response> => {
      const [run, fixed] = runs.get(request.method === 'HEAD' ? 'GET' : (request.method as Method)) ?? []
      if (run !== undefined) return run({ request, url, pathValues: { ...context.params, ...fixed } })
      return respond(request, settings, undefined, async () => otherMethod(request, documented, settings))
    }
    // For all methods: the most specific path decides, and only then the method.
    for (const prefix of prefixes) app.all(prefix + toPattern(path), handler)
  }
  app.all('/**', ({ req }) => respond(req, settings, undefined, async () => otherMethod(req, [], settings)))
  return {
    // Runtimes hand in a second argument of their own.
    fetch: async (request: Request, context?: { readonly principal?: Principal | null | undefined }) => {
      if (context?.principal) principals.set(request, context.principal)
      return app.fetch(request)
    },
    routes,
  }
}

function settingsOf(options: ServerOptions): ServerSettings {
  const refused = new Set<string>()
  return {
    isNewlyRefused: (origin) => {
      // Anybody may name any origin.
      if (refused.has(origin) || refused.size >= 20) return false
      refused.add(origin)
      return true
    },
    basePath: cleanBasePath(options.basePath ?? '/api'),
    streamFormat: options.streamFormat ?? 'sse',
    corsOrigins: options.corsOrigins ?? [],
    limits: {
      chatBytes: 10 * mebibyte,
      ingestionBytes: 128 * mebibyte,
      uploadBytes: 2048 * mebibyte,
      otherBytes: mebibyte,
      ...options.limits,
    },
    passHeaders: (options.passHeaders ?? []).map((name) => name.toLowerCase()),
    ingestionWaitMs: options.ingestionWaitMs ?? 0,
    waitingCalls: createCallerLimit(options.waitingCalls ?? 1000),
    bodyBudget: createBodyBudget(options.bodyBytesInFlight ?? 320 * 2 ** 20),
    turns: createFairTurns({ limit: Infinity, limitPerCaller: callsPerCaller(), givesWay: true }),
    readTurns: createFairTurns({ limit: Infinity, limitPerCaller: readsPerCaller, givesWay: true }),
    reads: createCallerLimit(Infinity),
    mcpCalls: createMcpCalls(),
    heartbeatMs: options.heartbeatMs ?? 15_000,
    timer: options.timer ?? systemTimer,
    onError: options.onError ?? (() => {}),
    onAnswered: options.onAnswered,
    isEnding: options.isEnding ?? (() => false),
    retentionDays: options.retentionDays ?? null,
    version: options.version ?? '0.0.0',
  }
}

/** Preflights, OPTIONS, and methods that a path does not answer; a path without methods is not there. */
function otherMethod(request: Request, methods: readonly Method[], settings: ServerSettings): Reply {
  const preflight = preflightReply(request, settings.corsOrigins, settings.passHeaders)
  if (preflight !== undefined) return preflight
  if (methods.length === 0) throw new InlayError('NOT_FOUND')
  const allow = [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ')
  if (request.method === 'OPTIONS') return reply(null, { status: 204, headers: { allow } })
  throw new InlayError('METHOD_NOT_ALLOWED', { data: { allow } })
}

/** `{name}` as the router writes it. */
function toPattern(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

function cleanBasePath(basePath: string): string {
  const clean = `/${basePath}`.replace(/\/+/g, '/').replace(/\/$/, '')
  if (/[:*?#{}\s]/.test(clean)) {
    throw new InlayError('INVALID_INPUT', {
      message: 'The base path may hold no spaces, no wildcards and no query: use something like "/api".',
    })
  }
  return clean
}

const systemTimer: Timer = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs)
  return () => clearTimeout(timer)
}

function callsPerCaller(): number {
  return Math.max(4, 2 * (navigator.hardwareConcurrency ?? 1))
}

function createBodyBudget(total: number): Budget {
  const message = 'Too many bytes of requests are being worked on: send this one again in a moment.'
  return createBudget({ total, perCaller: total / 2, message })
}
