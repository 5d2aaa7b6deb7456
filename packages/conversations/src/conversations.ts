import {
  createAgent,
  defaultServices,
  type Agent,
  type AgentLimits,
  type AgentOptions,
  type AgentStores,
  type HostAgent,
  type InstructedAgent,
  type ModelFact,
  type Services,
} from '@inlay/agent'
import type { RecordEvents } from '@inlay/records'
import type { Kysely } from 'kysely'
import { eraseOutsideRecords, erasePerson, type Erased } from './erasure.ts'
import type { BlobStorage, FileIndex, FileReader, Files } from './files/contracts.ts'
import { createFiles, type SqlFiles } from './files/manage-files.ts'
import type { Memories } from './memories/contracts.ts'
import { createMemories } from './memories/manage-memories.ts'
import type { Personas } from './personas/contracts.ts'
import { withHostAgents } from './personas/host-agents.ts'
import { createPersonas, eraseDeletedPersonas, personasWithFile } from './personas/manage-personas.ts'
import type { Projects } from './projects/contracts.ts'
import { createProjects, ownProject, projectLookup } from './projects/manage-projects.ts'
import type { BeforeErasure } from './sessions/removal.ts'
import { eraseExpired, eraseUnusedUploads, type Expiry, type UnusedUploads } from './sessions/retention.ts'
import { sqlSharedRuns } from './run-records/shared-runs.ts'
import { createRunStore } from './sessions/send-key-records.ts'
import { createConversationStore } from './sessions/conversation-store.ts'
import { createNaming, type SessionNaming } from './sessions/naming.ts'
import { createSearchFill } from './sessions/search-fill.ts'
import { createSessions } from './sessions/manage-sessions.ts'
import type { ReadableDocuments } from './sessions/shared-session.ts'
import type { Sessions } from './sessions/stored-session.ts'
import { readUsage, type ModelUsage } from './sessions/usage.ts'
import { tryModel, type ModelTrial } from './try-model.ts'
import type { LlmOverride } from '@inlay/protocol'
import { createActionSwitches, createStoredTools } from './custom-tools/manage-tools.ts'
import type { FetchAddress, OpenApiReader, StoredTools } from './custom-tools/contracts.ts'
import type { ConversationDatabase, ConversationTables } from './tables/database.ts'

/** Limits of files; each has a default. */
export interface FileLimits {
  /** Maximum bytes of a file. Default 100 MB. */
  readonly maxFileBytes?: number
  /** Maximum bytes of all files together, over all processes. Default: no limit. */
  readonly maxStoredFileBytes?: number
  /** Maximum tokens of a file that can be asked about. Default 200 000. */
  readonly maxFileTokens?: number
  /** Maximum time that an upload waits for its files to be read, in milliseconds. Default 2000. */
  readonly maxUploadWaitMs?: number
}

export interface ConversationsOptions extends Omit<
  AgentOptions,
  Exclude<keyof AgentStores, 'sharedRuns'> | 'fileSearch' | 'actionsOff' | 'limits'
