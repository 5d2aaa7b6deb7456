import manifest from '../package.json' with { type: 'json' }
import type { Conversations, Erased } from '@inlay/conversations'
import type { Knowledge } from '@inlay/knowledge'
import { InlayError, operator } from '@inlay/protocol'
import { createServer, type FetchHandler, type Authenticator, type Keys, type Server, bearerKey } from '@inlay/server'
import { checkUnbundled } from './bundled.ts'
import { errorWriter } from './log.ts'
import { offersLocalModels } from './parts/local-model-parts.ts'
import { checkOptions, checkRuntime } from './options/check-options.ts'
import type { InlayOptions } from './options/inlay-options.ts'
import type { Parts } from './parts/open-parts.ts'
import type { Telemetry } from '@inlay/telemetry'
import { widgetScript } from './widget-script.ts'
import { hash, timingSafeEqual } from 'node:crypto'

/** An assistant ready to be mounted. */
export interface Inlay {
  /** Answers requests; never rejects. The first one that needs more than a public answer starts the rest. */
  readonly fetch: FetchHandler
  /** Conversations and runs. Its first use starts everything. */
  readonly agent: Conversations
  /** Documents and search. Its first use starts everything. */
  readonly knowledge: Knowledge
  /** API keys. Its first use starts everything. */
  readonly keys: Keys
  /** Every address that `fetch` answers. */
  readonly routes: Server['routes']
  /**
   * Erases everything that belongs to a person: sessions, files, projects, agents, memories, settings and keys. Documents
   * stay, and so does the person's id in the audit. Resolves once it is gone; may be called again.
   * @param personId the id that `authenticate` gives, or the owner of a key
   */
  erase(personId: string): Promise<Erased & { readonly keys: number }>
  /** Starts everything now rather than with the first use: database, index, worker. May be called again. */
  start(): Promise<void>
  /**
   * Prepares for `close()`: `/health/ready` answers 503 from now on, everything else is answered as before. Resolves once
   * no answer is being made here.
   */
  drain(): Promise<void>
  /** Stops runs and worker, closes index and database; what is used afterwards fails with CLOSED. May be called again. */
  close(): Promise<void>
  /**
   * Closes, and deletes everything that it keeps, wherever that is: records, files, index, running answers. Other
   * processes must have closed it. After a failure, another assistant with the same options may be destroyed again.
   */
  destroy(): Promise<void>
}

/**
 * Makes an assistant. Nothing is opened or loaded before the first request, `start()`, or use of a part; any number of
 * assistants live in one process, and several processes may share a data folder.
 * @throws INVALID_INPUT with a line for each wrong or unknown option, and under a Node that is too old; UNSUPPORTED in a
 * bundle that holds this package
 */
export function createInlay(options: InlayOptions = {}): Inlay {
  checkRuntime()
  checkUnbundled()
  checkOptions(options)
  const onError = options.onError ?? errorWriter(options.log)
  // Told later: `onError` may use what this call returns.
  if (lacksKey(options)) queueMicrotask(() => onError(missingKey()))
  let opening: Promise<Parts> | undefined
  let opened: Parts | undefined
  let closing: Promise<void> | undefined
  let isEnding = false

  async function parts(): Promise<Parts> {
    if (closing !== undefined) throw new InlayError('CLOSED', { message: 'This assistant is closed.' })
    opening ??= import('./parts/open-parts.ts')
      .then(async ({ openParts }) => (opened = await openParts(options, onError)))
      .catch((error: unknown) => {
        // The next use tries again: a disk may be free by then, a lock gone.
        opening = undefined
        throw error
      })
    return opening
  }

  const lazy = <Name extends Exclude<keyof Parts, 'notices' | 'telemetry' | 'tableSizes' | 'close' | 'destroy'>>(
    name: Name,
  ): Parts[Name] => lazyPart(async () => (await parts())[name])
  const [agent, knowledge, keys] = [lazy('agent'), lazy('knowledge'), lazy('keys')]
  const [workspace, usage] = [lazy('workspace'), lazy('usage')]
  const served = { agent, knowledge, keys, workspace, usage, audit: lazy('audit') }
  const isMeasured = options.telemetry === true
  const server = createServer({
    ...settingsOf(options),
    ...served,
    localModels: offersLocalModels(options) ? lazy('localModels') : undefined,
    // There with this option.
    metrics: isMeasured ? async () => metricsOf(await parts()) : undefined,
    authenticate: authenticatorOf(options, keys),
    onError,
    ...((isMeasured || options.log) && {
      onAnswered: (request) => {
        opened?.telemetry?.onAnswered(request)
        options.log?.({ event: 'request', ...request })
      },
    }),
    notices: async () => (await parts()).notices(),
    isEnding: () => isEnding,
  })
  return {
    fetch: server.fetch,
    agent,
    knowledge,
    keys: lazy('hostKeys'),
    routes: server.routes,
    erase: (personId) => erasePerson(personId, { ...served, agent }),
    start: async () => void (await parts()),
    drain: async () => {
      isEnding = true
      await (await opening?.catch(() => undefined))?.agent.idle()
    },
    destroy: async () => (closing = (await parts()).destroy()),
    close: () => (closing ??= Promise.resolve(opening?.catch(() => undefined)).then((opened) => opened?.close())),
  }
}

