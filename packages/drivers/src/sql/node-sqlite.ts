import { statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import {
  CompiledQuery,
  LimitNode,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { yieldToEventLoop } from '@inlay/scheduling'
import { copyWholeLog, kindOf, logCopier, openDatabase, toInlayError, TurnsAdapter } from './sqlite-file.ts'
import type { NodeSqliteOptions, Prepared, Records } from './sqlite-file.ts'

export type { NodeSqliteOptions }

/**
 * Kysely dialect over Node's built-in SQLite: WAL, commits durable before their promise resolves, foreign keys on,
 * transactions that take the write lock at once (so that two processes cannot deadlock when upgrading from read to
 * write). Deleted content is overwritten, and its copy in the write-ahead log is removed within a minute. Only the user
 * of the process can read the files.
 *
 * The first query opens the file. Integers beyond ±(2^53 − 1) are refused when read, never rounded. Any number of
 * processes may share a file on a local disk.
 * @throws SERVICE_UNAVAILABLE if the file is locked for too long, cannot be opened or written, or the disk is full;
 * INTERNAL_ERROR if it is damaged or not a database
 * @example new Kysely<Tables>({ dialect: nodeSqlite({ file: 'data/inlay.db' }) })
 */
export function nodeSqlite(options: NodeSqliteOptions): Dialect {
  return {
    createDriver: () => new RecordsDriver(options),
    createQueryCompiler: () => new QueryCompiler(),
    createAdapter: () => new TurnsAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/** SQLite plans a statement again each time a limit is bound, which takes longer than most statements. */
class QueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const { limit } = node
    const isNumber = ValueNode.is(limit) && Number.isSafeInteger(limit.value)
    super.visitLimit(isNumber ? LimitNode.create(ValueNode.createImmediate(limit.value)) : node)
  }
}

/** Reading this many rows takes milliseconds; other work runs before the caller handles them. */
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
    const { busyTimeoutMs = 5000 } = this.#options
    const copying = log ? copyLogElsewhere(database, file, log) : undefined
    const stops = log && copying ? [emptyLogRegularly(database, log, busyTimeoutMs), copying.stop] : []
    const { synced, close } = handle
      ? createLogSync(database, handle)
      : { synced: async () => {}, close: async () => {} }
    this.#records = {
      database,
      last: Promise.resolve(),
      prepare: createStatements(database),
      synced: (hasWritten) => {
        if (hasWritten) copying?.look()
        return synced(hasWritten)
      },
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
    // A turn ends with its statement or transaction. Code that wraps connections may release a connection object of its
    // own.
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
          // A write would return its rows before it is committed.
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
    // Kysely's own statement would take the write lock only at the first write.
    await turn.executeQuery(CompiledQuery.raw(accessMode === 'read only' ? 'begin' : 'begin immediate'))
  }

  override async rollbackTransaction(turn: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(turn)
    } catch (error) {
      // After a full disk or a failed read, SQLite has already rolled back. That failure is the one to report.
      if (!(error instanceof Error && error.message.includes('no transaction is active'))) throw error
    }
  }

  override async releaseConnection(turn?: Partial<Turn>): Promise<void> {
    const { database } = this.#records
    if (!turn) return
    turn.isReleased = true
    // Otherwise the next user would be inside an open transaction that was started manually.
    if (turn.end && database.isOpen && database.isTransaction) database.exec('rollback')
    turn.end = void turn.end?.()
  }

  override async destroy(): Promise<void> {
    await this.#records.close()
  }
}

/** Ends with a commit, before that is synced; the next statement takes another turn. */
interface Turn extends DatabaseConnection {
  end: (() => void) | undefined
  isReleased: boolean
}

const maxStatements = 500

/** Prepares statements and keeps those used last by their SQL. */
function createStatements(database: DatabaseSync): Records['prepare'] {
  const cache = new Map<string, Omit<Prepared, 'values'>>()
  return (sql, given, isFresh) => {
    let known = isFresh ? undefined : cache.get(sql)
    if (known) {
      // Behind the others: the one that was used longest ago makes room.
      cache.delete(sql)
      cache.set(sql, known)
    } else {
      const statement = database.prepare(sql)
      known = { statement, kind: kindOf(sql), givesRows: statement.columns().length > 0 }
      if (changesSchema.test(sql)) cache.clear()
      else if (!isFresh) {
        if (cache.size >= maxStatements) cache.delete(cache.keys().next().value!)
        cache.set(sql, known)
      }
    }
    const values: SQLInputValue[] = []
    // Binds integers as integers: Node binds every number as a float, which would show in a text or untyped column.
    // `node:sqlite` itself refuses values that SQL does not support.
    for (const value of given)
      values.push(Number.isSafeInteger(value) ? BigInt(value as number) : (value as SQLInputValue))
    return { ...known, values }
  }
}

