/**
 * `npm start`: the assistant with its web page on one port. Prints what a new user needs, ingests the project's own
 * documentation, and stores everything in the data folder.
 */
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { isInlayError } from '@inlay/protocol'
import { createInlay, readEnvironment, readSettings, type Inlay, type Settings } from 'inlay'
import { prepareDataFolder } from 'inlay/internal/data-folder'
import { findLocalModels, localModelLines } from 'inlay/internal/settings/local-models'
import { createPage, isLoopbackName } from 'inlay/page'
import { keepApiKey } from './server/api-key.ts'
import { greeting } from './server/greeting.ts'
import { listen, type Listening } from './server/listen.ts'
import { mastraGuide } from './server/mastra-guide.ts'
import { modelWords } from './server/model-words.ts'
import { holdQuestions } from './server/hold-questions.ts'
import { readOwnDocumentation } from './server/own-documentation.ts'
import { buildPage } from './server/page-build.ts'

const root = resolve(import.meta.dirname, '..')

async function start(): Promise<void> {
  const settings = readSettings(readEnvironment(root))
  for (const warning of settings.warnings) process.stderr.write(`${warning}\n`)
  const dataFolder = resolve(settings.options.dataFolder ?? join(root, '.inlay'))
  const basePath = `/${(settings.options.basePath ?? 'api').replaceAll(/^\/+|\/+$/g, '')}`.replace(/^\/$/, '')
  await prepareDataFolder(dataFolder)
  const key = settings.options.apiKey ?? (await keepApiKey(dataFolder))
  const inlay = createInlay({
    telemetry: true,
    localModels: settings.findsLocalModels,
    ...settings.options,
    agents: [mastraGuide],
    basePath,
    dataFolder,
    apiKey: key,
  })
  const token = randomBytes(16).toString('base64url')

  const page = Promise.withResolvers<Awaited<ReturnType<typeof createPage>>>()
  const listening = await listen({
    host: settings.host,
    port: settings.port,
    fetch: async (request, peer) => (await page.promise).fetch(request, peer),
  })
  if ('refusal' in listening) return refuse(listening.refusal)
  endOnSignal(listening, inlay)
  const [folder] = await Promise.all([buildPage(root), inlay.start()])
  const documentation = Promise.withResolvers<void>()
  const api = holdQuestions(inlay.fetch, documentation.promise)
  page.resolve(await createPage({ folder, basePath, api, handover: { token, key }, brand: settings.brand }))

  const host = shownHost(settings)
  const origin = `http://${host}:${listening.port}`
  const fragment = isLoopbackName(host) ? `#open=${token}` : ''
  const model = modelWords(await inlay.agent.models())
  const isOpen = !isLoopbackName(host) || ['0.0.0.0', '::'].includes(settings.host)
  process.stdout.write(greeting({ origin, basePath, key, fragment, model, dataFolder, isOpen }))
  await readOwnDocumentation(inlay, root, dataFolder)
    .catch((error: unknown) => {
      // Closed while ingesting: the next start continues.
      if (!isInlayError(error) || error.code !== 'CLOSED') throw error
    })
    .finally(documentation.resolve)
  const isBuiltIn = (await inlay.agent.models()).some(
    (listed) => listed.isDefault && listed.providerType === 'extractive',
  )
  if (settings.findsLocalModels && settings.options.model === undefined && isBuiltIn) await showLocalModels()
}

async function showLocalModels(): Promise<void> {
  for (const line of localModelLines(await findLocalModels(), 'npm start')) process.stdout.write(`${line}\n`)
}

/** The host for URLs: wildcard addresses cannot be opened in a browser. */
function shownHost({ host }: Settings): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Shuts down gracefully on the first signal, and at once on the second. */
function endOnSignal(listening: Listening, inlay: Inlay): void {
  let isEnding = false
  const end = async (): Promise<void> => {
    if (isEnding) process.exit(1)
    isEnding = true
    await listening.close(inlay)
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      end().catch((error: unknown) => {
        console.error(error)
        process.exit(1)
      })
    })
}

function refuse(words: string): void {
  process.stderr.write(`\n${words}\n`)
  process.exitCode = 1
}

start().catch((error: unknown) => {
  // InlayErrors are messages for users; anything else is unexpected and printed completely.
  if (isInlayError(error) && error.code !== 'INTERNAL_ERROR') refuse(error.message)
  else console.error(error)
  process.exit(1)
})