/** Whether the host means to give a key and has none, as with `apiKey: process.env.INLAY_API_KEY`. */
function lacksKey(options: InlayOptions): boolean {
  return Object.hasOwn(options, 'apiKey') && options.apiKey === undefined && options.authenticate === undefined
}

function missingKey(): InlayError {
  const message =
    'The option apiKey is undefined and there is no authenticate, so calls are answered with 401 unless they carry a ' +
    'stored key. Set the key before the start, such as `export INLAY_API_KEY=any-long-secret`.'
  return new InlayError('UNAUTHENTICATED', { message, data: { isExpected: true } })
}

/** With telemetry on. */
const metricsOf = ({ telemetry, knowledge, tableSizes }: Parts): ReturnType<Telemetry['metrics']> =>
  telemetry!.metrics(knowledge.sampledFigures, tableSizes)

async function erasePerson(
  personId: string,
  { keys, workspace, usage, agent, audit }: Pick<Parts, 'keys' | 'workspace' | 'usage' | 'agent' | 'audit'>,
): ReturnType<Inlay['erase']> {
  const { audited } = await import('./parts/host-audit.ts')
  return audited(audit, 'erasePerson', { user_id: personId }, async () => {
    // Keys first, so that nothing is added meanwhile.
    const count = await keys.erase(personId)
    await workspace.erase(personId)
    await usage.erase(personId)
    return { ...(await agent.erase(personId)), keys: count }
  })
}

function settingsOf(options: InlayOptions) {
  const { basePath, streamFormat, corsOrigins, ingestionWaitMs, waitingCalls, passHeaders, bodyLimits } = options
  return {
    basePath,
    streamFormat,
    corsOrigins,
    ingestionWaitMs,
    waitingCalls,
    passHeaders,
    limits: bodyLimits,
    retentionDays: options.retention?.maxSessionDays,
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

/** Asks each in turn; the first who knows the caller decides. */
export function firstOf(authenticators: readonly Authenticator[]): Authenticator {
  return async (request) => {
    for (const authenticate of authenticators) {
      const caller = await authenticate(request)
      if (caller) return caller
    }
    return undefined
  }
}

/** Accepts one key, as the operator. Compared by hash, so that the time it takes tells nothing. */
export function fixedKey(key: string): Authenticator {
  const expected = hash('sha256', key, 'buffer')
  return (request) => {
    const given = bearerKey(request)
    return given !== undefined && timingSafeEqual(hash('sha256', given, 'buffer'), expected) ? operator : undefined
  }
}

/**
 * A part that is made when it is first used: each method waits for the part and then does what it says. For parts
 * whose members are all asynchronous methods, or groups of such methods (`knowledge.pairs.list()`).
 */
export function lazyPart<Part extends object>(load: () => Promise<Part>): Part {
  return lazyMember(async () => load()) as Part // The proxy has every member of a part of this kind, see above.
}

/** Stands for a method and for a group of methods alike; which one it is shows when it is used. */
function lazyMember(load: () => Promise<unknown>, owner?: () => Promise<unknown>): unknown {
  const members = new Map<string | symbol, unknown>()
  return new Proxy(() => {}, {
    get(_, name) {
      // Not a promise: a part may be returned from an async function without being awaited into something else.
      if (name === 'then') return undefined
      const member = members.get(name) ?? lazyMember(async () => Reflect.get(Object(await load()), name), load)
      members.set(name, member)
      return member
    },
    async apply(_, __, argumentList: unknown[]) {
      const method = await load()
      if (typeof method !== 'function') throw new TypeError('This part has no such method.')
      return Reflect.apply(method, owner === undefined ? undefined : await owner(), argumentList)
    },
  })
}
