import type { Kysely } from 'kysely'
import type { Principal } from '@inlay/protocol'
import type { Action, ExcerptReader, ModelProvider, PassageSearch } from '../contracts.ts'
import type { BlobStorage, FileIndex, FileReader } from '../files/contracts.ts'
import { createFiles, type FileStore } from '../files/files.ts'
import type { Personalization } from '../memories/contracts.ts'
import type { Personas } from '../personas/contracts.ts'
import { createPersonas, personasWithFile, type NamedDocumentSet } from '../personas/personas.ts'
import type { Projects } from '../projects/contracts.ts'
import { createProjects, ownProject } from '../projects/projects.ts'
import type { AgentTables } from './tables.ts'
import { createSurroundings, type SurroundingsFinder } from '../turn/turn-context.ts'

/** Bounds of files; each has a default. */
export interface FileLimits {
  /** Most bytes of a file. Default 100 MB. */
  readonly fileBytes?: number
  /** Most tokens of a file that can be asked about. Default 200 000. */
  readonly fileTokens?: number
  /** How long an upload waits for its files to be read, in milliseconds. Default 2000. */
  readonly uploadWaitMs?: number
  /** How long a message waits for context files that are still being read or indexed, in milliseconds. Default 10 000. */
  readonly contextWaitMs?: number
}

/** What files, agents and projects are made with; all of it is optional. */
export interface LibraryParts {
  /** Where the bytes of files are kept. Default: nowhere, uploads are refused with UNSUPPORTED. */
  readonly storage?: BlobStorage
  /** Reads files as text. Default: text files alone. */
  readonly readFile?: FileReader
  /** Searches files that are too long for a prompt. Default: those that fit are taken. */
  readonly fileIndex?: FileIndex
  /** Document sets that a caller may search. Default: none. */
  readonly documentSets?: (caller: Principal) => Promise<readonly NamedDocumentSet[]>
}

/** What a library is made of. */
export interface LibraryOptions extends LibraryParts {
  readonly db: Kysely<AgentTables>
  readonly models: ModelProvider
  readonly search: PassageSearch | undefined
  readonly holdsAction: (id: number) => Promise<boolean>
  /** Makes the search action over files. */
  readonly searchAction: (search: PassageSearch, readExcerpt?: ExcerptReader) => Action
  readonly readExcerpt?: ExcerptReader
  /** What the model is told of a caller. */
  readonly person: (caller: Principal) => Promise<Personalization>
  readonly limits: FileLimits
  readonly now: () => number
  readonly newId: () => string
  readonly onError: (error: unknown) => void
  /** Called before each use. */
  readonly ready: () => Promise<void>
}

/** What chats draw on besides documents: files, agents, projects. */
export interface Library {
  readonly files: FileStore
  readonly personas: Personas
  readonly projects: Projects
  readonly surroundings: SurroundingsFinder
  /** Notes that files were sent with a message. */
  noteUse(fileIds: readonly string[]): Promise<void>
  /** Takes up work with files that is left from before. */
  start(): void
  close(): Promise<void>
}

/** Makes a library. */
export function createLibrary(options: LibraryOptions): Library {
  const { db, models, now, ready, limits, fileIndex: index, documentSets = async () => [] } = options
  const files = createFiles({
    ...options,
    index,
    reader: options.readFile,
    limitBytes: limits.fileBytes ?? 100_000_000,
    limitTokens: limits.fileTokens ?? 200_000,
    waitMs: limits.uploadWaitMs ?? 2_000,
    checkProject: async (projectId, ownerId) => void (await ownProject(db, projectId, ownerId)),
    personasWith: (id) => personasWithFile(db, id),
  })
  const personas = createPersonas({ db, models, files, holdsAction: options.holdsAction, documentSets, now, ready })
  const projects = createProjects({ db, files, now, ready })
  const surroundings = createSurroundings({
    db,
    files,
    personas,
    index,
    documentSets,
    search: options.search,
    searchAction: options.searchAction,
    readExcerpt: options.readExcerpt,
    person: options.person,
    waitMs: limits.contextWaitMs ?? 10_000,
  })
  return {
    files,
    personas,
    projects,
    surroundings,
    noteUse: files.noteUse,
    start: files.worker.wake,
    close: files.close,
  }
}
