import { isAmong } from '@inlay/records'
import type { ExpressionBuilder } from 'kysely'
import { InlayError, isInlayError, type Principal } from '@inlay/protocol'
import { idsOf, type ConversationDatabase, type ConversationTables } from '../tables/database.ts'
import { createBlobs, type Blobs } from './blobs.ts'
import type { FileStore, OpenedFile, StoredFile, Services } from '@inlay/agent'
import type { BlobStorage, FileHolders, FileIndex, FileReader, Files, Sheet } from './contracts.ts'
import { hideFile, isPresent, noFile, queueForIndex, queueRemoval, showFile, toStoredFile } from './file-records.ts'
import { createFileWorker, type FileWorker } from './file-worker.ts'
import { cameFor, createUploads, type UploadOptions } from './upload.ts'
import { createReadings, type Readings } from './file-texts.ts'
import { cutSheet, toCsv, toSheets } from './sheets.ts'
import { decodeUnicode, readTextFile } from './text-reader.ts'

export interface FilesOptions extends Omit<UploadOptions, 'blobs' | 'readings' | 'notify'>, Pick<Services, 'onError'> {
  /** Absent: nothing can be uploaded. */
  readonly storage?: BlobStorage
  /** Default: {@link readTextFile}. */
  readonly reader?: FileReader
  readonly index?: FileIndex
  readonly maxTokens: number
  /** Names of the agents that hold a file. */
  readonly personasWith: (id: string) => Promise<readonly string[]>
  /** Whether a document names a file, by an id of it. Default: none does. */
  readonly isInDocument?: (id: string) => Promise<boolean>
}

/** Files on SQL, as the engine and the other folders use them. */
export interface SqlFiles extends Files, FileStore {
  /** Notes that files have to be searchable. */
  wantIndexed(ids: readonly string[]): Promise<void>
  /** Removes files that no project, agent or document holds and that nobody has used since a time. @returns how many */
  removeUnheld(ids: readonly string[], options: { readonly unusedSince: number }): Promise<number>
  /** Gives the picture of an agent to the owner of the agent. Any other file stays as it is. */
  adoptPicture(id: string, ownerId: string): Promise<void>
  /** Removes the picture of an agent that no agent shows any more. Any other file stays. */
  dropPicture(id: string): Promise<void>
  readonly worker: FileWorker
  close(): Promise<void>
}

export function createFiles(options: FilesOptions): SqlFiles {
  const { db, index } = options
  const blobs = createBlobs(options.storage ?? noStorage, options.onError)
  const closing = new AbortController()
  const readings = createReadings({
    ...options,
    blobs,
    reader: options.reader ?? readTextFile,
    closing: closing.signal,
  })
  const worker = createFileWorker({ ...options, blobs, readings, index, decide: (file) => decide(file, options) })
  const uploads = createUploads({ ...options, blobs, readings, notify: worker.notify })
  const own = async (id: string, caller: Principal): Promise<StoredFile> => {
    const [file] = await findOwn(db, [id], caller.id)
    if (file) return file
    throw noFile()
  }
  return {
    ...createLookups({ ...options, blobs, own }),
    canKeep: options.storage !== undefined,
    ...uploads,
    adoptPicture: async (id, ownerId) => {
      await db
        .updateTable('inlay_files')
        .set({ owner_id: ownerId })
        .where('id', '=', id)
        .where('is_listed', '=', cameFor.agentPicture)
        .execute()
    },
    dropPicture: async (id) => {
      const row = await visible(db)
        .where('id', '=', id)
        .where('is_listed', '=', cameFor.agentPicture)
        .executeTakeFirst()
      if (row) await removeUnheld([id], Number.MAX_SAFE_INTEGER, options, worker)
    },
    get: async (id, caller) => {
      const file = await own(id, caller)
      // Another process may have accepted it and died.
      if (file.status === 'PROCESSING') worker.notify()
      return file
    },
    read: async (id, caller, signal) => readings.of(await own(id, caller), signal),
    sheets: async (id, caller) => readSheets(await own(id, caller), blobs, readings),
    remove: async (id, caller) => {
      const file = await own(id, caller)
      const use = await useOf(file, options)
      if (isUsed(use)) return use
      // Hidden first: earlier uses are visible now, and new ones are impossible.
      await hideFile(db, file.id, options.now() + decisionMs)
      const lateUse = await decide(file, options)
      worker.notify()
      return lateUse
    },
    removeUnheld: (ids, { unusedSince }) => removeUnheld(ids, unusedSince, options, worker),
    sections: (file, signal) => readings.of(file, signal),
    bytes: (file) => blobs.readAll(file.fileId, file.sizeBytes),
    ...indexingOf(options, readings, worker),
    worker,
    close: async () => {
      closing.abort(new InlayError('CLOSED'))
      await worker.close()
    },
  }
}

