import { keysOfFile, type BlobStorage } from '@inlay/conversations'
import { createIndexCopy, type IndexCopy, type VectorIndex } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import {
  copiedTables,
  copyRows,
  copySequence,
  countRows,
  dropNoted,
  forgetChanges,
  changesTable,
  keysOf,
  noteKeys,
  notedChanges,
  onChanges,
  type AnyDatabase,
  type CopiedTable,
  type RowKey,
} from '@inlay/records'
import { Kysely, sql } from 'kysely'
import { resolve } from 'node:path'
import { databaseFile, defaultDataFolder, filesFolder, indexFolder, prepareDataFolder } from '../data-folder.ts'
import { engineAddresses } from '../options/engines.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { closeAll, type Closable } from './destroy-parts.ts'
import { withEngines } from './engine-parts.ts'
import { defaultStorage } from './file-parts.ts'
import { defaultIndex } from './knowledge-parts.ts'
import { checkNote, readMove, writeMove, type MoveNote } from './move-note.ts'
import { migrateAll } from './open-tables.ts'
import { defaultDialect } from './records-of-folder.ts'

/** Where an installation stores its data, without a service on it. */
export interface Stores extends Closable {
  readonly db: AnyDatabase
  readonly index: VectorIndex
  readonly storage: BlobStorage
  /** The same texts for the same places. */
  readonly places: Readonly<Record<'records' | 'index' | 'files', string>>
}

/** Opens the stores of an installation. Nothing is connected before it is used, apart from a bucket. */
export async function openStores(options: InlayOptions, onError: (error: unknown) => void): Promise<Stores> {
  const opened: Closable[] = []
  const { dataFolder = defaultDataFolder, enginePrefix: prefix = 'inlay', s3 } = options
  const { database, index = database, files } = engineAddresses(options)
  const given = await withEngines(options, opened, onError)
  if (!given.database || !given.index || !given.files) await prepareDataFolder(dataFolder)
  const db: AnyDatabase = new Kysely({ dialect: given.database ?? (await defaultDialect(dataFolder)) })
  opened.push({ close: () => db.destroy() })
  const isOnServer = index !== undefined && index !== 'folder'
  return {
    db,
    index: given.index ?? (await defaultIndex(dataFolder, undefined)),
    storage: given.files ?? (await defaultStorage(dataFolder)),
    places: {
      records: database ?? resolve(databaseFile(dataFolder)),
      index: isOnServer ? `${index} ${prefix}` : resolve(indexFolder(dataFolder)),
      files: files === undefined ? resolve(filesFolder(dataFolder)) : `${s3?.endpoint} ${files}`,
    },
    close: () => closeAll(opened.toReversed()),
  }
}

/** Kept up to date by triggers, or of one database only. */
const notCopied = new Set([
  'inlay_figures',
  'inlay_document_names',
  'inlay_pair_counts',
  'inlay_processes',
  changesTable,
])

/** Migrations, and the tables of an index in the same database. */
const notOfRecords = /_migration$|_index_(?:\d+_)?(?:rows|words|meta)$/

export const movedTables = (db: AnyDatabase): Promise<CopiedTable[]> =>
  copiedTables(db, (name) => !notCopied.has(name) && !notOfRecords.test(name))

/** Ends a move: the data is in use here again. @returns whether there was one */
export async function cancelMove({ db }: Pick<Stores, 'db'>): Promise<boolean> {
  const note = await readMove(db)
  if (note === undefined || note.state === 'arriving') return false
  // A move under way ends.
  await writeMove(db, { ...note, state: 'leaving', at: new Date().toISOString() }, note)
  await forgetChanges(db, await movedTables(db))
  await writeMove(db, undefined)
  return true
}

export interface Moved {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Documents whose passages were not in the old index: the new one makes them again. */
  readonly documentsWithoutPassages: number
  /** Files that lack bytes in the old storage. */
  readonly filesWithoutBytes: number
  /** How long writes were refused before everything was there. */
  readonly readOnlyMs: number
}

export interface MoveOptions {
  /** The places without users and passwords. */
  readonly places: { readonly from: string; readonly to: string }
  readonly signal: AbortSignal
  /** Called for each step, with the number of rows in it, and then with the number done. */
  readonly onStep: (what: string, total: number) => (done: number) => void
}

