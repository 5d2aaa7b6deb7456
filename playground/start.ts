/**
 * `npm start`: the assistant with its web page on one port. Prints what a newcomer needs, takes in the project's own
 * documentation, and keeps everything in the data folder.
 */
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { isInlayError } from '@inlay/protocol'
import { createInlay, readEnvironment, readSettings, type Inlay, type Settings } from 'inlay'
import { prepareDataFolder } from 'inlay/internal/data-folder'
import { createPage, isLoopbackName } from 'inlay/page'
import { keepApiKey } from './server/api-key.ts'
import { greeting } from './server/greeting.ts'
import { listen, type Listening } from './server/listen.ts'
import { mastraGuide } from './server/mastra-guide.ts'
import { modelWords } from './server/model-words.ts'
import { takeInOwnDocuments } from './server/own-documents.ts'
import { buildPage } from './server/page-build.ts'
import { showProgress } from './server/progress.ts'

const root = resolve(import.meta.dirname, '..')

async function start(): Promise<void> {
  const settings = readSettings(readEnvironment(root))
  for (const warning of settings.warnings) process.stderr.write(`${warning}\n`)
  const dataFolder = resolve(settings.options.dataFolder ?? join(root, '.inlay'))
  const basePath = `/${(settings.options.basePath ?? 'api').replaceAll(/^\/+|\/+$/g, '')}`.replace(/^\/$/, '')
  await prepareDataFolder(dataFolder)
  const key = settings.options.apiKey ?? (await keepApiKey(dataFolder))
  const inlay = createInlay({ ...settings.options, agents: [mastraGuide], basePath, dataFolder, apiKey: key })
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
  page.resolve(await createPage({ folder, basePath, api: inlay.fetch, handover: { token, key } }))

  const host = shownHost(settings)
  const origin = `http://${host}:${listening.port}`
  const fragment = isLoopbackName(host) ? `#open=${token}` : ''
  const model = modelWords(await inlay.agent.models())
  const isOpen = !isLoopbackName(host) || ['0.0.0.0', '::'].includes(settings.host)
  process.stdout.write(greeting({ origin, basePath, key, fragment, model, dataFolder, isOpen }))
  await readOwnDocumentation(inlay, dataFolder).catch((error: unknown) => {
    // Ended while reading: the next start goes on where this one stopped.
    if (!isInlayError(error) || error.code !== 'CLOSED') throw error
  })
}

/** The host as it stands in an address: "every address of this machine" is none that can be opened. */
function shownHost({ host }: Settings): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

async function readOwnDocumentation(inlay: Inlay, dataFolder: string): Promise<void> {
  let progress: ReturnType<typeof showProgress> | undefined
  const began = Date.now()
  const count = await takeInOwnDocuments({
    root,
    record: join(dataFolder, 'own-documents.json'),
    onBegin: (total) => {
      progress = showProgress(process.stdout, "Reading the project's own documentation", total)
    },
    target: {
      accept: async ({ id, title, text }) => {
        await inlay.knowledge.accept(ownDocumentRequest(id, title, text))
      },
      remove: (id) =>
        inlay.knowledge.remove(id).catch((error: unknown) => {
          // Somebody deleted it before its file went.
          if (!isInlayError(error) || error.code !== 'DOCUMENT_NOT_FOUND') throw error
        }),
    },
  })
  if (count === 0) return
  for (let left = count; left > 0;) {
    await new Promise((wake) => setTimeout(wake, 50))
    const { documents } = await inlay.knowledge.figures()
    left = Math.min(left, documents.pending + documents.indexing)
    progress?.to(count - left)
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1)
  progress?.end(
    `Ask about it: ${count} ${count === 1 ? 'document' : 'documents'} of this project searchable after ${seconds} s.`,
  )
}

type AcceptRequest = Parameters<Inlay['knowledge']['accept']>[0]

const ownDocumentRequest = (id: string, title: string, text: string): AcceptRequest => ({
  cc_pair_id: 1,
  document: {
    id,
    semantic_identifier: title,
    title: null,
    source: 'file',
    sections: [{ type: 'text', text, link: null, image_file_id: null, heading: null }],
    metadata: { collection: 'inlay' },
    doc_updated_at: null,
    doc_created_at: null,
    primary_owners: null,
    secondary_owners: null,
    file_id: null,
  },
})

/** Ends on the first signal with everything written; a second one does not wait. */
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
  // Inlay's own refusals are sentences; anything else is unexpected, and shown whole.
  if (isInlayError(error) && error.code !== 'INTERNAL_ERROR') refuse(error.message)
  else console.error(error)
  process.exit(1)
})
