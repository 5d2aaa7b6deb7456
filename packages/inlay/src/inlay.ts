import manifest from '../package.json' with { type: 'json' }
import type { Conversations, Erased } from '@inlay/conversations'
import type { Knowledge } from '@inlay/knowledge'
import { InlayError, isInlayError, operator } from '@inlay/protocol'
import type { Holds } from '@inlay/records'
import { createServer, type FetchHandler, type Authenticator, type Keys, type Server, bearerKey } from '@inlay/server'
import { checkUnbundled } from './bundled.ts'
import { errorWriter, type LogEntry } from './log.ts'
import { offersLocalModels } from './parts/local-model-parts.ts'
import { checkOptions, checkRuntime } from './options/check-options.ts'
import type { InlayOptions } from './options/inlay-options.ts'
import type { Exported, ExportTarget } from './parts/export-data.ts'
import type { Parts } from './parts/open-parts.ts'
import type { Telemetry } from '@inlay/telemetry'
import { widgetScript } from './widget-script.ts'
import { hash, timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

export interface Inlay {
  /** Handles requests; never rejects. The first request that is not public starts everything else. */
  readonly fetch: FetchHandler
  /** Conversations and runs. Starts everything on first use. */
  readonly agent: Conversations
  /** Documents and search. Starts everything on first use. */
  readonly knowledge: Knowledge
  /** API keys. Starts everything on first use. */
  readonly keys: Keys
  /** MCP servers: whether they work, and signing in to those that ask for it. Starts everything on first use. */
  readonly mcp: Parts['mcp']
  /** Legal holds. Starts everything on first use. */
  readonly holds: Holds
  /** All routes of `fetch`. */
  readonly routes: Server['routes']
  /**
   * Erases everything that belongs to a person: sessions, files, projects, agents, memories, settings and keys.
   * Documents stay, and so does the person's id in the audit log. Idempotent.
   * @param personId id returned by `authenticate`, or the owner of a key
   * @throws CONFLICT under a legal hold
   */
  erase(personId: string): Promise<Erased & { readonly keys: number }>
  /**
   * Writes what is stored of a person, or everything, as JSON Lines and files into a new folder. Others go on meanwhile.
   * @throws INVALID_INPUT if the folder exists
   */
  export(target: ExportTarget): Promise<Exported>
  /** Starts everything now instead of on first use: database, index, worker. Idempotent. */
  start(): Promise<void>
  /**
   * Prepares for `close()`: from now on `/health/ready` returns 503, while all other requests are handled as before.
   * Resolves when no answer is running in this process.
   */
  drain(): Promise<void>
  /** Stops runs and the worker, closes index and database; later calls fail with CLOSED. Idempotent. */
  close(): Promise<void>
  /**
   * Closes the assistant and deletes all its data, wherever it is stored: database, files, index, running answers.
   * Other processes must have closed it before. After a failure, create another assistant with the same options and
   * destroy it. Refused with CONFLICT under a legal hold.
   */
  destroy(): Promise<void>
}

/**
 * Creates an assistant. Nothing is opened or loaded before the first request, `start()`, or use of a part. A process
 * can have any number of assistants, and several processes can share a data folder.
 * @throws INVALID_INPUT with a line per wrong or unknown option, and for an unsupported Node version; UNSUPPORTED if
 * this package was bundled
 */
export function createInlay(options: InlayOptions = {}): Inlay {
  return openInlay(options).inlay
}

/** An assistant, with what `createTenants` needs of it. */
export interface OpenedInlay {
  readonly inlay: Inlay
  /** What it has measured; undefined without the option `telemetry`. */
  readonly telemetry: (() => Promise<Telemetry>) | undefined
  /** Suspends or resumes it in all processes, within a second. Audited. */
  suspend(isSuspended: boolean): Promise<void>
  isSuspended(): Promise<boolean>
}

export function openInlay(options: InlayOptions = {}): OpenedInlay {
  checkRuntime()
  checkUnbundled()
  checkOptions(options)
  const { log: writeEntry } = options
  const log = writeEntry && ((entry: LogEntry): void => writeEntry({ ...entry, ...opened?.telemetry?.activeTrace() }))
  const report = options.onError ?? errorWriter(log)
  /** Reports to the operator, except what closing itself caused. */
  const onError: typeof report = (error, ...request) => {
    const isOfClosing = isInlayError(error) && error.code === 'CLOSED'
    if (!isClosed && !(closing && isOfClosing)) report(error, ...request)
  }
  // Deferred, since `onError` may use the assistant that this call returns.
  if (lacksKey(options)) queueMicrotask(() => onError(missingKey()))
  let opening: Promise<Parts> | undefined
  let opened: Parts | undefined
  let closing: Promise<void> | undefined
  let isClosed = false
  let isEnding = false
  const isMeasured = options.telemetry === true
  let measuring: Promise<Telemetry> | undefined
  const telemetry = (): Promise<Telemetry> =>
    (measuring ??= import('@inlay/telemetry').then(({ createTelemetry }) => createTelemetry(manifest.version)))
  /** Calls of parts that are under way. */
  const calls = new Set<Promise<unknown>>()
  const whenIdle = (): Promise<unknown> =>
    Promise.race([Promise.allSettled(calls), delay(closeTimeoutMs, undefined, { ref: false })])

  async function parts(): Promise<Parts> {
    if (closing !== undefined) throw new InlayError('CLOSED', { message: 'This assistant is closed.' })
    opening ??= import('./parts/open-parts.ts')
      .then(async ({ openParts }) => {
        const measured = isMeasured ? await telemetry() : undefined
        const open = (): Promise<Parts> => openParts({ ...options, log }, { onError, whenIdle, telemetry: measured })
        return (opened = await (measured?.apart(open) ?? open()))
      })
      .catch((error: unknown) => {
        // The next use tries again: the cause, such as a full disk or a lock, may be gone.
        opening = undefined
        throw error
      })
    return opening
  }

  const lazy = <Name extends Exclude<keyof Parts, 'notices' | 'telemetry' | 'close' | 'destroy'>>(
    name: Name,
  ): Parts[Name] => lazyPart(async () => (await parts())[name], calls)
  const [agent, knowledge, keys] = [lazy('agent'), lazy('knowledge'), lazy('keys')]
  const [workspace, usage] = [lazy('workspace'), lazy('usage')]
  const served = { agent, knowledge, keys, workspace, usage, audit: lazy('audit'), holds: lazy('holds') }
  const server = createServer({
    ...settingsOf(options),
    ...served,
    localModels: offersLocalModels(options) ? lazy('localModels') : undefined,
    addedModels: lazy('addedModels'),
    fetchPicture: async (...given) => (await parts()).fetchPicture(...given),
    mcpServers: lazy('mcpServers'),
    // Telemetry exists with this option.
    metrics: isMeasured ? async () => (await parts()).telemetry!.metrics() : undefined,
    authenticate: authenticatorOf(options, keys),
    onError,
    onAnswered: log && ((request) => log({ event: 'request', ...request })),
    wrapRequest: isMeasured ? async (...request) => (await telemetry()).request(...request) : undefined,
    openaiApi: options.openaiApi === false ? undefined : async () => (await import('@inlay/openai-api')).openaiApi,
    notices: async () => (await parts()).notices(),
    isEnding: () => isEnding,
  })
  const inlay: Inlay = {
    fetch: server.fetch,
    agent,
    knowledge,
    keys: lazy('hostKeys'),
    mcp: lazy('mcp'),
    holds: lazy('hostHolds'),
    routes: server.routes,
    erase: (personId) => erasePerson(personId, served),
    export: lazy('exports').write,
    start: async () => void (await parts()),
    drain: async () => {
      isEnding = true
      await (await opening?.catch(() => undefined))?.agent.idle()
    },
    destroy: async () => {
      const open = await parts()
      await open.holds.refuse()
      closing = open.destroy()
      await closing
    },
    close: () =>
      (closing ??= Promise.resolve(opening?.catch(() => undefined))
        .then((opened) => opened?.close())
        .finally(() => (isClosed = true))),
  }
  return {
    inlay,
    telemetry: isMeasured ? telemetry : undefined,
    suspend: (isSuspended) => suspend(isSuspended, served),
    isSuspended: async () => (await usage.inForce()).isSuspended,
  }
}

/** How long closing waits for calls under way, once everything is closed but the database and the storage. */
const closeTimeoutMs = 2000

/** Whether the host passes an API key that is undefined, as with `apiKey: process.env.INLAY_API_KEY`. */
function lacksKey(options: InlayOptions): boolean {
  return Object.hasOwn(options, 'apiKey') && options.apiKey === undefined && options.authenticate === undefined
}

function missingKey(): InlayError {
  const message =
    'The option apiKey is undefined and there is no authenticate, so requests without a stored key ' +
    'are refused with 401. Set the key before starting, such as `export ' +
    'INLAY_API_KEY=any-long-secret`.'
  return new InlayError('UNAUTHENTICATED', { message, data: { isExpected: true } })
}

type ServedParts = Pick<Parts, 'agent' | 'keys' | 'workspace' | 'usage' | 'audit' | 'holds'>

async function suspend(isSuspended: boolean, { usage, audit }: ServedParts): Promise<void> {
  const { audited } = await import('./parts/host-audit.ts')
  await audited(audit, isSuspended ? 'suspendTenant' : 'resumeTenant', {}, () => usage.change({ isSuspended }))
}

async function erasePerson(
  personId: string,
  { keys, workspace, usage, agent, audit, holds }: ServedParts,
): ReturnType<Inlay['erase']> {
  const { audited } = await import('./parts/host-audit.ts')
  return audited(audit, 'erasePerson', { user_id: personId }, async () => {
    await holds.refuse(personId)
    // Keys first, so that the person cannot add anything meanwhile.
    const count = await keys.erase(personId)
    await workspace.erase(personId)
    await usage.erase(personId)
    return { ...(await agent.erase(personId)), keys: count }
  })
}

function settingsOf(options: InlayOptions) {
  const { basePath, serves, streamFormat, corsOrigins, ingestionWaitMs, maxWaitingCalls, passHeaders, bodyLimits } =
    options
  return {
    basePath,
    serves,
    streamFormat,
    corsOrigins,
    ingestionWaitMs,
    maxWaitingCalls,
    passHeaders,
    limits: bodyLimits,
    retentionDays: options.retention?.maxSessionDays,
    webSearchService: typeof options.webSearch === 'object' ? options.webSearch.service : undefined,
    version: manifest.version,
    widget: widgetScript,
  }
}

function authenticatorOf(options: InlayOptions, keys: Keys): Authenticator {
  const { authenticate, apiKey } = options
  return firstOf([
    ...(authenticate === undefined ? [] : [authenticate]),
    ...(apiKey === undefined ? [] : [fixedKey(apiKey)]),
    (request) => keys.authenticate(request),
  ])
}

/** Tries each in turn; the first that returns a caller decides. */
export function firstOf(authenticators: readonly Authenticator[]): Authenticator {
  return async (request) => {
    for (const authenticate of authenticators) {
      const caller = await authenticate(request)
      if (caller) return caller
    }
    return undefined
  }
}

/** Accepts one key, as the operator. Compares hashes, so that timing reveals nothing. */
export function fixedKey(key: string): Authenticator {
  const expected = hash('sha256', key, 'buffer')
  return (request) => {
    const given = bearerKey(request)
    return given !== undefined && timingSafeEqual(hash('sha256', given, 'buffer'), expected) ? operator : undefined
  }
}

/**
 * A component that is created on first use: each method first waits for the component. For components whose members are
 * all asynchronous methods, or groups of such methods (`knowledge.pairs.list()`).
 * @param calls holds the calls that are under way
 */
export function lazyPart<Part extends object>(
  load: () => Promise<Part>,
  calls: Set<Promise<unknown>> = new Set(),
): Part {
  return lazyMember(async () => load(), calls) as Part // The proxy has every member of such a component, see above.
}

/** Represents a method or a group of methods; which one is known when it is used. */
function lazyMember(
  load: () => Promise<unknown>,
  calls: Set<Promise<unknown>>,
  owner?: () => Promise<unknown>,
): unknown {
  const members = new Map<string | symbol, unknown>()
  return new Proxy(() => {}, {
    get(_, name) {
      // Not a promise, so that async functions can return it without awaiting it.
      if (name === 'then') return undefined
      const member = members.get(name) ?? lazyMember(async () => Reflect.get(Object(await load()), name), calls, load)
      members.set(name, member)
      return member
    },
    apply(_, __, argumentList: unknown[]) {
      const call = Promise.all([load(), owner?.()]).then(([method, self]): unknown => {
        if (typeof method !== 'function') throw new TypeError('This part has no such method.')
        return Reflect.apply(method, self, argumentList)
      })
      calls.add(call)
      return call.finally(() => calls.delete(call))
    },
  })
}