/** Keys read and compared at once. Some tables have long rows; an index may look at all of its rows for each read. */
const [pageRows, pageDocuments] = [200, 1000]
const pageOf = ({ name }: CopiedTable): number => (name === 'inlay_documents' ? pageDocuments : pageRows)
const filesAtOnce = 8
const notedAtOnce = 2000
/** Rounds until writes wait for the rest, where people change more than is copied. */
const maxRounds = 30
const briefMs = 1000

/**
 * Moves all data while the old installation serves: copies it, follows the changes, compares everything once more,
 * refuses writes, copies the last changes and counts. A move that was interrupted goes on where it was.
 */
export async function moveData(from: Stores, to: Stores, options: MoveOptions): Promise<Moved> {
  const { places, signal } = options
  const at = new Date().toISOString()
  const known = await readMove(from.db)
  // A place where an earlier move was given up lacks what was deleted since.
  const id = known?.place === places.to ? known.id : crypto.randomUUID()
  const note: MoveNote = { id, state: 'leaving', place: places.to, at }
  await Promise.all([from, to].map(({ db }) => migrateAll(db, 'expand')))
  // Without what only earlier versions used.
  const columnsOf = new Map((await movedTables(to.db)).map(({ name, columns }) => [name, new Set(columns)]))
  const tables = (await movedTables(from.db)).flatMap((table) => {
    const columns = columnsOf.get(table.name)
    return columns ? [{ ...table, columns: table.columns.filter((column) => columns.has(column)) }] : []
  })
  if (known?.state === 'moved') await writeMove(to.db, undefined)
  if (known?.state === 'moved') throw new InlayError('CONFLICT', { message: `The data was moved to ${known.place}.` })
  await writeMove(from.db, note, known)
  await onChanges(from.db, tables, 'note')
  if (!(await readMove(to.db))) {
    // What migrations put into new tables.
    for (const { name } of tables) await sql`delete from ${sql.table(name)}`.execute(to.db)
    await writeMove(to.db, { id, state: 'arriving', place: places.from, at })
  }
  const isSameIndex = from.places.index === to.places.index
  const index = isSameIndex ? undefined : createIndexCopy({ db: from.db, from: from.index, to: to.index })
  try {
    const copy = createCopy({ from, to, tables, index, note }, options)
    await copy.all('Copying', false)
    await copy.changes(false)
    await copy.all('Comparing', true)
    await index?.finish()
    await copy.changes(false)
    signal.throwIfAborted()
    const moved = await finish({ from, to, tables, index, note }, copy)
    await writeMove(from.db, { ...note, state: 'moved', at: new Date().toISOString() }, note)
    await onChanges(from.db, tables, 'inlay_moved')
    await writeMove(to.db, undefined)
    return moved
  } finally {
    await index?.close()
  }
}

interface CopyParts {
  readonly from: Stores
  readonly to: Stores
  readonly tables: readonly CopiedTable[]
  /** Undefined if both installations have the same index. */
  readonly index: IndexCopy | undefined
  readonly note: MoveNote
}

interface Copy {
  /** Goes through all rows. @param compares whether files and passages that are there are compared, too */
  all(what: string, compares: boolean): Promise<void>
  /** Copies what changed, until the rest takes about a second; the last time until nothing is left. */
  changes(isLast: boolean): Promise<void>
  readonly lost: ReadonlySet<string>
}

