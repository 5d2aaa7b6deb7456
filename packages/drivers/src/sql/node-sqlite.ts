import { statSync } from 'node:fs'
import { access, chmod, constants, mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { InlayError } from '@inlay/protocol'
import {
  CompiledQuery,
  SqliteDialect,
  type Dialect,
  type Driver,
  type SqliteDatabase,
  type SqliteStatement,
} from 'kysely'

/** Where the records lie and how they are written. */
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

/**
 * Kysely dialect over Node's own SQLite: WAL, every commit synced to disk, foreign keys on, transactions that take the
 * write lock at once (so two processes cannot deadlock while upgrading a read to a write). Deleted content is
 * overwritten, and its copy in the write-ahead log goes within `emptyLogMs`. Only the user of the process may read the
 * files.
 *
 * The file is opened by the first query. Integers beyond ±(2^53 − 1) are refused when read, never rounded.
 * Any number of processes may share a file on a local disk.
 * @throws SERVICE_UNAVAILABLE when the file is locked for too long, cannot be opened or written, or the disk is full;
 * INTERNAL_ERROR when it is damaged or no database
 * @example new Kysely<Tables>({ dialect: nodeSqlite({ file: 'data/inlay.db' }) })
 */
export function nodeSqlite(options: NodeSqliteOptions): Dialect {
  const inner = new SqliteDialect({ database: () => openDatabase(options) })
  return {
    createDriver: () => immediateTransactions(inner.createDriver()),
    createQueryCompiler: () => inner.createQueryCompiler(),
    createAdapter: () => inner.createAdapter(),
    createIntrospector: (db) => inner.createIntrospector(db),
  }
}

/** The driver with another `begin` (Kysely's own would take the write lock only at the first write) and `rollback`. */
function immediateTransactions(driver: Driver): Driver {
  const rollBack = driver.rollbackTransaction.bind(driver)
  return Object.assign(driver, {
    beginTransaction: async (connection, settings) => {
      await connection.executeQuery(
        CompiledQuery.raw(settings.accessMode === 'read only' ? 'begin' : 'begin immediate'),
      )
    },
    rollbackTransaction: async (connection) => {
      try {
        await rollBack(connection)
      } catch (error) {
        // After a full disk or a failed read, SQLite has rolled back by itself. That failure is the one to report.
        if (!(error instanceof Error && error.message.includes('no transaction is active'))) throw error
      }
    },
  } satisfies Partial<Driver>)
}

async function openDatabase(options: NodeSqliteOptions): Promise<SqliteDatabase> {
  const { file, busyTimeoutMs = 5000, preparedStatements = 500, emptyLogMs = 60_000 } = options
  const inMemory = file === ':memory:'
  const waitMs = Math.max(0, Math.trunc(busyTimeoutMs))
  if (!inMemory) await prepareFile(resolve(file))
  const { DatabaseSync: Database } = await import('node:sqlite')
  const database = guarded(() => new Database(inMemory ? file : resolve(file), { timeout: busyTimeoutMs }))
  try {
    // Of older runtimes, which do not know the option `timeout`.
    database.exec(`pragma busy_timeout = ${waitMs}`)
    await switchToWal(database, busyTimeoutMs)
    // FULL: a commit that was answered survives a power cut. The limit keeps a WAL that once grew from staying large.
    database.exec('pragma synchronous = full; pragma foreign_keys = on; pragma journal_size_limit = 67108864')
    database.exec('pragma cache_size = -16000; pragma secure_delete = on')
  } catch (error) {
    database.close()
    throw toInlayError(error)
  }
  const settings = { everyMs: emptyLogMs, busyTimeoutMs: waitMs }
  const stops = inMemory
    ? []
    : [emptyLogRegularly(database, resolve(file), settings), copyLogElsewhere(database, resolve(file))]
  return withStatementCache(database, preparedStatements, () => stops.forEach((stop) => stop()))
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
    // Of another owner, or on a file system without modes: left as it is.
    for (const name of [file, `${file}-wal`, `${file}-shm`]) await chmod(name, 0o600).catch(() => {})
  } catch (cause) {
    throw new InlayError('SERVICE_UNAVAILABLE', { message: meanings[14], cause, retryable: false })
  }
}