> {
  /** Database with the tables of `migrateConversations`. */
  readonly db: Kysely<unknown>
  /** Storage for file contents. Default: none, and uploads are refused with UNSUPPORTED. */
  readonly storage?: BlobStorage
  /** Extracts the text of files. Default: text files only. */
  readonly readFile?: FileReader
  /** Searches files that are too long for a prompt. Default: only files that fit are used. */
  readonly fileIndex?: FileIndex
  /** Agents of the host that users can select, besides stored personas. */
  readonly hostAgents?: readonly (HostAgent | InstructedAgent)[]
  /** Whether a document references a file by one of its ids; such a file is not removed. Default: no document does. */
  readonly isInDocument?: (fileId: string) => Promise<boolean>
  /** Which of the documents a caller may read; shared sessions show their readers no others. Default: none. */
  readonly readableDocuments?: ReadableDocuments
  /** Whether facts about people are remembered (`add_memory`, memories in prompts). Default true. */
  readonly memories?: boolean
  /**
   * How a session gets its name after the first answer. Default: from the model, or from the question if no model is
   * set.
   */
  readonly sessionNames?: SessionNaming
  /** Fetches the services of custom actions. Default: none, custom actions are not offered. */
  readonly fetchAddress?: FetchAddress
  /** Reads their documents, e.g. in a worker thread. Default: this thread. */
  readonly openApiReader?: OpenApiReader | undefined
  readonly limits?: AgentLimits & FileLimits
  /** Removes what else is kept with sessions of some owners, before they are erased; may be called again. Default: nothing. */
  readonly beforeErasure?: BeforeErasure | undefined
  /** Records an event for each answer that ends and each feedback, in the same transaction. Default: none. */
  readonly recordEvents?: RecordEvents | undefined
}

/** The engine with its stores. Each caller sees only their own data. */
export interface Conversations extends Agent {
  readonly sessions: Sessions
  /** Uploads, and files that actions made. */
  readonly files: Files
  /** Stored agents. */
  readonly personas: Personas
  readonly memories: Memories
  /** Custom actions created by administrators. */
  readonly tools: StoredTools
  /** Projects: files and instructions shared by chats. */
  readonly projects: Projects
  /** Answers of the last milliseconds, by person and model; most first. `since` is in milliseconds since 1970 UTC. */
  usage(periodMs: number): Promise<{ readonly since: number; readonly entries: readonly ModelUsage[] }>
  /** Asks a model a short question. VALIDATION_ERROR for one that is not offered. */
  tryModel(override: LlmOverride | null): Promise<ModelTrial>
  /** What a model does by itself, as far as it is known. With `tries`, what nobody knows is found out and recorded. */
  modelFact(override: LlmOverride | null, tries: boolean): Promise<ModelFact | undefined>
  /** Erases everything that belongs to a person; resolves once it is gone. Idempotent. */
  erase(personId: string): Promise<Erased>
  /** Erases a batch of sessions past their retention, with their files; returns how many, 0 once none is left. */
  eraseExpired(expiry: Expiry): Promise<number>
  /** Erases a batch of agents deleted before a time; returns how many, 0 once none is left. */
  eraseDeletedPersonas(deletion: { readonly deletedBefore: number; readonly limit: number }): Promise<number>
  /**
   * Erases uploads of a batch, in the order of their ids after `after`, that nobody has used since a time and that
   * nothing holds. @returns the last id of the batch, undefined at the end
   */
  eraseUnusedUploads(batch: UnusedUploads): Promise<{ readonly last: string | undefined; readonly erased: number }>
  /** Ends all runs and removes all files; the records go with their tables. Idempotent. */
  eraseOutsideRecords(): Promise<void>
}

/**
 * Creates conversations stored in SQL and the engine that answers in them. Run `migrateConversations` on the database
 * first.
 */
