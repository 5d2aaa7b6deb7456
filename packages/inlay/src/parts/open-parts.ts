import type { Conversations, ListenToDatabase } from '@inlay/conversations'
import type { PostgresRecords } from '@inlay/drivers/postgres'
import type { Knowledge } from '@inlay/knowledge'
import { InlayError, isInlayError } from '@inlay/protocol'
import type { ServiceNote } from '@inlay/protocol/administration'
import type { AnyDatabase, Holds } from '@inlay/records'
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
import { defaultDataFolder, prepareDataFolder } from '../data-folder.ts'
import type { exportData, Exported, ExportTarget } from './export-data.ts'
import { auditApproval, audited, auditedHolds, auditedKeys } from './host-audit.ts'
import { closeAll, destroyParts, type Closable } from './destroy-parts.ts'
import { lacksDatabase, openDatabaseRecord, type DatabaseRecord } from './database-record.ts'
import { eventParts, recordApproval } from './event-parts.ts'
import type { EventDelivery } from './event-delivery.ts'
import { sharedRunsOf, withEngines } from './engine-parts.ts'
import { defaultDialect } from './records-of-folder.ts'
import { configuredSearch, makeKnowledge } from './knowledge-parts.ts'
import { loadSmallModels, modelParts } from './model-parts.ts'
import { createSecrets } from './secrets.ts'
import { configuredOcr } from './ocr-parts.ts'
import { defaultReader, defaultStorage, toFileIndex } from './file-parts.ts'
import type { InlayOptions, OpenOptions } from '../options/inlay-options.ts'
import { processPresence } from '../process-presence.ts'
import { admitWithin, hooksWith, measuredDialect, measuredLimits, withinLimits } from './metering.ts'
import { ingestionWithinLimits } from './ingestion-limits.ts'
import { refuseMoved } from './move-note.ts'
import { openApiThread } from './openapi-thread.ts'
import { pythonParts } from './python-parts.ts'
import { startRetention } from './retention.ts'
import { toolParts } from './tool-parts.ts'
import { toDocumentByLink, toFileUrl, webParts, type WebParts } from './web-parts.ts'

export interface Parts {
  readonly agent: Conversations
  readonly knowledge: Knowledge
  readonly keys: Keys
  /** Key management for the host's own code and the command line; changes are audited. */
  readonly hostKeys: Keys
  readonly workspace: WorkspaceRecords
  readonly localModels: LocalModelAdministration
  readonly addedModels: ModelAdministration
  readonly fetchPicture: WebParts['fetchPicture']
  readonly mcpServers: McpServerAdministration
  /** MCP servers, for those who run the assistant. */
  readonly mcp: Pick<McpClient, 'check' | 'signIn' | 'finishSignIn'>
  readonly audit: AuditLog
  readonly holds: Holds
  /** As `holds`, for the host's own code; changes are audited. */
  readonly hostHolds: Holds
  readonly usage: UsageLimits
  readonly exports: { write(target: ExportTarget): Promise<Exported> }
  /** Messages for the operator, each with a problem and what to do about it. */
  readonly notices: () => Promise<readonly ServiceNote[]>
  /** Undefined if it is disabled. */
  readonly telemetry: Telemetry | undefined
  /** Closes everything and deletes all data, in the data folder and in engines of the host. */
  destroy(): Promise<void>
  close(): Promise<void>
}

interface OpenContext {
  readonly onError: OnError
  /** Resolves when no call of a part is under way. */
  whenIdle(): Promise<unknown>
  /** Undefined if it is disabled. */
  readonly telemetry: Telemetry | undefined
}

