import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { ModelProvider, PassageSearch } from '@inlay/agent'
import type { Conversations } from '@inlay/conversations'
import type { DownloadProgress } from '@inlay/drivers/local-models'
import type { Embedder, Knowledge, Reranker, VectorIndex } from '@inlay/knowledge'
import { InlayError, isInlayError } from '@inlay/protocol'
import type { AnyDatabase, RecordEvents } from '@inlay/records'
import type { WorkspaceRecords } from '@inlay/server'
import type { Telemetry } from '@inlay/telemetry'
import { defaultDataFolder, indexFolder } from '../data-folder.ts'
import type { InlayOptions, OpenOptions } from '../options/inlay-options.ts'
import {
  isEmbedder,
  isEmbeddingObject,
  isLocalName,
  openaiBaseUrl,
  type EmbeddingModel,
} from '../options/model-options.ts'
import { searchWithHooks } from '../options/search-hooks.ts'
import { processPresence } from '../process-presence.ts'
import { fetchWithCurrent } from '../settings/secret-files.ts'
import { imageDescriber, modelSummarizer } from './document-models.ts'
import { indexSystem } from './engine-parts.ts'
import { toFileStore, toImageStore, type defaultReader } from './file-parts.ts'

interface KnowledgeNeeds {
  readonly onError: (error: unknown) => void
  readonly telemetry: Telemetry | undefined
  readonly models: ModelProvider
  readonly workspace: WorkspaceRecords
  readonly isPaused: () => Promise<boolean>
  readonly reader: ReturnType<typeof defaultReader>
  readonly recordEvents: RecordEvents | undefined
  /** Files of the conversations, which are created later. */
  readonly files: () => Conversations['files']
}

export async function makeKnowledge(
  db: AnyDatabase,
  options: OpenOptions,
  { onError, telemetry, models, reader, recordEvents, files, workspace, isPaused }: KnowledgeNeeds,
): Promise<Knowledge> {
  const { createKnowledge } = await import('@inlay/knowledge')
  const { describeImage, summarize, now = Date.now, dataFolder = defaultDataFolder } = options
  const modelFolder = options.modelFolder ?? join(dataFolder, 'models')
  const embedder = await configuredEmbedder(options.embedder, modelFolder, workspace)
  const { queryTimeoutMs, timeoutMs }: Partial<EmbeddingModel> =
    typeof options.embedder === 'string' || isEmbedder(options.embedder) ? {} : Object(options.embedder)
  const index = options.index ?? (await defaultIndex(dataFolder, options.vectorShare))
  const knowledge = createKnowledge({
    db,
    sha256: (text) => hash('sha256', text),
    readFile: reader.read,
    now,
    onError,
    index: telemetry?.index(index, options.index ? indexSystem(options.addresses) : 'lancedb') ?? index,
    embedder: embedder && (telemetry?.embedder(embedder) ?? embedder),
    reranker: await configuredReranker(options.reranker, modelFolder),
    ranking: options.ranking,
    images: toImageStore(files),
    files: toFileStore(files),
    describeImage: describeImage === undefined ? await imageDescriber(models) : (describeImage ?? undefined),
    summarize: summarize === 'model' ? modelSummarizer(models) : summarize,
    hooks: options.hooks,
    recordEvents,
    isPaused,
    limits: options.limits,
    queryVectorMs: queryTimeoutMs,
    worker: { ...processPresence(), embedTimeoutMs: timeoutMs, ...options.worker },
  })
  return telemetry?.knowledge(knowledge) ?? knowledge
}

export async function configuredSearch(
  { search }: Knowledge,
  { retrievers = [], hooks }: InlayOptions,
  onError: (error: unknown) => void,
): Promise<PassageSearch> {
  const all =
    retrievers.length === 0
      ? search
      : (await import('../options/retrievers.ts')).searchWith(search, retrievers, { onError })
  return hooks?.beforeSearch || hooks?.afterSearch ? searchWithHooks(all, hooks, onError) : all
}

