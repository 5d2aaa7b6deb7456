import {
  InlayError,
  parseJsonBody,
  parseWith,
  readLargeRequest,
  validationFailed,
  type Principal,
} from '@inlay/protocol'
import { nextSlice } from '@inlay/scheduling'
import { refuseForeignPages } from '../auth/foreign-pages.ts'
import { callerOf, checkScopes, type Authenticator } from '../auth/required-caller.ts'
import { createBodyShare, declaredBytes, largeBytes, readText, type BodyShare } from './body.ts'
import { corsHeaders, refusedOrigin } from './cors.ts'
import { endWithKey } from './end-with-key.ts'
import { type Reply, requestIdForm, requestIdHeader, toErrorReport, toReply } from './replies.ts'
import { scopesOf, type KeyWatch, type Route, type ServerParts } from './route.ts'
import { readsPerCaller, type ServerSettings } from './settings.ts'
import type { StallWatch } from './stall-watch.ts'

const encoder = new TextEncoder()
/** Requests that wait longer for a document to be indexed release their share of the memory budget. */
const maxHoldMs = 5000

export interface EndpointSetting {
  readonly parts: ServerParts
  readonly authenticate: Authenticator
  /** Identifies the caller by everything but `Authorization`. */
  readonly authenticateWithoutKey: (request: Request) => Promise<Principal | null | undefined>
  /** For routes that remember callers. */
  readonly authenticateInOutages: Authenticator
  readonly settings: ServerSettings
  readonly routes: readonly Route[]
  readonly stalls: StallWatch
}

export interface IncomingRequest {
  readonly request: Request
  readonly url: URL
  /** Still encoded. */
  readonly pathValues: Readonly<Record<string, string>>
}

/**
 * Runs one route: checks caller, scope, path and query before reading the body, then calls the handler. Always resolves
 * to a response, so that a host's error handling never sees our errors.
 */
export function endpoint(route: Route, setting: EndpointSetting): (incoming: IncomingRequest) => Promise<Response> {
  const scopes = scopesOf(route)
  const isAudited = changesMuch(route)
  const { path: pathSchema, query: querySchema, body: bodySpec } = route.input ?? {}
  const readsOnly = route.readsOnly ?? route.method === 'GET'
  const takesForms = bodySpec?.kind === 'stream' && bodySpec.mediaType === 'multipart/form-data'
  // Requests limited to administrators are not counted, so that they can raise a limit even when it is used up.
  const isCounted = scopes?.some((scope) => scope !== 'admin')
  const authenticate = route.remembersCallers ? setting.authenticateInOutages : setting.authenticate
  const { parts, settings, routes } = setting
  const base = { parts, settings, routes }
  const { wrapRequest } = settings
  const run = async (incoming: IncomingRequest): Promise<Response> => {
    const start = performance.now()
    let callerId: string | undefined
    let result: unknown
    let endWatch: (() => void) | undefined
    const response = await respond(incoming.request, settings, route.path, async (requestId) => {
      const { request, url } = incoming
      endWatch = setting.stalls.watch({ requestId, method: request.method, route: route.path })
      if (route.isPaced) await settings.pace()
      const caller = scopes === undefined ? undefined : await callerOf(request, authenticate)
      callerId = caller?.id
      if (caller && scopes) {
        const { corsOrigins } = settings
        const withoutKey = () => setting.authenticateWithoutKey(request)
        await refuseForeignPages(request, caller, { corsOrigins, takesForms, withoutKey })
        await parts.usage?.checkActive()
        checkScopes(caller, scopes)
        if (isCounted) await parts.usage?.take(caller, 'requestsPerMinute')
      }
      const path = pathSchema && parseWith(pathSchema, decodedValues(incoming.pathValues), 'path')
      const query = querySchema && parseWith(querySchema, queryOf(url), 'query')
      const share = createBodyShare(settings, caller?.id ?? '')
      const takes = readsOnly ? takeReadTurn : takeTurn
      const leave = caller ? await takes(caller.id, request, settings) : undefined
      try {
        const body = await checkedBody(bodySpec, request, { settings, share })
        share.release(maxHoldMs)
        const holdBytes = share.grow
        // When the server is closed, keys can no longer be watched.
        const watchKey: KeyWatch = async (onEnd, signal) =>
          (caller && (await parts.keys?.watch(caller, onEnd, signal).catch(() => false))) ?? false
        const input = { path, query, body }
        result = await route.handle({ ...base, ...input, request, url, requestId, caller, holdBytes, watchKey })
        const answer = toReply(result, route.answer?.status)
        if (answer.endsWithKey || !(answer.body instanceof ReadableStream)) return answer
        return await endWithKey(answer, answer.body, watchKey)
      } finally {
        leave?.()
        share.release()
      }
    }).finally(() => endWatch?.())
    const { status } = response
    const answered = {
      requestId: response.headers.get(requestIdHeader) ?? '',
      method: incoming.request.method,
      route: route.path,
      status,
      durationMs: performance.now() - start,
      callerId,
    }
    const { audit } = parts
    // Requests of unknown callers are not audited, or anybody could fill the audit log.
    if (audit && callerId !== undefined && isAudited)
      await audit
        .add({ ...answered, callerId, operation: route.operationId, target: targetOf(route, incoming, result) })
        .catch((error: unknown) => settings.onError(error, answered))
    try {
      settings.onAnswered?.(answered)
    } catch (error) {
      // The response is complete, so an error in the host's logging must not affect it.
      settings.onError(error, answered)
    }
    return response
  }
  return wrapRequest ? (incoming) => wrapRequest(incoming.request, route.path, () => run(incoming)) : run
}