export function createConversations(options: ConversationsOptions): Conversations {
  const { models } = options
  const services = servicesOf(options)
  const { now } = services
  const db: ConversationDatabase = options.db.withTables<ConversationTables>()
  let hasStarted = false
  const ready = async (): Promise<void> => {
    await agent.start()
    if (!hasStarted) files.worker.notify()
    searchFill.start()
    hasStarted = true
  }
  /** Makes each call from outside wait until all is ready. What is under way at the end still has its parts. */
  const whenReady = <Calls extends object>(calls: Calls): Calls => {
    const waiting = Object.entries(calls).map(([name, call]: [string, unknown]) => [
      name,
      typeof call !== 'function' ? call : async (...given: unknown[]) => ready().then(() => call(...given)),
    ])
    return Object.fromEntries(waiting) as Calls // Each call takes and gives what the one behind it does.
  }
  const searchFill = createSearchFill(db, services.onError)
  const files = createConversationFiles(db, options, services)
  const memories = createMemories({ db, now, isOn: options.memories ?? true })
  const switches = createActionSwitches(options.db)
  const holds = (id: number): Promise<boolean> => agent.holdsAction(id)
  const { fetchAddress, openApiReader } = options
  const stored = createStoredTools({ ...services, db: options.db, fetchAddress, openApiReader, switches, holds })
  const documentSets = options.documentSets ?? (async () => [])
  const storedPersonas = createPersonas({
    db,
    models,
    files,
    holdsAction: holds,
    restrictedActions: stored.restricted,
    documentSets,
    now,
  })
  const personas = withHostAgents(whenReady(storedPersonas), options.hostAgents ?? [])
  const lookups = { personas, projects: projectLookup(db) }
  const naming = createNaming(db, options.sessionNames ?? 'model', services)
  const agent = createAgent({
    ...options,
    ...services,
    ...lookups,
    sharedRuns: options.sharedRuns ?? sqlSharedRuns({ db: options.db, now }),
    conversationStore: createConversationStore(db, { ...services, recordEvents: options.recordEvents }, naming),
    runStore: createRunStore(db, now),
    fileStore: files,
    readDocument: options.readFile,
    memoryStore: memories,
    fileSearch: options.fileIndex,
    actionsOff: switches.off,
    actionSources: [stored.source, ...(options.actionSources ?? [])],
  })
  const { readableDocuments, recordEvents, beforeErasure } = options
  const beside = { readableDocuments, recordEvents, beforeErasure }
  const sessions = createSessions({ ...services, ...lookups, ...beside, db, agent, files, models, naming, searchFill })
  return {
    ...agent,
    ...whenReady({
      usage: async (periodMs: number) => {
        const since = now() - periodMs
        return { since, entries: await readUsage(db, since) }
      },
      erase: (personId: string) => erasePerson({ db, agent, files }, personId),
      eraseExpired: (expiry: Expiry) => eraseExpired({ db, agent, files, beforeErasure }, expiry),
      eraseDeletedPersonas: (deletion: Parameters<Conversations['eraseDeletedPersonas']>[0]) =>
        eraseDeletedPersonas(db, deletion),
      eraseUnusedUploads: (batch: UnusedUploads) => eraseUnusedUploads({ db, agent, files }, batch),
      eraseOutsideRecords: () => eraseOutsideRecords({ db, agent, files }),
    }),
    sessions: whenReady(sessions),
    files: whenReady(files),
    personas,
    projects: whenReady(createProjects({ db, files, now })),
    memories: whenReady(memories),
    tools: whenReady(stored.tools),
    tryModel: (override) => tryModel(models, override),
    modelFact: async (override, tries) => (await models.resolve(override)).observed?.ask?.(tries),
    start: ready,
    close: async () => {
      await agent.close()
      await searchFill.close()
      await files.close()
    },
  }
}

function servicesOf({ now, newId, onError }: Partial<Services>): Services {
  return {
    now: now ?? defaultServices.now,
    newId: newId ?? defaultServices.newId,
    onError: onError ?? defaultServices.onError,
  }
}

function createConversationFiles(
  db: ConversationDatabase,
  { storage, readFile, fileIndex, isInDocument, limits = {} }: ConversationsOptions,
  services: Services,
): SqlFiles {
  return createFiles({
    ...services,
    db,
    storage,
    reader: readFile,
    index: fileIndex,
    maxBytes: limits.maxFileBytes ?? 100_000_000,
    maxStoredBytes: limits.maxStoredFileBytes,
    maxTokens: limits.maxFileTokens ?? 200_000,
    waitMs: limits.maxUploadWaitMs ?? 2_000,
    checkProject: async (projectId, ownerId) => void (await ownProject(db, projectId, ownerId)),
    personasWith: (id) => personasWithFile(db, id),
    ...(isInDocument && { isInDocument }),
  })
}
