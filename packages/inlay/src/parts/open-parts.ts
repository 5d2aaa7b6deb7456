import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { ModelProvider, SmallModels } from '@inlay/agent'
import { isModelObject } from '@inlay/drivers/official-providers'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { AbilityRecords } from '@inlay/drivers/model-providers'
import type { Conversations, ListenToDatabase } from '@inlay/conversations'
import type { PostgresRecords } from '@inlay/drivers/postgres'
import type { DownloadProgress } from '@inlay/drivers/local-models'
import type { Embedder, Knowledge, Reranker, VectorIndex } from '@inlay/knowledge'
import { InlayError, isInlayError } from '@inlay/protocol'
import type { ServiceNote } from '@inlay/protocol/administration'
import type { ProcessPresence, RecordEvents } from '@inlay/records'
import type { McpClient } from '@inlay/drivers/mcp-client'
import type {
  ApiKey,
  AuditLog,
  Keys,
  LocalModelAdministration,
  McpServerAdministration,
  ModelAdministration,
  WorkspaceRecords,
  UsageLimits,
} from '@inlay/server'
import type { Telemetry } from '@inlay/telemetry'
import type { Kysely } from 'kysely'
import { defaultDataFolder, indexFolder, prepareDataFolder } from '../data-folder.ts'
import { auditApproval, auditedKeys } from './host-audit.ts'
import { closeAll, destroyParts, type Closable } from './destroy-parts.ts'
import { lacksDatabase, openDatabaseRecord, type DatabaseRecord } from './database-record.ts'
import { eventParts, recordApproval } from './event-parts.ts'
import type { EventDelivery } from './event-delivery.ts'
import { indexSystem, sharedRunsOf, withEngines } from './engine-parts.ts'
import { defaultDialect } from './records-of-folder.ts'
import { imageDescriber, modelSummarizer } from './document-models.ts'
import { addedModelParts } from './added-models.ts'
import { localModelParts, offersLocalModels } from './local-model-parts.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { searchWithHooks } from '../options/search-hooks.ts'
import { configuredOcr } from './ocr-parts.ts'
import { defaultReader, defaultStorage, toFileIndex, toFileStore, toImageStore } from './file-parts.ts'
import type { InlayOptions, OpenOptions } from '../options/inlay-options.ts'
import { currentSecret, fetchWithCurrent } from '../settings/secret-files.ts'
import {
  isEmbedder,
  isEmbeddingObject,
  isLocalName,
  isProvider,
  openaiBaseUrl,
  type EmbeddingModel,
  type LanguageModelChoice,
  type ModelOption,
} from '../options/model-options.ts'
import { admitWithin, hooksWith, measuredDialect, measuredLimits, withinLimits } from './metering.ts'
import { ingestionWithinLimits } from './ingestion-limits.ts'
import { refuseMoved } from './move-note.ts'
import { openApiThread } from './openapi-thread.ts'
import { pythonParts } from './python-parts.ts'
import { startRetention } from './retention.ts'
import { toolParts } from './tool-parts.ts'
import { toDocumentByLink, toFileUrl, webParts } from './web-parts.ts'

/** All components behind the request handler, opened. */
export interface Parts {
  readonly agent: Conversations
  readonly knowledge: Knowledge
  readonly keys: Keys
  /** Key management for the host's own code and the command line; changes are audited. */
  readonly hostKeys: Keys
  readonly workspace: WorkspaceRecords
  readonly localModels: LocalModelAdministration
  readonly addedModels: ModelAdministration
  readonly mcpServers: McpServerAdministration
  /** MCP servers, for those who run the assistant. */
  readonly mcp: Pick<McpClient, 'check' | 'signIn'>
  readonly audit: AuditLog
  readonly usage: UsageLimits
  /** Messages for the operator, each with a problem and what to do about it. */
  readonly notices: () => Promise<readonly ServiceNote[]>
  /** Undefined if it is disabled. */
  readonly telemetry: Telemetry | undefined
  /** Closes everything and deletes all data, in the data folder and in engines of the host. */
  destroy(): Promise<void>
  close(): Promise<void>
}

