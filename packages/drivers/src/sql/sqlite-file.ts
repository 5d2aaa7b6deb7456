import { access, chmod, constants, mkdir, open, type FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { InlayError } from '@inlay/protocol'
import { SqliteAdapter } from 'kysely'

/** Location of the records and how they are written. */
export interface NodeSqliteOptions {
  /** Path of the database file; its folder is made when missing. `:memory:` keeps nothing. */
  readonly file: string
  /** Longest wait for another process that is writing, in milliseconds; the thread waits too. Default 5000. */
  readonly busyTimeoutMs?: number
  /** Most statements kept prepared, at least 1. Default 500. */
  readonly preparedStatements?: number
  /**
   * How often the write-ahead log is emptied, in milliseconds, if anything was written. Default a minute. Deleted content
   * is overwritten in the database at once, and gone from the log after this time.
   */
  readonly emptyLogMs?: number
}

/** Records that were opened. */
interface OpenDatabase {
  readonly database: DatabaseSync
  readonly file: string
  /** Path of the write-ahead log; undefined where there is none. */
  readonly log: string | undefined
  /** To sync the log by; undefined where SQLite does so with every commit. */
  readonly handle: FileHandle | undefined
}

/** The one connection to the file. */
export interface Records {
  readonly database: DatabaseSync
  /** Resolves when the last of those who wait has had the connection. */
  last: Promise<void>
  /** @throws what SQLite says of the statement */
  prepare(sql: string, values: readonly unknown[], isFresh?: boolean): Prepared
  /**
   * Resolves once all that was committed before is on the disk.
   * @param hasWritten whether the caller has just committed
   * @throws SERVICE_UNAVAILABLE when the disk fails
   */
  synced(hasWritten: boolean): Promise<void>
  close(): Promise<void>
}

export interface Prepared {
  readonly statement: StatementSync
  readonly kind: ReturnType<typeof kindOf>
  readonly givesRows: boolean
  readonly values: readonly SQLInputValue[]
}

/** @throws SERVICE_UNAVAILABLE, INTERNAL_ERROR, see `nodeSqlite` */
export async function openDatabase({ file: given, busyTimeoutMs = 5000 }: NodeSqliteOptions): Promise<OpenDatabase> {
  const file = given === ':memory:' ? given : resolve(given)
  if (given !== ':memory:') await prepareFile(file)
  const { DatabaseSync: Database } = await import('node:sqlite')
  let database: DatabaseSync | undefined
  try {
    database = new Database(file, { timeout: busyTimeoutMs })
    // For older runtimes, which do not support the option `timeout`.
    database.exec(`pragma busy_timeout = ${Math.max(0, Math.trunc(busyTimeoutMs))}`)
    await switchToWal(database, busyTimeoutMs)
    // A WAL that once grew does not stay large.
    database.exec('pragma journal_size_limit = 67108864; pragma foreign_keys = on')
    database.exec('pragma cache_size = -16000; pragma secure_delete = on')
    const isLogged = database.prepare('pragma journal_mode').get()?.['journal_mode'] === 'wal'
    // The log is there from the first read on, beside the file that a link leads to.
    database.exec('select 1 from sqlite_schema')
    const log = isLogged ? `${String(database.prepare('pragma database_list').get()?.['file'])}-wal` : undefined
    const handle = log === undefined ? undefined : await openToSync(log)
    // NORMAL: no commit waits for the disk with this thread; the driver has another one sync the log.
    database.exec(`pragma synchronous = ${handle ? 'normal' : 'full'}`)
    return { database, file, log, handle }
  } catch (error) {
    database?.close()
    throw toInlayError(error)
  }
}

/** @returns undefined where the runtime does not let this process sync files by itself */
async function openToSync(log: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined
  try {
    // Writable: Windows syncs nothing else. SQLite has no locks on this file that closing it would lose.
    handle = await open(log, 'r+')
    await handle.datasync()
    return handle
  } catch {
    await handle?.close()
    return undefined
  }
}

/** Makes the folder and the file, and takes its files from everybody else; SQLite gives its log the mode of the file. */
async function prepareFile(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await access(file, constants.R_OK | constants.W_OK).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      // An empty file is an empty database.
      await (await open(file, 'a', 0o600)).close()
    })
    // Files of another owner, or on a file system without modes, are left unchanged.
    for (const name of [file, `${file}-wal`, `${file}-shm`]) await chmod(name, 0o600).catch(() => {})
  } catch (cause) {
    throw new InlayError('SERVICE_UNAVAILABLE', { message: meanings[14], cause, retryable: false })
  }
}