/** Shared instance: nobody reads it, and a stack trace per aborted request would cost more than handling it. */
const ended = new InlayError('BAD_REQUEST', { message: 'The client disconnected before the request was processed.' })
/** A turn ends after this time: longer calls are waiting, or yield in between. */
const maxTurnMs = 20

/** The body is not read before the caller's turn. @returns a function that ends the turn */
async function takeTurn(caller: string, request: Request, { turns, timer }: ServerSettings): Promise<() => void> {
  const leave = await turns.enter(caller, request.signal).catch(() => Promise.reject(ended))
  const cancel = timer(maxTurnMs, leave)
  return () => {
    // An aborted call keeps its slot, or a client that aborts at once could start more calls than one that waits.
    if (request.signal.aborted) return
    cancel()
    leave()
  }
}

/** Waits for a read slot. Reads of a caller with many of them under way yield to the event loop and to searches. */
async function takeReadTurn(
  caller: string,
  request: Request,
  { readTurns, reads }: ServerSettings,
): Promise<() => void> {
  const end = reads.enter(caller)
  const isFlood = reads.counts.get(caller)! > readsPerCaller
  try {
    const leave = await readTurns.enter(caller, request.signal).catch(() => Promise.reject(ended))
    if (isFlood) await nextSlice()
    return () => {
      leave()
      end?.()
    }
  } catch (error) {
    end?.()
    throw error
  }
}

function changesMuch({ method, scope, changesAccess }: Route): boolean {
  return method !== 'GET' && (scope === 'admin' || method === 'DELETE' || changesAccess === true)
}

/** Audit target of a call: the ids in its path, the id of the created object, and what the route names. */
function targetOf({ auditedField = '' }: Route, { pathValues: ids }: IncomingRequest, result: unknown) {
  const { id, api_key_id: keyId = id, [auditedField]: named } = Object(result) as Record<string, unknown>
  const isId = typeof keyId === 'number' || typeof keyId === 'string'
  const created = isId && ids['id'] === undefined && { id: String(keyId) }
  return { ...ids, ...created, ...(typeof named === 'string' && { [auditedField]: named }) }
}

/**
 * Runs `work` and turns its result into a response: request id, documented errors, CORS, no body for HEAD.
 * @param routePath route for the log; undefined when none matched
 */