/** All heavy code is loaded here, so that it does not slow down the start of the host. */
export async function openParts(given: InlayOptions, { onError, whenIdle, telemetry }: OpenContext): Promise<Parts> {
  const [{ Kysely }, { openDatabaseClock }, { openTables }] = await Promise.all([
    import('kysely'),
    import('@inlay/records'),
    import('./open-tables.ts'),
  ])
  const connections: Closable[] = []
  const options = await withEngines(given, connections, onError)
  const { dataFolder = defaultDataFolder } = options
  const pools = connections.flatMap(({ measured }) => measured ?? [])
  const { findUnusedData } = await import('./unused-data.ts')
  const elsewhere = { records: !!options.database, index: !!options.index, files: !!options.files }
  const unused = await findUnusedData(dataFolder, elsewhere)
  for (const message of unused) onError(new InlayError('BAD_REQUEST', { message, data: { isExpected: true } }))
  if (!options.database || !options.index || !options.files) await prepareDataFolder(dataFolder)
  const isNew = !options.database && (await lacksDatabase(dataFolder))
  const dialect = options.database ?? (await defaultDialect(dataFolder))
  const db: AnyDatabase = new Kysely({ dialect: telemetry ? measuredDialect(dialect, telemetry) : dialect })
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
    const { now = clock.now } = options
    opened.push(clock)
    opened.push(await openTables(db, now))
    const record = options.database ? undefined : await openDatabaseRecord(db, { dataFolder, isNew, onError })
    // Closed after all others that write.
    if (record) opened.push(record)
    const refusals: ServiceNote[] = []
    const whole = { ...options, database: dialect, now }
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
    opened.push(startRetention(options.retention ?? {}, { db, agent, audit: parts.audit, now, onError }))
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

type MadeParts = Omit<Parts, 'close' | 'destroy' | 'notices'> &
  Readonly<Record<'reader' | 'web' | 'tools' | 'python', Closable>> & { readonly events: EventDelivery | undefined }
type OnError = NonNullable<InlayOptions['onError']>

async function makeParts(
  db: AnyDatabase,
  options: OpenOptions,
  telemetry: Parts['telemetry'],
  onError: OnError,
): Promise<MadeParts> {
  const { createConversations, sqlSharedRuns } = await import('@inlay/conversations')
  const { now = Date.now, dataFolder = defaultDataFolder } = options
  const unmeasured = await serverParts(db, { ...options, now }, onError)
  const server = { ...unmeasured, usage: measuredLimits(unmeasured.usage, telemetry) }
  const isPaused = async (): Promise<boolean> => (await server.usage.inForce()).isSuspended
  const events = await eventParts(options, { db, now, onError, isPaused })
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
    isPaused,
  })
  const web = await webParts(options)
  const { workspace, audit } = server
  const tools = await toolParts(options, { db, workspace, secrets, egress: options.egress, now, onError })
  const python = await pythonParts(options)
  const { files, addresses } = options
  const fileSystem = addresses.files === undefined ? 'other' : 's3'
  const storage = files ? (telemetry?.calls('files', files, fileSystem) ?? files) : await defaultStorage(dataFolder)
  const apart = await sharedRunsOf(options, now)
  const ownAgent = createConversations({
    ...conversationOptions(options),
    db,
    now,
    onError,
    sharedRuns:
      (apart && (telemetry?.calls('runs', apart, addresses.sharedRuns ? 'redis' : 'other') ?? apart)) ??
      sqlSharedRuns({ db, now, processes: processPresence(), listen: listenOf(options) }),
    models,
    questionModel: questionModel && (telemetry?.models(questionModel) ?? questionModel),
    actionSources: tools.sources,
    fetchAddress: web.egress,
    openApiReader: openApiThread(),
    hooks: hooksWith(telemetry, options),
    admit: admitWithin(server.usage),
    recordEvents: events?.recordEvents,
    beforeErasure: (ids, owners) => removeConversations(workspace, ids, owners),
    onApproval: (event) => {
      void auditApproval(audit, event).catch(onError)
      if (events) void recordApproval(events, db, event).catch(onError)
    },
    search: await configuredSearch(knowledge, options, onError),
    readExcerpt: knowledge.excerpt,
    hasDocuments: options.retrievers?.length ? async () => true : knowledge.hasDocuments,
    checkFilters: (filters, caller) => knowledge.checkFilters(filters, { caller }),
    documentSets: (caller) => knowledge.documentSets.list({ caller }),
    storage,
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
    fetchPicture: web.fetchPicture,
    knowledge: ingestionWithinLimits(knowledge, server.usage, onError),
    agent: withinLimits(telemetry?.agent(ownAgent) ?? ownAgent, server.usage),
    exports: { write: (target) => writeExport({ db, storage }, target, audit) },
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

/** What clients of OpenAI's API keep with a conversation, which is a session. */
async function removeConversations(
  workspace: WorkspaceRecords,
  sessionIds: readonly string[],
  owners: readonly string[],
): Promise<void> {
  for (const owner of owners)
    for (const { id, value } of await workspace.list('conversation', owner))
      if (sessionIds.includes(value.sessionId)) await workspace.remove('conversation', id, owner)
}

async function writeExport(
  stores: Parameters<typeof exportData>[0],
  target: ExportTarget,
  audit: AuditLog,
): Promise<Exported> {
  const { exportData } = await import('./export-data.ts')
  const whose: Record<string, string> = target.person === undefined ? {} : { user_id: target.person }
  return audited(audit, 'export', whose, () => exportData(stores, target))
}

async function serverParts(
  db: AnyDatabase,
  { now, callerLimits, tenantLimits }: InlayOptions & { readonly now: () => number },
  onError: (error: unknown) => void,
): Promise<Pick<Parts, 'keys' | 'hostKeys' | 'workspace' | 'audit' | 'holds' | 'hostHolds' | 'usage'>> {
  const { createAuditLog, createKeys, createUsageLimits, createWorkspaceRecords } = await import('@inlay/server')
  const { createHolds } = await import('@inlay/records')
  const audit = createAuditLog({ db, now })
  const onUse = ({ id, owner }: ApiKey): Promise<void> =>
    audit.add({ operation: 'useKey', callerId: owner, target: { api_key_id: String(id) }, status: 200, requestId: '' })
  const workspace = createWorkspaceRecords({ db, now })
  const keys = createKeys({ db, now, onUse, onError })
  const holds = createHolds({ db, now })
  return {
    audit,
    keys,
    hostKeys: auditedKeys(keys, audit),
    workspace,
    holds,
    hostHolds: auditedHolds(holds, audit),
    usage: createUsageLimits({ db, now, limits: callerLimits, tenantLimits, workspace, onError }),
  }
}

/** Only the dialect of our own driver supports notifications. */
function listenOf({ database: dialect }: OpenOptions): ListenToDatabase | undefined {
  if (dialect === undefined || !('listen' in dialect)) return undefined
  return (dialect as PostgresRecords).listen
}

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
