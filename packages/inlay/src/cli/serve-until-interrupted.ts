import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { InlayError, operator } from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import type { LogEntry } from '../log.ts'
import { nodeListener } from '../frameworks/node-listener.ts'
import { giveBackIdleMemory } from '../idle-memory.ts'
import { engineLines } from '../options/engines.ts'
import { closeServer } from '../shutdown/close-server.ts'
import { findLocalModels, localModelLines } from '../settings/local-models.ts'
import { bundledPage, createPage, isLoopbackName, type PageOptions } from '../page.ts'
import { misuse, textOption, type CommandContext } from './command.ts'
import { basePathOf } from '../base-path.ts'
import { shownHost } from './server-address.ts'
import { dataFolderOf } from './with-inlay.ts'

/** @param write writes the log, which may go elsewhere than to the terminal; absent if there is none */
export async function serveUntilInterrupted(
  context: CommandContext,
  inlay: Inlay,
  write: ((entry: LogEntry) => void) | undefined,
): Promise<number> {
  const { output, settings, signal } = context
  const { log } = settings.options
  const note = (text: string): void => (write ? write({ event: 'note', report: text }) : output.note(text))
  const basePath = basePathOf(settings.options)
  const host = textOption(context, 'host') ?? settings.host
  const token = randomUUID()
  const ready = Promise.withResolvers<RequestListener>()
  // Avoids an unhandled rejection if the server ends before it is ready and no request waits.
  ready.promise.catch(() => {})
  // No request timeout, since a batch may be sent for hours; slow headers still time out. The keep-alive timeout must
  // be longer than that of a proxy, or the proxy could reuse a connection that is being closed: usual values are up to
  // 60 seconds.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, (request, response) => {
    ready.promise.then((answer) => answer(request, response)).catch(() => response.destroy())
  })
  const port = await listen(server, portOf(context), host)
  try {
    await inlay.start()
    const address = `http://${shownHost(host)}:${port}`
    const key = await firstKey(context, inlay)
    const handedOver = key ?? settings.options.apiKey
    const handover = handedOver === undefined ? undefined : { token, key: handedOver }
    const page = await pageOf({ api: inlay.fetch, basePath, handover, brand: settings.brand })
    ready.resolve(page ?? nodeListener(inlay.fetch))
    giveBackIdleMemory()
    const models = await inlay.agent.models()
    const model = models.find(({ isDefault }) => isDefault)
    write?.({ event: 'start', address: address + basePath, model: model?.displayName ?? 'none' })
    // A new key is shown once, and never in the log.
    const isJson = output.isJson || (log !== undefined && key !== undefined)
    if (isJson) output.json({ address, base_url: address + basePath, key: key ?? null })
    else if (!log) {
      output.line(`Inlay is running at ${address}${basePath} (API documentation: ${address}${basePath}/docs).`)
      const fragment = handedOver !== undefined && isLoopbackName(new URL(address).host) ? `#open=${token}` : ''
      if (page !== undefined) output.line(`Page: ${address}/${fragment}`)
      output.line(`Model: ${model?.displayName ?? 'none'}.`)
      output.line(`Data: ${dataFolderOf(context)}`)
      engineLines(settings.options).forEach(output.line)
      output.line(
        key === undefined
          ? 'Keys: use an existing key, or create one with inlay keys create.'
          : `Key (shown only once): ${key}`,
      )
    }
    const { database, files } = settings.options
    if (database !== undefined && files === undefined)
      note('Uploaded files are in the data folder: other machines need access to that folder, or set INLAY_FILES_URL.')
    if (settings.findsLocalModels && settings.options.model === undefined && model?.providerType === 'extractive')
      void findLocalModels().then((servers) => localModelLines(servers, 'npx inlay serve').forEach(note))
    if (!signal.aborted) await once(signal, 'abort')
    write?.({ event: 'stop' })
    if (!log) output.note('Ending.')
    return 0
  } finally {
    ready.reject(new Error('the server is ending'))
    await closeServer(server, inlay, settings.shutdown)
  }
}

/** Serves the web page in front of the API; undefined if the installation has no page. */
async function pageOf(options: Omit<PageOptions, 'folder'>): Promise<RequestListener | undefined> {
  const folder = bundledPage()
  if (folder === undefined) return undefined
  const page = await createPage({ folder, ...options })
  return (request, response) => {
    const peer = { ip: request.socket.remoteAddress }
    nodeListener((webRequest) => page.fetch(webRequest, peer))(request, response)
  }
}

/** Creates a key for the operator if there is no other way to authenticate; otherwise undefined. */
async function firstKey(context: CommandContext, inlay: Inlay): Promise<string | undefined> {
  if (context.settings.options.apiKey !== undefined || (await inlay.keys.list()).length > 0) return undefined
  const { key } = await inlay.keys.create({ name: 'made by inlay serve', owner: operator.id, scopes: ['admin'] })
  return key
}

function portOf(context: CommandContext): number {
  const given = textOption(context, 'port')
  if (given === undefined) return context.settings.port
  if (!/^\d{1,5}$/.test(given) || Number(given) > 65_535) {
    throw misuse('--port needs a number from 0 (any free port) to 65535.')
  }
  return Number(given)
}

/** Length of the connection queue. Node's default is 511; beyond it, clients retry only after seconds. */
const waitingConnections = 4096

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen({ port, host, backlog: waitingConnections })
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const message =
      cause.code === 'EADDRINUSE'
        ? `port ${port} is in use; choose another with --port, or 0 for any free port.`
        : `cannot listen on ${host}, port ${port} (${cause.code ?? 'unknown reason'}).`
    throw new InlayError('INVALID_INPUT', { message, cause })
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