/** What `openParts` needs beside the options. */
interface OpenContext {
  readonly onError: OnError
  /** Resolves when no call of a part is under way. */
  whenIdle(): Promise<unknown>
  /** Undefined if it is disabled. */
  readonly telemetry: Telemetry | undefined
}

/**
 * Opens the database, migrates its tables, and creates and starts the components. All heavy code is loaded here, so
 * that it does not slow down the start of the host.
 */
export async function openParts(given: InlayOptions, { onError, whenIdle, telemetry }: OpenContext): Promise<Parts> {
  const [{ Kysely }, { openDatabaseClock }, { openTables }] = await Promise.all([
    import('kysely'),
    import('@inlay/records'),
    import('./open-tables.ts'),
  ])
  const connections: Closable[] = []
  const options = await withEngines(given, connections, onError)
  const pools = connections.flatMap(({ measured }) => measured ?? [])
  const { findUnusedData } = await import('./unused-data.ts')
  const elsewhere = { records: !!options.database, index: !!options.index, files: !!options.files }
  const unused = await findUnusedData(options.dataFolder ?? defaultDataFolder, elsewhere)
  for (const message of unused) onError(new InlayError('BAD_REQUEST', { message, data: { isExpected: true } }))
  if (!options.database || !options.index || !options.files)
    await prepareDataFolder(options.dataFolder ?? defaultDataFolder)
  const isNew = !options.database && (await lacksDatabase(options.dataFolder ?? defaultDataFolder))
  const dialect = options.database ?? (await defaultDialect(options.dataFolder ?? defaultDataFolder))
  const db: Database = new Kysely({ dialect: telemetry ? measuredDialect(dialect, telemetry) : dialect })
  connections.push({ close: () => db.destroy() })
  const opened: Closable[] = []
  const close = (): Promise<void> =>
    closeAll([...connections.splice(0), ...opened.splice(0)].toReversed()).catch((error: unknown) => {
      // The engine is unavailable or full: acknowledged data is stored, and nothing can be done about the rest.
      if (!isInlayError(error) || error.code !== 'SERVICE_UNAVAILABLE') throw error
      onError(error)
    })
  try {
    await refuseMoved(db)
    const clock = await openDatabaseClock(db)
    opened.push(clock)
    opened.push(await openTables(db, options.now ?? clock.now))
    const record = options.database
      ? undefined
      : await openDatabaseRecord(db, { dataFolder: options.dataFolder ?? defaultDataFolder, isNew, onError })
    // Closed after all others that write.
    if (record) opened.push(record)
    const refusals: ServiceNote[] = []
    const whole = { ...options, database: dialect, now: options.now ?? clock.now }
    const parts = await makeParts(db, whole, telemetry, (error, context) => {
      if (isInlayError(error) && error.data['isRefusal'] === true && refusals.length < maxRefusals)
        refusals.push({ code: 'model_refusal', message: error.message })
      onError(error, context)
    })
    const { keys, usage, knowledge, reader, web, tools, python, agent, events } = parts
    // Closed in reverse order: runs end before the search they use, then calls under way end, and the database is last.
    opened.push(
      { close: async () => void (await whenIdle()) },
      ...(events ? [events] : []),
      keys,
      usage,
      knowledge,
      reader,
      web,
      tools,
      python,
      agent,
    )
    const { tableSizes } = await import('@inlay/records')
    telemetry?.readFrom({ figures: knowledge.sampledFigures, tables: () => tableSizes(db), pools })
    await knowledge.start()
    await agent.start()
    events?.start()
    opened.push(
      startRetention(options.retention ?? {}, {
        db,
        agent,
        audit: parts.audit,
        now: options.now ?? clock.now,
        onError,
      }),
    )
    let destroying: Promise<void> | undefined
    const destroy = (): Promise<void> => (destroying ??= destroyParts({ db, agent, opened, connections }, options))
    const served = record ? withRecord(knowledge, record) : knowledge
    const notices = async (): Promise<readonly ServiceNote[]> => {
      const { notice } = await knowledge.embedder()
      const { missingRecords, fullDisk } = await served.readiness()
      return [
        ...(missingRecords === undefined ? [] : [{ code: 'records_missing', message: missingRecords }]),
        ...(fullDisk === undefined ? [] : [{ code: 'disk_full', message: fullDisk }]),
        ...unused.map((message) => ({ code: 'unused_data', message })),
        ...refusals,
        ...(events?.problems() ?? []).map((message) => ({ code: 'webhook_failing', message })),
        ...(notice === undefined ? [] : [{ code: 'embedder_mismatch', message: notice }]),
      ]
    }
    return { ...parts, knowledge: served, notices, destroy, close }
  } catch (error) {
    await close().catch(onError)
    throw error
  }
}