function createCopy({ from, to, tables, index, note }: CopyParts, { signal, onStep }: MoveOptions): Copy {
  const lost = new Set<string>()
  /** Files whose bytes are there; they never change. */
  const kept = new Set<string>()
  const hasFiles = from.places.files !== to.places.files

  async function copyFile(id: string, compares: boolean): Promise<void> {
    const { rows } = await sql<{ file_id: string; size_bytes: unknown }>`
      select file_id, size_bytes from inlay_files where id = ${id}`.execute(from.db)
    for (const { file_id: fileId, size_bytes: size } of rows) {
      if (kept.has(fileId) && !compares) continue
      lost.delete(fileId)
      for (const key of keysOfFile(fileId, Number(size))) {
        signal.throwIfAborted()
        const [bytes, present] = await Promise.all([bytesOf(from.storage, key), bytesOf(to.storage, key)])
        if (!bytes) lost.add(fileId)
        else if (!present?.equals(bytes)) await to.storage.setItemRaw(key, bytes)
        else continue
        if (bytes && compares && !(await bytesOf(to.storage, key))?.equals(bytes))
          throw new InlayError('SERVICE_UNAVAILABLE', { message: `The new storage of files does not keep ${key}.` })
      }
      kept.add(fileId)
    }
  }

  async function settle(table: CopiedTable, keys: readonly RowKey[], compares: boolean): Promise<void> {
    signal.throwIfAborted()
    await checkNote(from.db, note)
    // Before the records, so that a move that was interrupted in between copies them again.
    if (table.name === 'inlay_files' && hasFiles)
      for (let at = 0; at < keys.length; at += filesAtOnce)
        await Promise.all(keys.slice(at, at + filesAtOnce).map(([id]) => copyFile(String(id), compares)))
    if (table.name === 'inlay_documents')
      await index?.copy(
        keys.map(([id]) => String(id)),
        compares,
      )
    const { rows, unsettled } = await copyRows(from.db, to.db, table, keys)
    await noteKeys(from.db, table, unsettled)
    if (table.name !== 'inlay_files' || !hasFiles) return
    for (const { before, after } of rows)
      if (before && !after)
        for (const key of keysOfFile(String(before['file_id']), Number(before['size_bytes'])))
          await to.storage.removeItem(key)
  }

  return {
    lost,
    all: async (what, compares) => {
      const counts = await Promise.all(tables.map((table) => countRows(from.db, table)))
      const show = onStep(
        what,
        counts.reduce((sum, count) => sum + count, 0),
      )
      let done = 0
      for (const table of tables)
        for await (const keys of keysOf(from.db, table, pageOf(table))) {
          await settle(table, keys, compares)
          show((done += keys.length))
        }
    },
    changes: async (isLast) => {
      for (let rounds = 1; ; rounds++) {
        const began = performance.now()
        const noted = await notedChanges(from.db, notedAtOnce)
        for (const [name, keys] of noted.keys) {
          const table = tables.find((each) => each.name === name)
          for (let at = 0; table && at < keys.length; at += pageOf(table))
            await settle(table, keys.slice(at, at + pageOf(table)), false)
        }
        await dropNoted(from.db, noted)
        const isFull = noted.ids.length === notedAtOnce
        if (noted.ids.length === 0) return
        if (!isLast) {
          // What came meanwhile takes no longer than this round.
          const isBrief = !isFull && performance.now() - began < briefMs
          if (isBrief || rounds >= maxRounds) return
        } else if (isFull) rounds = 0
        // The same ones again and again.
        else if (rounds >= maxRounds)
          throw new InlayError('INTERNAL_ERROR', {
            message: `Rows of ${[...noted.keys.keys()].join()} cannot be written to the new database as they are.`,
          })
      }
    },
  }
}

export async function bytesOf(storage: BlobStorage, key: string): Promise<Buffer | undefined> {
  const value = await storage.getItemRaw(key)
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined
}

/** Refuses writes until everything is in the new place; if that fails, writes go on. */
async function finish({ from, to, tables, index, note }: CopyParts, copy: Copy): Promise<Moved> {
  const began = performance.now()
  await checkNote(from.db, note)
  try {
    await onChanges(from.db, tables, 'inlay_moving')
    await copy.changes(true)
    const missing = (await index?.finish()) ?? []
    const rows: Record<string, number> = {}
    for (const table of tables) {
      const [here, there] = await Promise.all([countRows(from.db, table), countRows(to.db, table)])
      if (here !== there)
        throw new InlayError('INTERNAL_ERROR', {
          message: `${table.name} has ${here} rows, and ${there} in the new database. Run the command again.`,
        })
      rows[table.name] = there
      await copySequence(from.db, to.db, table)
    }
    const readOnlyMs = Math.round(performance.now() - began)
    return { rows, documentsWithoutPassages: missing.length, filesWithoutBytes: copy.lost.size, readOnlyMs }
  } catch (error) {
    await checkNote(from.db, note)
    await onChanges(from.db, tables, 'note')
    throw error
  }
}