/** Two processes that open a new file at once both want to switch it, and SQLite does not wait for a lock held then. */
async function switchToWal(database: DatabaseSync, busyTimeoutMs: number): Promise<void> {
  const deadline = Date.now() + busyTimeoutMs
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (primaryCode(error) !== 5 || Date.now() >= deadline) throw error
      await delay(20)
    }
  }
}

/** Messages for the operator by SQLite's primary result code; other failures (constraints, …) are passed through. */
const meanings: Readonly<Record<number, string>> = {
  5: 'The records are locked by another process: stop it, or try again.',
  6: 'The records are locked by another process: stop it, or try again.',
  8: 'The records cannot be written: make the database file and its folder writable for this process.',
  10: 'Reading or writing the records failed: check the disk.',
  11: 'The records are damaged: restore the database file from a copy.',
  13: 'The disk that holds the records is full: free some space.',
  14: 'The database file cannot be opened: its folder must exist and be writable, and the path must name a file.',
  26: 'The file meant for the records is no SQLite database: name another one.',
}

/** Converts errors of SQLite for callers of the records. */
export function toInlayError(cause: unknown): unknown {
  const code = primaryCode(cause)
  const message = code === undefined ? undefined : meanings[code]
  if (message === undefined) return cause
  if (code === 11 || code === 26) return new InlayError('INTERNAL_ERROR', { message, cause, retryable: false })
  const data = code === 13 ? { isFullDisk: true } : {}
  return new InlayError('SERVICE_UNAVAILABLE', { message, cause, retryable: code === 5 || code === 6, data })
}

/** SQLite's primary result code: the low byte of what Node reports. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/**
 * After a failed sync the system may take for written what is lost, and nothing behind a gap in the log counts. So the
 * database takes all of it. @throws SERVICE_UNAVAILABLE when that is not possible now
 */
export function copyWholeLog(database: DatabaseSync): void {
  let cause: unknown = 'The log is in use.'
  try {
    const { log, checkpointed } = database.prepare('pragma wal_checkpoint(passive)').get() ?? {}
    if (log === checkpointed) return
  } catch (error) {
    cause = error
  }
  throw toInlayError(Object.assign(new Error('The log could not be copied.', { cause }), { errcode: 10 }))
}

/** The driver gives out turns by itself: Kysely would end one only when its commit is on the disk. */
export class TurnsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** Whether a statement may write to the file. What ends a transaction does not by itself. */
export function kindOf(sql: string): 'commit' | 'read' | 'rollback' | 'write' {
  const [, word = ''] = /^\s*(\w+)/.exec(sql.toLowerCase()) ?? []
  if (word === 'commit' || word === 'rollback') return word
  if (['begin', 'end', 'explain', 'release', 'savepoint', 'select'].includes(word)) return 'read'
  return word === 'with' && !/\b(insert|update|delete|replace)\b/i.test(sql) ? 'read' : 'write'
}

/**
 * Opens the database for each copy: as the last connection to close, the caller's then removes the log. While the log
 * grows it is copied again soon, since a commit that meets the limit copies the rest. Ends after a quiet while.
 */
export const logCopier: string = `
const { parentPort, workerData: { file, log, smallLogBytes } } = require('node:worker_threads')
const { statSync } = require('node:fs')
const { DatabaseSync } = require('node:sqlite')
const idle = setTimeout(() => process.exit(), 10_000)
let [writtenAt, isCopying] = [0, false]
const copy = () => {
  const { size = 0, mtimeMs = 0 } = statSync(log, { throwIfNoEntry: false }) ?? {}
  isCopying = size >= smallLogBytes && mtimeMs !== writtenAt
  if (!isCopying) return
  writtenAt = mtimeMs
  idle.refresh()
  try {
    const database = new DatabaseSync(file)
    try { database.exec('pragma wal_checkpoint(passive)') } finally { database.close() }
  } catch {}
  setTimeout(copy, 20)
}
parentPort.on('message', () => isCopying || copy())`
