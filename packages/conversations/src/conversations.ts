import {
  createAgent,
  defaultServices,
  type Agent,
  type AgentLimits,
  type AgentOptions,
  type AgentStores,
  type HostAgent,
  type Services,
} from '@inlay/agent'
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
import { eraseExpired, type Expiry } from './sessions/retention.ts'
import { createRunStore } from './sessions/send-key-records.ts'
import { createConversationStore } from './sessions/conversation-store.ts'
import { createNaming, type SessionNaming } from './sessions/naming.ts'
import { createSearchFill } from './sessions/search-fill.ts'
import { createSessions } from './sessions/manage-sessions.ts'
import type { Sessions } from './sessions/stored-session.ts'
import { createActionSwitches } from './custom-tools/manage-tools.ts'
import type { FetchAddress, StoredTools } from './custom-tools/contracts.ts'
import { createStoredTools } from './custom-tools/manage-tools.ts'
import type { ConversationDatabase, ConversationTables } from './tables/database.ts'

/** Bounds of files; each has a default. */
export interface FileLimits {
  /** Most bytes of a file. Default 100 MB. */
  readonly fileBytes?: number
  /** Most tokens of a file that can be asked about. Default 200 000. */
  readonly fileTokens?: number
  /** How long an upload waits for its files to be read, in milliseconds. Default 2000. */
  readonly uploadWaitMs?: number
}

/** How conversations are made: an engine whose stores are tables of `db`. */
export interface ConversationsOptions extends Omit<
  AgentOptions,
  Exclude<keyof AgentStores, 'sharedRuns'> | 'fileSearch' | 'actionsOff' | 'limits'
> {
  /** Holds the tables that `migrateConversations` makes. */
  readonly db: Kysely<unknown>
  /** Storage for file contents. Default: none, and uploads are refused with UNSUPPORTED. */
  readonly storage?: BlobStorage
  /** Reads files as text. Default: text files alone. */
  readonly readFile?: FileReader
  /** Searches files that are too long for a prompt. Default: those that fit are taken. */
  readonly fileIndex?: FileIndex
  /** Agents of the host that people can choose, beside stored personas. */
  readonly hostAgents?: readonly HostAgent[]
  /** Whether a document names a file, by an id of it; such a file is not removed. Default: none does. */
  readonly isInDocument?: (fileId: string) => Promise<boolean>
  /** Whether anything is remembered about people: `add_memory`, and memories in prompts. Default: it is. */
  readonly memories?: boolean
  /**
   * How a session gets its name after the first answer. Default: from the model, or from the question if no model is
   * set.
   */
  readonly sessionNames?: SessionNaming
  /** Reaches what an administrator's custom actions speak to. Default: nothing, custom actions are not offered. */
  readonly fetchAddress?: FetchAddress
  readonly limits?: AgentLimits & FileLimits
}

/** An engine with everything it keeps. Each caller sees what is theirs. */
export interface Conversations extends Agent {
  /** Stored conversations. */
  readonly sessions: Sessions
  /** Uploads, and files that actions made. */
  readonly files: Files
  /** Agents: the assistant in a role. */
  readonly personas: Personas
  /** Memories about callers. */
  readonly memories: Memories
  /** Custom actions of the administrators. */
  readonly tools: StoredTools
  /** Files and instructions for some chats. */
  readonly projects: Projects
  /** Erases all that belongs to a person; resolves once it is gone. May be called again. */
  erase(personId: string): Promise<Erased>
  /** Erases some of the sessions that are older than is kept, with their files; gives how many, 0 once none is left. */
  eraseExpired(expiry: Expiry): Promise<number>
  /** Erases some of the agents that were deleted before a time; gives how many, 0 once none is left. */
  eraseDeletedPersonas(deletion: { readonly deletedBefore: number; readonly limit: number }): Promise<number>
  /** Ends every run and removes every file of everybody; the records go with their tables. May be called again. */
  eraseOutsideRecords(): Promise<void>
}

/** Makes conversations on SQL and the engine that answers in them. Call `migrateConversations` on the database before. */
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
  const searchFill = createSearchFill(db, services.onError)
  const files = createConversationFiles(db, options, services, ready)
  const projects = createProjects({ db, files, now, ready })
  const memories = createMemories({ db, now, isOn: options.memories ?? true, ready })
  const switches = createActionSwitches(options.db)
  const holds = (id: number): Promise<boolean> => agent.holdsAction(id)
  const { fetchAddress } = options
  const stored = createStoredTools({ ...services, db: options.db, fetchAddress, switches, holds, ready })
  const documentSets = options.documentSets ?? (async () => [])
  const storedPersonas = createPersonas({
    db,
    models,
    files,
    holdsAction: holds,
    restrictedActions: stored.restricted,
    documentSets,
    now,
    ready,
  })
  const personas = withHostAgents(storedPersonas, options.hostAgents ?? [])
  const lookups = { personas, projects: projectLookup(db) }
  const naming = createNaming(db, options.sessionNames ?? 'model', services)
  const agent = createAgent({
    ...options,
    ...services,
    ...lookups,
    conversationStore: createConversationStore(db, services, naming),
    runStore: createRunStore(db, now),
    fileStore: files,
    memoryStore: memories,
    fileSearch: options.fileIndex,
    actionsOff: switches.off,
    actionSources: [stored.source, ...(options.actionSources ?? [])],
  })
  return {
    ...agent,
    sessions: createSessions({ ...services, ...lookups, db, agent, files, models, naming, searchFill, ready }),
    files,
    personas,
    projects,
    memories,
    tools: stored.tools,
    erase: async (personId) => {
      await ready()
      return erasePerson({ db, agent, files }, personId)
    },
    eraseExpired: async (expiry) => {
      await ready()
      return eraseExpired({ db, agent, files, now }, expiry)
    },
    eraseDeletedPersonas: async (deletion) => {
      await ready()
      return eraseDeletedPersonas(db, deletion)
    },
    eraseOutsideRecords: async () => {
      await ready()
      await eraseOutsideRecords({ db, agent, files })
    },
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
  ready: () => Promise<void>,
): SqlFiles {
  return createFiles({
    ...services,
    db,
    storage,
    reader: readFile,
    index: fileIndex,
    limitBytes: limits.fileBytes ?? 100_000_000,
    limitTokens: limits.fileTokens ?? 200_000,
    waitMs: limits.uploadWaitMs ?? 2_000,
    checkProject: async (projectId, ownerId) => void (await ownProject(db, projectId, ownerId)),
    personasWith: (id) => personasWithFile(db, id),
    ...(isInDocument && { isInDocument }),
    ready,
  })
}
