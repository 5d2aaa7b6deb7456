import { access, chmod, constants, mkdir, open, type FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { InlayError } from '@inlay/protocol'
import { SqliteAdapter } from 'kysely'
import { movingFailure } from './moving.ts'

export interface NodeSqliteOptions {
  /** Path of the database file; its folder is created. `:memory:` is not persistent. */
  readonly file: string
  /** Timeout for waiting on another process that writes, in milliseconds; it blocks the thread. Default 5000. */
  readonly busyTimeoutMs?: number
}

interface OpenDatabase {
  readonly database: DatabaseSync
  readonly file: string
  /** Path of the write-ahead log; undefined if there is none. */
  readonly log: string | undefined
  /** File handle for syncing the log; undefined if SQLite syncs every commit itself. */
  readonly handle: FileHandle | undefined
}

/** The single connection to the file. */
export interface Records {
  readonly database: DatabaseSync
  /** Resolves when all waiting users have had the connection. */
  last: Promise<void>
  /** @throws the error of SQLite for an invalid statement */
  prepare(sql: string, values: readonly unknown[], isFresh?: boolean): Prepared
  /**
   * When all commits so far are on disk; `hasWritten`: the caller has just committed. @throws SERVICE_UNAVAILABLE for a
   * failing disk
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

/** @throws UNSUPPORTED for a Node without SQLite; SERVICE_UNAVAILABLE, INTERNAL_ERROR, see `nodeSqlite` */
export async function openDatabase({ file: given, busyTimeoutMs = 5000 }: NodeSqliteOptions): Promise<OpenDatabase> {
  const file = given === ':memory:' ? given : resolve(given)
  if (given !== ':memory:') await prepareFile(file)
  const { DatabaseSync: Database } = await import('node:sqlite').catch((cause: unknown) => {
    throw new InlayError('UNSUPPORTED', {
      message: `SQLite needs Node 22.13 or newer, and this is Node ${process.versions.node}. Run a newer Node, or set a PostgreSQL database in INLAY_DATABASE_URL.`,
      cause,
    })
  })
  let database: DatabaseSync | undefined
  try {
    database = new Database(file, { timeout: busyTimeoutMs })
    // For older runtimes, which do not support the option `timeout`.
    database.exec(`pragma busy_timeout = ${Math.max(0, Math.trunc(busyTimeoutMs))}`)
    await switchToWal(database, busyTimeoutMs)
    // Truncates a log that has grown large.
    database.exec('pragma journal_size_limit = 67108864; pragma foreign_keys = on')
    database.exec('pragma cache_size = -16000; pragma secure_delete = on')
    const isLogged = database.prepare('pragma journal_mode').get()?.['journal_mode'] === 'wal'
    // The first read creates the log, next to the file that a symbolic link points to.
    database.exec('select 1 from sqlite_schema')
    const log = isLogged ? `${String(database.prepare('pragma database_list').get()?.['file'])}-wal` : undefined
    const handle = log === undefined ? undefined : await openToSync(log)
    // NORMAL: commits do not sync on this thread; the driver syncs the log on another one.
    database.exec(`pragma synchronous = ${handle ? 'normal' : 'full'}`)
    return { database, file, log, handle }
  } catch (error) {
    database?.close()
    throw toInlayError(error)
  }
}

/** @returns undefined if the runtime does not allow this process to sync files itself */
async function openToSync(log: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined
  try {
    // Writable, which Windows requires for syncing. SQLite holds no locks on this file that closing it would release.
    handle = await open(log, 'r+')
    await handle.datasync()
    return handle
  } catch {
    await handle?.close()
    return undefined
  }
}

function ifExists(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error
}

/** Creates the folder and the file, readable only by the owner; SQLite gives its log the mode of the file. */
async function prepareFile(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await access(file, constants.R_OK | constants.W_OK).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      // An empty file is an empty database. One that came meanwhile is left alone: to close it would take the locks of
      // another connection of this process away.
      await (await open(file, 'ax', 0o600).catch(ifExists))?.close()
    })
    // Files of another owner, or on a file system without modes, are left unchanged.
    for (const name of [file, `${file}-wal`, `${file}-shm`]) await chmod(name, 0o600).catch(() => {})
  } catch (cause) {
    throw new InlayError('SERVICE_UNAVAILABLE', { message: meanings[14], cause, retryable: false })
  }
}

/** SQLite does not wait for the lock if two processes that open a new file both try to switch it. */
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
  5: 'The database is locked by another process: stop it, or try again.',
  6: 'The database is locked by another process: stop it, or try again.',
  8: 'The database cannot be written: make the database file and its folder writable for this process.',
  10: 'Reading or writing the database failed: check the disk.',
  11: 'The database is damaged: restore the file from a backup.',
  13: 'The disk of the database is full: free some space.',
  14: 'The database file cannot be opened: its folder must exist and be writable, and the path must be a file.',
  26: 'The database file is not a SQLite database: use another path.',
}

export function toInlayError(cause: unknown): unknown {
  const moving = movingFailure(cause)
  if (moving) return moving
  const code = primaryCode(cause)
  const message = code === undefined ? undefined : meanings[code]
  if (message === undefined) return cause
  if (code === 11 || code === 26) return new InlayError('INTERNAL_ERROR', { message, cause, retryable: false })
  const data = code === 13 ? { isFullDisk: true } : {}
  return new InlayError('SERVICE_UNAVAILABLE', { message, cause, retryable: code === 5 || code === 6, data })
}

/** SQLite's primary result code: the low byte of the code that Node reports. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** After a failed sync, lost data may count as written, and all after a gap is ignored. @throws SERVICE_UNAVAILABLE */
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

/** The driver manages turns itself: Kysely would end a turn only when its commit is on disk. */
export class TurnsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** Whether a statement may write to the file. The statements that end a transaction do not write themselves. */
export function kindOf(sql: string): 'commit' | 'read' | 'rollback' | 'write' {
  const [, word = ''] = /^\s*(\w+)/.exec(sql.toLowerCase()) ?? []
  if (word === 'commit' || word === 'rollback') return word
  if (['begin', 'end', 'explain', 'release', 'savepoint', 'select'].includes(word)) return 'read'
  return word === 'with' && !/\b(insert|update|delete|replace)\b/i.test(sql) ? 'read' : 'write'
}

/** Opens the database each time: as the last connection to close, the caller's then removes the log. */
export const logCopier: string = `
const { parentPort, workerData: { file } } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const idle = setTimeout(() => process.exit(), 10_000)
parentPort.on('message', () => {
  idle.refresh()
  try {
    const database = new DatabaseSync(file)
    try { database.exec('pragma wal_checkpoint(passive)') } finally { database.close() }
  } catch {}
  parentPort.postMessage(undefined)
})`