/** Deleted content would stay in the log until new commits overwrite it. @returns stops it */
function emptyLogRegularly(database: DatabaseSync, file: string, { everyMs, busyTimeoutMs }: LogSettings): () => void {
  let isDueIn = triesPerPeriod
  const timer = setInterval(() => {
    isDueIn--
    // Of another process too, also when that has ended.
    if (isDueIn > 0 || (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return
    try {
      // It needs the log alone for an instant. Waiting would block the thread, and the next try will do as well.
      database.exec('pragma busy_timeout = 0')
      if (database.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] === 0) isDueIn = triesPerPeriod
    } catch {
      // In the middle of a transaction, or the disk is full: the next try.
    } finally {
      database.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
    }
  }, everyMs / triesPerPeriod)
  timer.unref()
  return () => clearInterval(timer)
}

interface LogSettings {
  readonly everyMs: number
  readonly busyTimeoutMs: number
}

const triesPerPeriod = 10

/** SQLite's own limit is 1000 pages: a commit of megabytes then copies megabytes more, and syncs twice as much. */
const pagesWithThread = 4000
const pagesAlone = 1000
/** A smaller log is left to grow. */
const smallLogBytes = 2 ** 20
const lookMs = 200

/**
 * Opens the database for each copy: as the last connection to close, the caller's then removes the log. While the log
 * grows it is copied again soon, since a commit that meets the limit copies the rest. Ends after a quiet while.
 */
const program = `
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

/**
 * Copies the write-ahead log into the database from another thread while it grows, since a commit would have to do so
 * otherwise. Where threads cannot be started, commits do. @returns ends it
 */
function copyLogElsewhere(database: DatabaseSync, file: string): () => void {
  const log = `${file}-wal`
  let worker: Worker | undefined
  let writtenAt = 0
  const stop = (): void => {
    clearInterval(timer)
    void worker?.terminate()
  }
  const giveUp = (): void => {
    stop()
    if (database.isOpen) database.exec(`pragma wal_autocheckpoint = ${pagesAlone}`)
  }
  const timer = setInterval(() => {
    try {
      const { size = 0, mtimeMs = 0 } = statSync(log, { throwIfNoEntry: false }) ?? {}
      if (size < smallLogBytes || mtimeMs === writtenAt) return
      writtenAt = mtimeMs
      const workerData = { file, log, smallLogBytes }
      worker ??= new Worker(program, { eval: true, name: 'inlay log', workerData, execArgv: [], env: {} })
    } catch {
      return giveUp()
    }
    if (worker.listenerCount('exit') === 0) {
      worker.on('error', giveUp).on('exit', () => (worker = undefined))
      worker.unref()
    }
    worker.postMessage(undefined)
  }, lookMs)
  timer.unref()
  database.exec(`pragma wal_autocheckpoint = ${pagesWithThread}`)
  return stop
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

/** Gives the database the shape that Kysely's SQLite dialect takes, with prepared statements kept by their SQL. */
function withStatementCache(database: DatabaseSync, limit: number, stop: () => void): SqliteDatabase {
  const cache = new Map<string, SqliteStatement>()
  return {
    close: () => {
      stop()
      database.close()
    },
    prepare: (sql) => {
      const known = cache.get(sql)
      if (known) return known
      const statement = toStatement(
        guarded(() => database.prepare(sql)),
        // A statement that is being iterated must not be reset by another use of the same SQL.
        () => guarded(() => database.prepare(sql)),
      )
      if (changesSchema.test(sql)) cache.clear()
      else {
        if (cache.size >= limit) cache.delete(cache.keys().next().value!)
        cache.set(sql, statement)
      }
      return statement
    },
  }
}

const changesSchema = /^\s*(create|alter|drop|pragma|vacuum|attach|detach)\b/i

function toStatement(statement: StatementSync, fresh: () => StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => guarded(() => statement.all(...parameters.map(toInput))),
    run: (parameters) => guarded(() => statement.run(...parameters.map(toInput))),
    iterate: (parameters) => fresh().iterate(...parameters.map(toInput)),
  }
}

/** Whole numbers go in as integers: Node binds every number as a float, which a text or untyped column would show. */
function toInput(value: unknown): SQLInputValue {
  // What is no SQL value is refused by `node:sqlite` itself.
  return Number.isSafeInteger(value) ? BigInt(value as number) : (value as SQLInputValue)
}

function guarded<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw toInlayError(error)
  }
}

/** What an operator has to know, by SQLite's primary result code; other failures (constraints, …) pass as they are. */
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

function toInlayError(cause: unknown): unknown {
  const code = primaryCode(cause)
  const message = code === undefined ? undefined : meanings[code]
  if (message === undefined) return cause
  if (code === 11 || code === 26) return new InlayError('INTERNAL_ERROR', { message, cause, retryable: false })
  return new InlayError('SERVICE_UNAVAILABLE', { message, cause, retryable: code === 5 || code === 6 })
}

/** SQLite's primary result code: the low byte of what Node reports. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}