const changesSchema = /^\s*(create|alter|drop|pragma|vacuum|attach|detach)\b/i

/** Node warns about a handle that is garbage-collected before it was closed, as when a database is never closed. */
const openLogs = new Set<FileHandle>()

/** Syncs commits to the disk without blocking this thread; commits that arrive meanwhile share the next sync. */
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

/** Not while a reader uses it: waiting would block. Synchronous: no statement runs without its busy timeout. */
function truncateLog(database: DatabaseSync, busyTimeoutMs: number): { readonly busy: number } {
  try {
    database.exec('pragma busy_timeout = 0')
    return { busy: Number(database.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'] ?? 1) }
  } finally {
    database.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
  }
}

/** Deleted content would stay in the log until commits overwrite it. @returns a function that stops it */
function emptyLogRegularly(database: DatabaseSync, log: string, busyTimeoutMs: number): () => void {
  let isDueIn = triesPerPeriod
  const timer = setInterval(() => {
    isDueIn--
    // Includes the log of another process, even one that has ended.
    if (isDueIn > 0 || (statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return
    try {
      if (truncateLog(database, busyTimeoutMs).busy === 0) isDueIn = triesPerPeriod
    } catch {
      // A transaction is running, or the disk is full: retried later.
    }
  }, emptyLogMs / triesPerPeriod)
  timer.unref()
  return () => clearInterval(timer)
}

const emptyLogMs = 60_000
const triesPerPeriod = 10

/** In pages, from which a commit copies the log. SQLite's default is 1000; with the thread, it may grow to 64 MB. */
const pagesWithThread = 16_000
const pagesAlone = 1000
/** A smaller log is not copied. */
const leastCopied = 2 ** 22
/** A log that is written from its beginning again does not grow: then it is copied after so many commits. */
const commitsPerCopy = 100
const lookMs = 200

/**
 * A commit would have to copy it otherwise, and does where threads cannot be started. `look` is called for each commit.
 */
function copyLogElsewhere(
  database: DatabaseSync,
  file: string,
  log: string,
): { readonly look: () => void; readonly stop: () => void } {
  let worker: Worker | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let [isCopying, isOver] = [false, false]
  let [commits, knownBytes] = [0, 0]
  const stop = (): void => {
    isOver = true
    clearTimeout(timer)
    void worker?.terminate()
  }
  const giveUp = (): void => {
    stop()
    if (database.isOpen) database.exec(`pragma wal_autocheckpoint = ${pagesAlone}`)
  }
  const startWorker = (): Worker =>
    new Worker(logCopier, { eval: true, name: 'inlay log', workerData: { file }, execArgv: [], env: {} })
      .on('message', () => (isCopying = false))
      .on('error', giveUp)
      .on('exit', () => {
        worker = undefined
        isCopying = false
      })
  const copy = (): void => {
    if (isCopying) return
    // Only its size is read: whoever opens and closes a file that SQLite has locked takes the locks of the whole process
    // away, and another process then resets the index of the log below this one.
    const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0
    if (bytes < knownBytes) knownBytes = bytes
    if (bytes < leastCopied || (commits < commitsPerCopy && bytes - knownBytes < leastCopied)) return
    ;[commits, knownBytes] = [0, bytes]
    try {
      worker ??= startWorker()
    } catch {
      return giveUp()
    }
    worker.unref()
    isCopying = true
    worker.postMessage(undefined)
  }
  database.exec(`pragma wal_autocheckpoint = ${pagesWithThread}`)
  return {
    look: () => {
      commits++
      if (timer !== undefined || isOver) return
      timer = setTimeout(() => {
        timer = undefined
        copy()
      }, lookMs)
      timer.unref()
    },
    stop,
  }
}