function indexingOf(
  { db, index }: FilesOptions,
  readings: Readings,
  worker: FileWorker,
): Pick<SqlFiles, 'wantIndexed' | 'ensureIndexed'> {
  return {
    wantIndexed: async (ids) => {
      if (ids.length === 0) return
      await db
        .updateTable('inlay_files')
        .set({ is_indexed: 1 })
        .where(isAmong(db, 'id', ids))
        .execute()
      await queueForIndex(db, ids)
      worker.notify()
    },
    ensureIndexed: async (wanted, waitMs) => {
      const deadline = performance.now() + waitMs
      const missing = await notIndexed(db, idsOf(wanted))
      for (const file of wanted.filter(({ id }) => missing.has(id))) {
        const { id, ownerId, name, createdAt } = file
        const sections = await readings.of(file)
        const waitMsLeft = Math.max(0, deadline - performance.now())
        await index?.put({ id, ownerId, name, sections, createdAt }, { waitMs: waitMsLeft })
        const done = { is_indexed: 1, work: null, attempts: 0 }
        const noted = await db
          .updateTable('inlay_files')
          .set(done)
          .where('id', '=', id)
          .where(isSettled)
          .executeTakeFirst()
        // Removed in the meantime.
        if (noted.numUpdatedRows === 0n) await index?.remove(id)
      }
    },
  }
}

async function readSheets(file: StoredFile, blobs: Blobs, readings: Readings): Promise<readonly Sheet[]> {
  if (file.kind !== 'tabular') {
    throw new InlayError('INVALID_INPUT', {
      message: 'Only spreadsheets are shown as sheets: leave out parsed=true.',
    })
  }
  const sections = await readings.of(file)
  if (!file.mediaType.startsWith('text/')) return toSheets(sections)
  // Its own rows are closer to the file than those of a table made of them.
  const csv = decodeUnicode(await blobs.readAll(file.fileId, file.sizeBytes))
  if (csv !== undefined) return [cutSheet(file.name, csv)]
  // Other encodings are known to the reader alone, which leaves the rows as they are or makes a table of them.
  const text = sections.map((section) => section.text).join('\n')
  return [cutSheet(file.name, text.startsWith('|') ? toCsv(text) : text)]
}

/** If a process dies before deciding whether a file is removed, a worker decides after this time. */
const decisionMs = 20_000

async function useOf(file: StoredFile, options: FilesOptions): Promise<FileHolders> {
  const projects = await projectsWith(options.db, file.id)
  const personas = await options.personasWith(file.id)
  return { projects, personas, isInDocument: await isNamed(file, options) }
}

const isUsed = ({ projects, personas, isInDocument }: FileHolders): boolean =>
  isInDocument || projects.length + personas.length > 0

/** Removes a hidden file, or shows it again when it was put to use just before. */
async function decide(file: StoredFile, options: FilesOptions): Promise<FileHolders> {
  const use = await useOf(file, options)
  await (isUsed(use) ? showFile(options.db, file.id) : queueRemoval(options.db, file.id))
  return use
}

async function removeUnheld(
  ids: readonly string[],
  unusedSince: number,
  options: FilesOptions,
  worker: FileWorker,
): Promise<number> {
  if (ids.length === 0) return 0
  // One statement for each index: joined by `or`, PostgreSQL would read the whole table.
  const queries = ['id', 'file_id'].map((column) =>
    visible(options.db)
      .where(isAmong(options.db, column, ids))
      .where((of) => of.fn.coalesce('used_at', 'created_at'), '<', unusedSince)
      .execute(),
  )
  const rows = new Map((await Promise.all(queries)).flat().map((row) => [row.id, row]))
  let count = 0
  for (const file of [...rows.values()].map(toStoredFile)) {
    if (isUsed(await useOf(file, options))) continue
    // A message may have been sent with it meanwhile.
    if (!(await hideFile(options.db, file.id, options.now() + decisionMs, unusedSince))) continue
    if (!isUsed(await decide(file, options))) count++
  }
  worker.notify()
  return count
}

/** Documents name a file by either of its ids. */
async function isNamed({ id, fileId }: StoredFile, { isInDocument }: FilesOptions): Promise<boolean> {
  return isInDocument !== undefined && ((await isInDocument(fileId)) || isInDocument(id))
}

type Lookups = Pick<SqlFiles, 'find' | 'list' | 'open' | 'openById' | 'check' | 'byIds' | 'noteUse'>

/** Files whose records are read in one go when all are checked. */
const checkedAtOnce = 100

