import { statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import {
  CompiledQuery,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { yieldToEventLoop } from '@inlay/protocol/concurrency'
import { copyWholeLog, kindOf, logCopier, openDatabase, toInlayError, TurnsAdapter } from './sqlite-file.ts'
import type { NodeSqliteOptions, Prepared, Records } from './sqlite-file.ts'

export type { NodeSqliteOptions }

/**
 * Kysely dialect over Node's own SQLite: WAL, every commit on the disk before its promise resolves, foreign keys on,
 * transactions that take the write lock at once (so two processes cannot deadlock while upgrading a read to a write).
 * Deleted content is overwritten, and its copy in the write-ahead log goes within `emptyLogMs`. Only the user of the
 * process may read the files.
 *
 * The file is opened by the first query. Integers beyond ±(2^53 − 1) are refused when read, never rounded.
 * Any number of processes may share a file on a local disk.
 * @throws SERVICE_UNAVAILABLE when the file is locked for too long, cannot be opened or written, or the disk is full;
 * INTERNAL_ERROR when it is damaged or no database
 * @example new Kysely<Tables>({ dialect: nodeSqlite({ file: 'data/inlay.db' }) })
 */
export function nodeSqlite(options: NodeSqliteOptions): Dialect {
  return {
    createDriver: () => new RecordsDriver(options),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TurnsAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/** Reading so many rows takes milliseconds; other work runs before the caller handles them. */
const manyRows = 250

class RecordsDriver extends SqliteDriver {
  readonly #options: NodeSqliteOptions
  #records!: Records

  constructor(options: NodeSqliteOptions) {
    super({ database: async () => Promise.reject(new Error('It is opened by `init`.')) })
    this.#options = options
  }

  override async init(): Promise<void> {
    const { database, file, log, handle } = await openDatabase(this.#options)
    const { busyTimeoutMs = 5000, preparedStatements = 500, emptyLogMs: everyMs = 60_000 } = this.#options
    const stops = log
      ? [emptyLogRegularly(database, log, { everyMs, busyTimeoutMs }), copyLogElsewhere(database, file, log)]
      : []
    const { synced, close } = handle
      ? createLogSync(database, handle)
      : { synced: async () => {}, close: async () => {} }
    this.#records = {
      database,
      last: Promise.resolve(),
      prepare: createStatements(database, preparedStatements),
      synced,
      close: async () => {
        for (const stop of stops) stop()
        database.close()
        await close()
      },
    }
  }

  override async acquireConnection(): Promise<Turn> {
    const records = this.#records
    const { database } = records
    const { busyTimeoutMs = 5000 } = this.#options
    let hasWritten = false
    async function enter(): Promise<void> {
      if (turn.isReleased) throw new Error('The connection was given back.')
      const before = records.last
      const { promise, resolve } = Promise.withResolvers<void>()
      records.last = promise
      turn.end = resolve
      await before
    }
    // A turn ends with its statement or transaction: whoever wraps connections may give back one of its own.
    const turn: Turn = {
      end: undefined,
      isReleased: false,
      executeQuery: async <Row>({ sql, parameters }: CompiledQuery) => {
        if (!turn.end) await enter()
        let result: QueryResult<Row>
        let synced: Promise<void> | undefined
        try {
          if (emptiesLog.test(sql)) return { rows: [truncateLog(database, busyTimeoutMs) as Row] }
          const { statement, kind, givesRows, values } = records.prepare(sql, parameters)
          if (givesRows) result = { rows: statement.all(...values) as Row[] }
          else {
            const { changes, lastInsertRowid } = statement.run(...values)
            result = { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
          }
          if (kind === 'write') hasWritten = true
          if (database.isTransaction) return result
          // A transaction that found everything already written must not report that before the writer's data is
          // synced.
          if (kind === 'commit' || (hasWritten && kind !== 'rollback')) synced = records.synced(hasWritten)
          hasWritten = false
        } catch (error) {
          throw toInlayError(error)
        } finally {
          if (!database.isOpen || !database.isTransaction) turn.end = void turn.end?.()
        }
        await synced
        if (result.rows.length >= manyRows) await yieldToEventLoop()
        return result
      },
      streamQuery: async function* <Row>({ sql, parameters }: CompiledQuery) {
        if (!turn.end) await enter()
        try {
          // A statement that is being iterated must not be reset by another use of the same SQL.
          const { statement, kind, values } = records.prepare(sql, parameters, true)
          // Its rows would come before it is committed.
          if (kind !== 'read') throw new Error('Only reads can be streamed.')
          for (const row of statement.iterate(...values)) yield { rows: [row as Row] }
        } catch (error) {
          throw toInlayError(error)
        } finally {
          if (!database.isOpen || !database.isTransaction) turn.end = void turn.end?.()
        }
      },
    }
    return turn
  }

  override async beginTransaction(turn: DatabaseConnection, { accessMode }: TransactionSettings = {}): Promise<void> {
    // Kysely's own would take the write lock only at the first write.
    await turn.executeQuery(CompiledQuery.raw(accessMode === 'read only' ? 'begin' : 'begin immediate'))
  }

  override async rollbackTransaction(turn: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(turn)
    } catch (error) {
      // After a full disk or a failed read, SQLite has rolled back by itself. That failure is the one to report.
      if (!(error instanceof Error && error.message.includes('no transaction is active'))) throw error
    }
  }

  override async releaseConnection(turn?: Partial<Turn>): Promise<void> {
    const { database } = this.#records
    if (!turn) return
    turn.isReleased = true
    // Otherwise the next user would be inside a manually started transaction that never ended.
    if (turn.end && database.isOpen && database.isTransaction) database.exec('rollback')
    turn.end = void turn.end?.()
  }

  override async destroy(): Promise<void> {
    await this.#records.close()
  }
}

/** A turn at the one connection. It ends with a commit, before that is on the disk; whoever goes on takes another. */
interface Turn extends DatabaseConnection {
  end: (() => void) | undefined
  isReleased: boolean
}

/** Prepares statements and keeps them by their SQL. */
function createStatements(database: DatabaseSync, limit: number): Records['prepare'] {
  const cache = new Map<string, Omit<Prepared, 'values'>>()
  return (sql, given, isFresh) => {
    let known = isFresh ? undefined : cache.get(sql)
    if (!known) {
      const statement = database.prepare(sql)
      known = { statement, kind: kindOf(sql), givesRows: statement.columns().length > 0 }
      if (changesSchema.test(sql)) cache.clear()
      else if (!isFresh) {
        if (cache.size >= limit) cache.delete(cache.keys().next().value!)
        cache.set(sql, known)
      }
    }
    const values: SQLInputValue[] = []
    // Binds whole numbers as integers: Node binds every number as a float, which a text or untyped column would show.
    // `node:sqlite` itself refuses values that SQL does not support.
    for (const value of given)
      values.push(Number.isSafeInteger(value) ? BigInt(value as number) : (value as SQLInputValue))
    return { ...known, values }
  }
}

const changesSchema = /^\s*(create|alter|drop|pragma|vacuum|attach|detach)\b/i

/** Node complains of a handle that is collected before it was closed, as those of records that nobody closes would be. */
const openLogs = new Set<FileHandle>()

/** Has commits wait for the disk without this thread; those that come meanwhile share the next sync. */
function createLogSync(database: DatabaseSync, log: FileHandle): Pick<Records, 'synced' | 'close'> {
  openLogs.add(log)
  let [committed, durable] = [0, 0]
  let running: Promise<void> | undefined
  let isDoubtful = false
  return {
    synced: async (hasWritten) => {
      const own = hasWritten ? ++committed : committed
      while (durable < own) {
        if (running) {
          await running
          continue
        }
        if (isDoubtful) copyWholeLog(database)
        isDoubtful = false
        const until = committed
        running = log.datasync().catch((cause) => Promise.reject(toInlayError(Object.assign(cause, { errcode: 10 }))))
        try {
          await running
          durable = until
        } catch (error) {
          isDoubtful = true
          throw error
        } finally {
          running = undefined
        }
      }
    },
    close: async () => {
      await running?.catch(() => {})
      openLogs.delete(log)
      await log.close()
    },
  }
}

const emptiesLog = /^\s*pragma wal_checkpoint\(truncate\)\s*$/i

/**
 * Empties the write-ahead log if no reader holds it up: waiting for one would block the thread. Synchronous, so that no
 * other statement runs without the busy timeout meanwhile.
 */
function truncateLog(database: DatabaseSync, busyTimeoutMs: number): { readonly busy: number } {
  try {
    database.exec('pragma busy_timeout = 0')
    return { busy: Number(database.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] ?? 1) }
  } finally {
    database.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
  }
}

/** Deleted content would stay in the log until new commits overwrite it. @returns stops it */
function emptyLogRegularly(database: DatabaseSync, log: string, { everyMs, busyTimeoutMs }: LogSettings): () => void {
  let isDueIn = triesPerPeriod
  const timer = setInterval(() => {
    isDueIn--
    // Includes the log of another process, even one that has ended.
    if (isDueIn > 0 || (statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return
    try {
      if (truncateLog(database, busyTimeoutMs).busy === 0) isDueIn = triesPerPeriod
    } catch {
      // In the middle of a transaction, or the disk is full: the next try.
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

/** A commit that meets the limit copies all pages of the log. SQLite's own is 1000; the thread has up to 64 MB to copy. */
const pagesWithThread = 16_000
const pagesAlone = 1000
/** A smaller log is left to grow. */
const smallLogBytes = 2 ** 20
const lookMs = 200

/**
 * Copies the write-ahead log into the database from another thread while it grows, since a commit would have to do so
 * otherwise. Where threads cannot be started, commits do. @returns ends it
 */
function copyLogElsewhere(database: DatabaseSync, file: string, log: string): () => void {
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
      worker ??= new Worker(logCopier, { eval: true, name: 'inlay log', workerData, execArgv: [], env: {} })
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