export async function defaultIndex(dataFolder: string, vectorShare: number | undefined): Promise<VectorIndex> {
  const { checkInstalled, lancedbIndex } = await import('@inlay/drivers/lancedb')
  await checkInstalled()
  return lancedbIndex({
    folder: indexFolder(dataFolder),
    processes: processPresence(),
    vectorShare,
  })
}

export async function configuredEmbedder(
  choice: InlayOptions['embedder'],
  modelFolder: string,
  workspace: WorkspaceRecords,
): Promise<Embedder | undefined> {
  if (choice === undefined || isEmbedder(choice)) return choice
  if (isEmbeddingObject(choice)) {
    const { aiSdkEmbedder } = await import('@inlay/drivers/ai-sdk-embedder')
    const make = (dimensions: number): Embedder => aiSdkEmbedder({ model: choice, dimensions })
    return make(await dimensionsOf(make, choice.provider, choice.modelId, workspace))
  }
  const settings = typeof choice === 'string' ? { name: choice } : choice
  const { name, dimensions, baseUrl = openaiBaseUrl, queryTimeoutMs: _, ...given } = settings
  if (isLocalName(name)) {
    const { localEmbedder } = await import('@inlay/drivers/local-models')
    return localEmbedder({ model: withoutLocal(name), dimensions, folder: modelFolder, onProgress: showDownload })
  }
  const { openaiEmbedder } = await import('@inlay/drivers/openai-embedder')
  const model = settings.baseUrl === undefined ? name.replace(/^openai\//, '') : name
  const fetch = fetchWithCurrent(given.apiKey)
  const make = (length: number, asksForDimensions?: boolean): Embedder =>
    openaiEmbedder({ ...given, ...(fetch && { fetch }), model, baseUrl, dimensions: length, asksForDimensions })
  return make(dimensions ?? (await dimensionsOf((length) => make(length, false), baseUrl, model, workspace)))
}

/** The length of a model's vectors: asked once, and then known by its address and name. */
async function dimensionsOf(
  make: (dimensions: number) => Embedder,
  address: string,
  model: string,
  workspace: WorkspaceRecords,
): Promise<number> {
  const owner = `${address} ${model}`
  const known = await workspace.get('embedder_dimensions', 1, owner)
  if (known) return known.value
  // A vector of another length than expected is refused with its length.
  const refusal: unknown = await make(1)
    .embed(['dimensions'], 'query')
    .then(
      () => undefined,
      (error: unknown) => error,
    )
  const isLength = isInlayError(refusal) && refusal.code === 'INDEX_MISMATCH'
  const dimensions = isLength ? Number(refusal.data['dimensions']) : refusal === undefined ? 1 : 0
  // A length that cannot be used would stay for good.
  if (!(dimensions >= 1 && dimensions <= 8192))
    throw new InlayError('SERVICE_UNAVAILABLE', {
      message: `The embedding model "${model}" did not answer how long its vectors are: ${refusal instanceof Error ? refusal.message : 'it failed.'} Set the dimensions of the embedder, or make it reachable.`,
      cause: refusal,
    })
  await workspace.put('embedder_dimensions', 1, dimensions, owner)
  return dimensions
}

async function configuredReranker(
  reranker: InlayOptions['reranker'],
  modelFolder: string,
): Promise<Reranker | undefined> {
  if (typeof reranker !== 'string') return reranker
  const { localReranker } = await import('@inlay/drivers/local-models')
  return localReranker({ model: withoutLocal(reranker), folder: modelFolder, onProgress: showDownload })
}

const withoutLocal = (name: string): string => name.replace(/^local\//, '')

/** A line in a terminal that is redrawn. */
function showDownload({ model, file, bytes, totalBytes }: DownloadProgress): void {
  if (!process.stderr.isTTY) return
  const share = totalBytes === undefined ? '' : ` of ${Math.ceil(totalBytes / 1e6)}`
  const end = bytes === totalBytes ? '\n' : ''
  process.stderr.write(`\rDownloading ${model}: ${file}, ${Math.ceil(bytes / 1e6)}${share} MB${end}`)
}
