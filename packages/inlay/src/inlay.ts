import type { Conversations, Erased } from '@inlay/conversations'
import type { Knowledge } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import { createServer, type FetchHandler, type Authenticator, type Keys, type Server } from '@inlay/server'
import manifest from '../package.json' with { type: 'json' }
import { firstOf, fixedKey } from './callers.ts'
import { errorWriter } from './log.ts'
import { lazyPart } from './parts/lazy-part.ts'
import { offersLocalModels } from './parts/local-model-parts.ts'
import { checkOptions } from './options/check-options.ts'
import type { InlayOptions } from './options/options.ts'
import type { Parts } from './parts/parts.ts'
import { widgetScript } from './widget-script.ts'

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
  /** Stops runs and worker, closes index and database; what is used afterwards fails with CLOSED. May be called again. */
  close(): Promise<void>
}

/**
 * Makes an assistant. Nothing is opened or loaded before the first request, `start()`, or use of a part; any number of
 * assistants live in one process, and several processes may share a data folder.
 * @throws INVALID_INPUT with a line for each wrong or unknown option
 */
export function createInlay(options: InlayOptions = {}): Inlay {
  checkOptions(options)
  const onError = options.onError ?? errorWriter(options.log)
  let opening: Promise<Parts> | undefined
  let opened: Parts | undefined
  let closing: Promise<void> | undefined

  async function parts(): Promise<Parts> {
    if (closing !== undefined) throw new InlayError('CLOSED', { message: 'This assistant is closed.' })
    opening ??= import('./parts/parts.ts')
      .then(async ({ openParts }) => (opened = await openParts(options, onError)))
      .catch((error: unknown) => {
        // The next use tries again: a disk may be free by then, a lock gone.
        opening = undefined
        throw error
      })
    return opening
  }

  const agent = lazyPart(async () => (await parts()).agent)
  const knowledge = lazyPart(async () => (await parts()).knowledge)
  const keys = lazyPart(async () => (await parts()).keys)
  const workspace = lazyPart(async () => (await parts()).workspace)
  const usage = lazyPart(async () => (await parts()).usage)
  const audit = lazyPart(async () => (await parts()).audit)
  const telemetry = lazyPart(async () => (await parts()).telemetry)
  const server = createServer({
    ...settingsOf(options),
    agent,
    knowledge,
    keys,
    workspace,
    localModels: offersLocalModels(options) ? lazyPart(async () => (await parts()).localModels) : undefined,
    audit,
    usage,
    metrics: options.telemetry === true ? () => telemetry.metrics(() => knowledge.figures()) : undefined,
    authenticate: authenticatorOf(options, keys),
    onError,
    onAnswered: (request) => {
      opened?.telemetry.onAnswered(request)
      options.log?.({ event: 'request', ...request })
    },
  })
  return {
    fetch: server.fetch,
    agent,
    knowledge,
    keys,
    routes: server.routes,
    erase: async (personId) => {
      // Keys first, so that nothing is added meanwhile.
      const count = await keys.erase(personId)
      await workspace.erase(personId)
      await usage.erase(personId)
      return { ...(await agent.erase(personId)), keys: count }
    },
    start: async () => void (await parts()),
    close: () => (closing ??= Promise.resolve(opening?.catch(() => undefined)).then((opened) => opened?.close())),
  }
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