export async function respond(
  request: Request,
  settings: ServerSettings,
  routePath: string | undefined,
  work: (requestId: string) => Promise<Reply>,
): Promise<Response> {
  const given = request.headers.get(requestIdHeader)
  const requestId = given !== null && requestIdForm.test(given) ? given : crypto.randomUUID()
  if (request.headers.has('origin')) tellRefusedOrigin(request, settings, { requestId, route: routePath })
  const { status, headers, body } = await work(requestId).catch((thrown: unknown) => {
    const { error, unexpected } = toErrorReport(thrown)
    if (unexpected && !isDeparture(thrown, request))
      settings.onError(thrown, { requestId, method: request.method, route: routePath })
    return settings.toErrorReply(error, requestId)
  })
  const isHead = request.method === 'HEAD'
  if (isHead && body instanceof ReadableStream) await body.cancel()
  const isUnread = isHead || (typeof body === 'string' && request.signal.aborted)
  const sent = typeof body === 'string' && !isUnread ? encoder.encode(body) : undefined
  const length: Record<string, string> = sent === undefined ? {} : { 'content-length': String(sent.byteLength) }
  const cors: Record<string, string> =
    settings.corsOrigins.length === 0 ? {} : corsHeaders(request, settings.corsOrigins)
  // A response may vary by other headers than the origin.
  const vary = [headers['vary'], cors['vary']].filter((name) => name !== undefined).join(', ')
  // Must be a plain `Response`: hosts' servers and frameworks do not optimize others, and Hono sends them as "[object
  // Response]".
  return new Response(isUnread ? null : (sent ?? body), {
    status,
    headers: { ...headers, ...length, [requestIdHeader]: requestId, ...cors, ...(vary ? { vary } : {}) },
  })
}

/** Reports each origin whose pages are refused, once, to the operator. */
function tellRefusedOrigin(
  request: Request,
  settings: ServerSettings,
  call: { readonly requestId: string; readonly route: string | undefined },
): void {
  const origin = refusedOrigin(request, settings.corsOrigins)
  if (origin === undefined || !settings.isNewlyRefused(origin)) return
  const message = `A page of ${origin.slice(0, 200)} is not allowed to call this API: add its origin to corsOrigins to allow it.`
  const error = new InlayError('INSUFFICIENT_PERMISSIONS', { message, data: { isExpected: true } })
  settings.onError(error, { ...call, method: request.method })
}

/** Whether work was aborted because the client disconnected, which is not an error. */
function isDeparture(thrown: unknown, request: Request): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError' && request.signal.aborted
}

function decodedValues(values: Readonly<Record<string, string>>): Record<string, string> {
  const decoded: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    try {
      decoded[name] = decodeURIComponent(value)
    } catch {
      throw validationFailed([{ loc: ['path', name], msg: 'is not valid percent-encoding', type: 'value_error' }])
    }
  }
  return decoded
}

/** Query parameters: a string if given once, a list if repeated. */
function queryOf(url: URL): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of url.searchParams) {
    const before = query[name]
    if (Array.isArray(before)) before.push(value)
    else query[name] = before === undefined ? value : [before, value]
  }
  return query
}

async function checkedBody(
  body: NonNullable<Route['input']>['body'],
  request: Request,
  { settings, share }: { settings: ServerSettings; share: BodyShare },
): Promise<unknown> {
  if (body?.kind !== 'json' || body.schema === undefined) return undefined
  const limit = typeof body.limit === 'number' ? body.limit : settings.limits[body.limit]
  // Bodies without a declared length are counted while reading, compressed ones again while decompressing.
  share.grow(Math.min(declaredBytes(request) ?? 0, limit))
  const wholeBytes = body.limit === 'maxIngestionBytes' ? largeBytes : Infinity
  const text = await readText(request, { maxBytes: limit, wholeBytes, onBytes: share.grow })
  return typeof text === 'string' ? parseJsonBody(text, body.schema) : readLargeRequest(text)
}