/** Notices about what models refuse; each is told once. */
const maxRefusals = 50

/** Readiness tells of a lost database until the operator has all documents indexed again. */
function withRecord(knowledge: Knowledge, record: DatabaseRecord): Knowledge {
  return {
    ...knowledge,
    readiness: async () => {
      const readiness = await knowledge.readiness()
      const loss = record.loss()
      return loss === undefined ? readiness : { ...readiness, missingRecords: loss }
    },
    reindex: async (...given) => {
      const reindexed = await knowledge.reindex(...given)
      await record.accept()
      return reindexed
    },
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- each part types its own tables in the shared database
type Database = Kysely<any>

type MadeParts = Omit<Parts, 'close' | 'destroy' | 'notices'> &
  Readonly<Record<'reader' | 'web' | 'tools' | 'python', Closable>> & { readonly events: EventDelivery | undefined }
type OnError = NonNullable<InlayOptions['onError']>

async function makeParts(
  db: Database,
  options: OpenOptions,
  telemetry: Parts['telemetry'],
  onError: OnError,
): Promise<MadeParts> {
  const { createConversations, sqlSharedRuns } = await import('@inlay/conversations')
  const { now = Date.now, dataFolder = defaultDataFolder } = options
  const unmeasured = await serverParts(db, { ...options, now }, onError)
  const server = { ...unmeasured, usage: measuredLimits(unmeasured.usage, telemetry) }
  const events = await eventParts(options, { db, now, onError })
  const secrets = createSecrets(options.secretKey)
  const {
    models: ownModels,
    questionModel,
    localModels,
    addedModels,
  } = await modelParts(options, server.workspace, { secrets, onError })
  const models = telemetry?.models(ownModels) ?? ownModels
  const reader = defaultReader(() => configuredOcr(options, () => Promise.resolve(models)))
  const knowledge = await makeKnowledge(db, options, {
    onError,
    telemetry,
    models,
    workspace: server.workspace,
    reader,
    recordEvents: events?.recordEvents,
    files: () => ownAgent.files,
  })
  const web = await webParts(options)
  const tools = await toolParts(options, {
    db,
    workspace: server.workspace,
    secrets,
    egress: options.egress,
    now,
    onError,
  })
  const python = await pythonParts(options)
  const { retrievers = [] } = options
  const plain =
    retrievers.length === 0
      ? knowledge.search
      : (await import('../options/retrievers.ts')).searchWith(knowledge.search, retrievers, { onError })
  const { files: storage, addresses } = options
  const fileSystem = addresses.files === undefined ? 'other' : 's3'
  const apart = await sharedRunsOf(options, now, presence)
  const { hooks } = options
  const search = hooks?.beforeSearch || hooks?.afterSearch ? searchWithHooks(plain, hooks, onError) : plain
  const ownAgent = createConversations({
    ...conversationOptions(options),
    db,
    now,
    onError,
    sharedRuns:
      (apart && (telemetry?.calls('runs', apart, addresses.sharedRuns ? 'redis' : 'other') ?? apart)) ??
      sqlSharedRuns({ db, now, processes: await presence(), listen: listenOf(options) }),
    models,
    questionModel: questionModel && (telemetry?.models(questionModel) ?? questionModel),
    actionSources: tools.sources,
    fetchAddress: web.egress,
    openApiReader: openApiThread(),
    hooks: hooksWith(telemetry, options),
    admit: admitWithin(server.usage),
    recordEvents: events?.recordEvents,
    onApproval: (event) => {
      void auditApproval(server.audit, event).catch(onError)
      if (events) void recordApproval(events, db, event).catch(onError)
    },
    search,
    readExcerpt: knowledge.excerpt,
    hasDocuments: retrievers.length > 0 ? async () => true : knowledge.hasDocuments,
    checkFilters: (filters, caller) => knowledge.checkFilters(filters, { caller }),
    documentSets: (caller) => knowledge.documentSets.list({ caller }),
    storage: storage ? (telemetry?.calls('files', storage, fileSystem) ?? storage) : await defaultStorage(dataFolder),
    readFile: options.readFile ?? reader.read,
    fileIndex: toFileIndex(knowledge),
    isInDocument: (id) => knowledge.namesFile(id),
    readableDocuments: (ids, caller) => knowledge.readable(ids, { caller }),
    webSearch: web.webSearch,
    readPage: web.readPage,
    documentByLink: toDocumentByLink(knowledge),
    imageGenerator: web.imageGenerator,
    codeRunner: python.codeRunner,
    fileUrl: toFileUrl(options.basePath),
  })
  return {
    ...server,
    localModels,
    addedModels,
    knowledge: ingestionWithinLimits(knowledge, server.usage, onError),
    agent: withinLimits(telemetry?.agent(ownAgent) ?? ownAgent, server.usage),
    telemetry,
    events,
    reader,
    web,
    tools,
    mcp: tools,
    mcpServers: tools.administration,
    python,
  }
}

async function serverParts(
  db: Database,
  { now, callerLimits, tenantLimits }: InlayOptions & { readonly now: () => number },
  onError: (error: unknown) => void,
): Promise<Pick<Parts, 'keys' | 'hostKeys' | 'workspace' | 'audit' | 'usage'>> {
  const { createAuditLog, createKeys, createUsageLimits, createWorkspaceRecords } = await import('@inlay/server')
  const audit = createAuditLog({ db, now })
  const onUse = ({ id, owner }: ApiKey): Promise<void> =>
    audit.add({ operation: 'useKey', callerId: owner, target: { api_key_id: String(id) }, status: 200, requestId: '' })
  const workspace = createWorkspaceRecords({ db, now })
  const keys = createKeys({ db, now, onUse, onError })
  return {
    audit,
    keys,
    hostKeys: auditedKeys(keys, audit),
    workspace,
    usage: createUsageLimits({ db, now, limits: callerLimits, tenantLimits, workspace, onError }),
  }
}

/** Only the dialect of our own driver supports notifications. */
function listenOf({ database: dialect }: OpenOptions): ListenToDatabase | undefined {
  if (dialect === undefined || !('listen' in dialect)) return undefined
  return (dialect as PostgresRecords).listen
}

async function presence(): Promise<ProcessPresence> {
  const { processPresence } = await import('../process-presence.ts')
  return processPresence()
}

/** The index in a data folder. */
export async function defaultIndex(dataFolder: string, vectorShare: number | undefined): Promise<VectorIndex> {
  const { checkInstalled, lancedbIndex } = await import('@inlay/drivers/lancedb')
  await checkInstalled()
  return lancedbIndex({
    folder: indexFolder(dataFolder),
    processes: await presence(),
    vectorShare,
  })
}

/** The embedder of the options; undefined without one. */
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

/** The configured models, selectable local models if enabled, and those that administrators add. */
async function modelParts(
  options: InlayOptions,
  workspace: WorkspaceRecords,
  { secrets, onError }: { readonly secrets: Secrets; readonly onError: OnError },
): Promise<
  Pick<Parts, 'localModels' | 'addedModels'> &
    Readonly<Record<'models', ModelProvider>> & {
      readonly questionModel: ModelProvider | undefined
    }
> {
  const make = (choices: ModelOption | undefined, egress?: EgressOptions): Promise<ModelProvider> =>
    configuredModels(choices, onError, { abilities: abilitiesIn(workspace), egress })
  const configured = await make(options.model)
  const local = localModelParts({ configured, workspace, make })
  const added = addedModelParts({
    configured: offersLocalModels(options) ? local.models : configured,
    workspace,
    secrets,
    make: (choices) => make(choices, options.egress ?? {}),
    onError,
  })
  return {
    ...local,
    ...added,
    questionModel: options.questionModel === undefined ? undefined : await make(options.questionModel),
  }
}

/** What models do by themselves is found out once, not by each process. */
const abilitiesIn = (workspace: WorkspaceRecords): AbilityRecords => ({
  read: async (key) => {
    const record = await workspace.get('model_abilities', 1, key)
    return record && { ...record.value, recordedAt: record.updatedAt }
  },
  write: (key, abilities) => workspace.put('model_abilities', 1, abilities, key),
})

/** Models of a host, those that call no tools by themselves with their output repaired. */
function repairedWhereSmall(models: ModelProvider): ModelProvider {
  let repaired: ModelProvider | undefined
  return {
    list: () => models.list(),
    resolve: async (override) => {
      const model = await models.resolve(override)
      if (model.callsTools !== false) return model
      repaired ??= (await loadSmallModels()).repairModels(models)
      return repaired.resolve(override)
    },
  }
}

export async function configuredModels(
  choice: ModelOption = 'extractive',
  onError: (error: unknown) => void,
  { abilities, egress }: { readonly abilities?: AbilityRecords; readonly egress?: EgressOptions | undefined } = {},
): Promise<ModelProvider> {
  if (isProvider(choice)) return repairedWhereSmall(choice)
  const [{ modelProviders, parseModelSpecs }, { builtInModel }] = await Promise.all([
    import('@inlay/drivers/model-providers'),
    import('@inlay/extractive'),
  ])
  const choices: readonly LanguageModelChoice[] = Array.isArray(choice) ? choice : [choice]
  const config = parseModelSpecs(
    choices.map((each) => {
      if (typeof each === 'string') return { name: each }
      return isModelObject(each) ? { name: each.modelId, model: each } : each
    }),
  )
  const onNotice = (message: string): void =>
    onError(new InlayError('BAD_REQUEST', { message, data: { isExpected: true, isRefusal: true } }))
  return modelProviders({
    ...config,
    builtIn: builtInModel,
    onNotice,
    smallModels: loadSmallModels,
    currentKey: currentSecret,
    ...(abilities && { abilities }),
    ...(egress && { egress }),
  })
}

/** Options passed to conversations unchanged. */
function conversationOptions(options: InlayOptions) {
  const { actions, agents, memories, sessionNames, systemPrompt, research, limits, searchHelp, toolApproval } = options
  return {
    actions,
    hostAgents: agents,
    memories,
    sessionNames,
    systemPrompt,
    research,
    limits,
    searchHelp,
    toolApproval,
    smallModels: loadSmallModels,
  }
}

/** Loads the help for models that call no tools by themselves, which a host may leave out. */
async function loadSmallModels(): Promise<SmallModels> {
  try {
    const { smallModels } = await import('@inlay/small-models')
    return smallModels
  } catch (error) {
    const message =
      'The language model calls no tools or does not cite by itself. Run `npm install @inlay/small-models`, which helps ' +
      'such models, or set INLAY_MODEL_GROUNDING=tools and INLAY_COMPARED_CITATIONS=off.'
    throw new InlayError('NOT_IMPLEMENTED', { message, cause: error })
  }
}

interface KnowledgeNeeds {
  readonly onError: (error: unknown) => void
  readonly telemetry: Parts['telemetry']
  readonly models: ModelProvider
  readonly workspace: WorkspaceRecords
  readonly reader: ReturnType<typeof defaultReader>
  readonly recordEvents: RecordEvents | undefined
  /** Files of the conversations, which are created later. */
  readonly files: () => Conversations['files']
}

async function makeKnowledge(
  db: Database,
  options: OpenOptions,
  { onError, telemetry, models, reader, recordEvents, files, workspace }: KnowledgeNeeds,
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
    queryVectorMs: queryTimeoutMs,
    worker: { ...(await presence()), embedTimeoutMs: timeoutMs, ...options.worker },
  })
  return telemetry?.knowledge(knowledge) ?? knowledge
}
