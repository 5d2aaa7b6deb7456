import { createServer, type Server } from 'node:http'
import { InlayError } from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import { nodeListener } from '../node-listener.ts'
import { operator } from '../callers.ts'
import { textOption, type Command, type CommandContext } from './command.ts'
import { withInlay } from './opened.ts'

/** Serves the API. */
export const serve: Command = {
  usage: 'serve',
  summary: 'serve the API over HTTP',
  details: ['Ends on Ctrl+C with everything written. Settings: inlay --help.'],
  words: [0, 0],
  options: {
    port: { type: 'string', value: 'number', meaning: 'port; 0 takes any free one (default: PORT, else 3000)' },
    host: { type: 'string', value: 'name', meaning: 'name or address (default: HOST, else 127.0.0.1)' },
  },
  run: (context) => withInlay(context, (inlay) => serveUntilInterrupted(context, inlay), { onError: undefined }),
}

async function serveUntilInterrupted(context: CommandContext, inlay: Inlay): Promise<number> {
  const { output, settings, signal } = context
  // A batch may be sent for hours; who sends no headers is cut off all the same.
  const server = createServer({ requestTimeout: 0 }, nodeListener(inlay.fetch))
  const port = await listen(server, portOf(context), textOption(context, 'host') ?? settings.host)
  try {
    await inlay.start()
    const basePath = settings.options.basePath ?? '/api'
    const address = `http://${shownHost(textOption(context, 'host') ?? settings.host)}:${port}`
    const key = await firstKey(context, inlay)
    const models = await inlay.agent.models()
    const model = models.find(({ isDefault }) => isDefault)
    if (output.isJson) output.json({ address, base_url: address + basePath, key: key ?? null })
    else {
      output.line(`Inlay answers at ${address}${basePath} (the API is described at ${address}${basePath}/docs).`)
      output.line(`Model: ${model?.displayName ?? 'none'}.`)
      output.line(
        key === undefined
          ? 'Keys: those made before; make another with inlay keys create.'
          : `Key, shown this once: ${key}`,
      )
    }
    await interrupted(signal)
    output.note('Ending.')
    return 0
  } finally {
    await closed(server)
  }
}

/** A key for the operator when nobody could call otherwise; undefined when somebody can. */
async function firstKey(context: CommandContext, inlay: Inlay): Promise<string | undefined> {
  if (context.settings.options.apiKey !== undefined || (await inlay.keys.list()).length > 0) return undefined
  const { key } = await inlay.keys.create({ name: 'made by inlay serve', owner: operator.id, scopes: ['admin'] })
  return key
}

function portOf(context: CommandContext): number {
  const given = textOption(context, 'port')
  if (given === undefined) return context.settings.port
  if (!/^\d{1,5}$/.test(given) || Number(given) > 65_535) {
    throw new InlayError('INVALID_INPUT', { message: '--port needs a number from 0 (any free port) to 65535.' })
  }
  return Number(given)
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === 'EADDRINUSE'
          ? `port ${port} is taken; choose another with --port, 0 takes any free one.`
          : `cannot listen on ${host}, port ${port} (${error.code ?? 'unknown reason'}).`
      reject(new InlayError('INVALID_INPUT', { message: reason, cause: error }))
    })
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** "Every address of this machine" is none that can be opened. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Streams may go on for minutes: runs are kept and can be resumed, so connections are not waited for. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