async function isWhole(blobs: Blobs, { fileId, sizeBytes }: StoredFile): Promise<boolean> {
  try {
    for await (const _ of blobs.stream(fileId, sizeBytes));
    return true
  } catch (error) {
    if (isInlayError(error) && error.code === 'GONE') return false
    throw error
  }
}

function createLookups({
  db,
  now,
  blobs,
  own,
}: FilesOptions & { blobs: Blobs; own: (id: string, caller: Principal) => Promise<StoredFile> }): Lookups {
  const opened = (file: StoredFile): OpenedFile => ({ file, bytes: blobs.stream(file.fileId, file.sizeBytes) })
  return {
    find: (ids, caller) => findOwn(db, ids, caller.id),
    list: async (caller) => {
      const rows = await visible(db)
        .where('owner_id', '=', caller.id)
        .where('is_listed', '=', cameFor.upload)
        .where('status', '!=', 'FAILED')
        .orderBy((of) => of.fn.coalesce('used_at', 'created_at'), 'desc')
        .orderBy('id')
        .limit(1000)
        .execute()
      return rows.map(toStoredFile)
    },
    open: async (id, caller) => opened(await own(id, caller)),
    openById: async (id) => {
      const row = await visible(db)
        .where((of) => of.or([of('id', '=', id), of('file_id', '=', id)]))
        .executeTakeFirst()
      if (row) return opened(toStoredFile(row))
      throw noFile()
    },
    check: async (signal) => {
      const lost: string[] = []
      let files = 0
      for (let after = ''; ;) {
        const rows = await visible(db)
          .where('id', '>', after)
          .where('status', '!=', 'FAILED')
          .orderBy('id')
          .limit(checkedAtOnce)
          .execute()
        for (const file of rows.map(toStoredFile)) {
          signal.throwIfAborted()
          if (!(await isWhole(blobs, file))) lost.push(file.id)
        }
        files += rows.length
        if (rows.length < checkedAtOnce) return { files, lost }
        after = rows.at(-1)!.id
      }
    },
    byIds: async (ids) => {
      if (ids.length === 0) return []
      const rows = await visible(db)
        .where(isAmong(db, 'id', ids))
        .execute()
      const byId = new Map(rows.map((row) => [row.id, toStoredFile(row)]))
      return ids.flatMap((id) => byId.get(id) ?? [])
    },
    noteUse: async (ids) => {
      if (ids.length === 0) return
      const { numUpdatedRows } = await db
        .updateTable('inlay_files')
        .set({ used_at: now() })
        .where(isAmong(db, 'id', ids))
        .where(isPresent)
        .executeTakeFirst()
      // Removed meanwhile.
      if (numUpdatedRows < new Set(ids).size) throw noFile()
    },
  }
}

/** Read and not being removed. */
const isSettled = (of: ExpressionBuilder<ConversationTables, 'inlay_files'>) =>
  of.or([of('work', 'is', null), of('work', '=', 'index')])

const visible = (db: ConversationDatabase) => db.selectFrom('inlay_files').selectAll().where(isPresent)

/** An owner's files by either of their ids, in the order given. */
async function findOwn(db: ConversationDatabase, ids: readonly string[], ownerId: string): Promise<StoredFile[]> {
  const byEitherId = new Map<string, StoredFile>()
  const rows = await visible(db)
    .where('owner_id', '=', ownerId)
    .where((of) => of.or([isAmong(db, 'id', ids), isAmong(db, 'file_id', ids)]))
    .execute()
  for (const row of rows) byEitherId.set(row.id, toStoredFile(row)).set(row.file_id, toStoredFile(row))
  return [...new Set(ids)].flatMap((id) => byEitherId.get(id) ?? [])
}

/** Ids of files that are read but not indexed yet. */
async function notIndexed(db: ConversationDatabase, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('inlay_files')
    .select('id')
    .where(isAmong(db, 'id', ids))
    .where((of) => of.or([of('is_indexed', '=', 0), of('work', '=', 'index')]))
    .execute()
  return new Set(idsOf(rows))
}

async function projectsWith(db: ConversationDatabase, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('inlay_project_files')
    .innerJoin('inlay_projects', 'inlay_projects.id', 'inlay_project_files.project_id')
    .select('inlay_projects.name')
    .where('inlay_project_files.id', '=', id)
    .orderBy('inlay_projects.name')
    .execute()
  return rows.map(({ name }) => name)
}

const unsupported = async (): Promise<never> => {
  throw new InlayError('UNSUPPORTED', {
    message: 'This assistant has no storage for files: hand one in to take uploads.',
  })
}

const noStorage: BlobStorage = { setItemRaw: unsupported, getItemRaw: unsupported, removeItem: unsupported }
