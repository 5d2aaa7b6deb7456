import { hostname } from 'node:os'
import { checkRequired, isObject, isText } from '@inlay/protocol'
import { endsWithin } from '@inlay/scheduling'
import {
  PostgresDialect,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely'
import { installed, toMissing } from '../installed.ts'
import { toPostgresFailure } from './postgres-refusals.ts'
import { watchSilence, type WatchedConnection, type WatchedPool } from './silent-postgres.ts'

/** Connection to a PostgreSQL server: by URL, or with an existing pool. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly connectionString?: string
  /** Maximum number of connections of this process. Default 10; ignored with `pool`. */
  readonly maxConnections?: number
  /** Called for each new connection in place of the password in the URL. Ignored with `pool`. */
  readonly password?: () => Promise<string>
  /** A `pg` pool of the host, which also closes it. */
  readonly pool?: PostgresPool
  /** The module `pg`, where it cannot be imported by name. */
  readonly lib?: { Pool: new (options: { connectionString?: string; max?: number }) => PgPool }
}

/** A `pg` pool with its events for new connections and for idle ones that break. */
export type PgPool = PostgresPool &
  Pick<WatchedPool, 'Client'> & {
    query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
    on?(event: 'error' | 'connect', listener: (client: Connection) => void): unknown
  }

/** A connection of `pg`; other pools may lack these members. */
interface Connection extends WatchedConnection {
  on?(event: 'error' | 'end', listener: () => void): unknown
  on?(event: 'notification', listener: (message: { channel: string; payload?: string | undefined }) => void): unknown
}

type EndListening = () => Promise<void>

/** Records in PostgreSQL, with notifications between processes. */
export interface PostgresRecords extends Dialect {
  /**
   * Calls back for each notification of a channel, and without a payload if notifications may have been missed. Uses
   * one connection, and a new one if that breaks.
   * @returns a function that stops it; undefined if notifications do not arrive, as behind a pooler that shares
   * connections between transactions
   */
  readonly listen: (channel: string, onMessage: (payload?: string) => void) => Promise<EndListening | undefined>
}

/**
 * Records in PostgreSQL 14 or newer, for any number of processes. Connects at first use; needs the package `pg`.
 * @example createInlay({ database: postgres({ connectionString: process.env.DATABASE_URL }) })
 */
export function postgres(options: PostgresOptions): PostgresRecords {
  checkRequired('postgres', options, 'maxConnections password lib', {
    connectionString: [
      'postgres://user:password@host/database, or left out',
      (value) => value === undefined || isText(value),
    ],
    pool: ['a pool of pg, or left out', (value) => value === undefined || isObject(value)],
  })
  let opened: Promise<PostgresPool> | undefined
  const pool = (): Promise<PostgresPool> => (opened ??= openPool(options))
  const dialect = new PostgresDialect({ pool })
  return {
    createDriver: () => withOutages(dialect.createDriver()),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    listen: async (channel, onMessage) => {
      const connections = await pool()
      // With a single connection, it is needed for queries.
      const isAlone = 'max' in connections.options && connections.options.max === 1
      return isAlone ? undefined : listen(connections, channel, onMessage)
    },
  }
}

/** Timeout for a free connection of a pool whose queries take long; that for a new one is in `postgresTimes`. */
const freeConnectionMs = 30_000

async function openPool(options: PostgresOptions): Promise<PostgresPool> {
  const given = options.pool
  if (given) return { connect: () => given.connect(), end: async () => {}, options: given.options }
  return postgresPool(options)
}

/** Connects at first use; the caller closes it. @throws UNSUPPORTED if the package `pg` is not installed */
export async function postgresPool(options: Omit<PostgresOptions, 'pool'>): Promise<PgPool> {
  const { Pool } = options.lib ?? (await installed('pg', () => import('pg').catch(toMissing))).default
  const { connectionString, maxConnections: max = 10 } = options
  // TCP keep-alive detects connections to a machine that is down.
  const probing = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
  // For pg_stat_activity: the process as the log names it. A name in the connection string or in PGAPPNAME wins.
  const named = { fallback_application_name: `inlay ${hostname()}:${process.pid}` }
  const pool = new Pool({ connectionString, max, connectionTimeoutMillis: freeConnectionMs, ...probing, ...named })
  // A restarting server closes connections. Without a listener, the error event would end the process. The next query
  // opens a new connection, and running queries fail.
  pool.on?.('error', () => {})
  pool.on?.('connect', (client) => void client.on?.('error', () => {}))
  usePassword(pool, options.password)
  watchSilence(pool)
  return pool
}

/** A connection string would replace a password among the options of the pool, even where it has none. */
function usePassword(pool: WatchedPool, password: PostgresOptions['password']): void {
  const { Client } = pool
  if (!Client || !password) return
  pool.Client = class extends Client {
    constructor(given: object) {
      super(given)
      // `pg` calls it when the server asks.
      Object.assign(this, { password })
    }
  }
}

/** SERVICE_UNAVAILABLE if the server cannot be reached, stops during a query, is full, or refuses the role. */
function withOutages(driver: Driver): Driver {
  const wrapped = new WeakSet<DatabaseConnection>()
  const acquire = driver.acquireConnection.bind(driver)
  driver.acquireConnection = async (...options) => {
    const connection = await acquire(...options).catch(rejectOutage)
    if (wrapped.has(connection)) return connection
    wrapped.add(connection)
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = <Row>(query: CompiledQuery) => execute<Row>(query).catch(rejectOutage)
    return connection
  }
  return driver
}

function rejectOutage(error: unknown): never {
  throw toPostgresFailure(error, 'INLAY_DATABASE_URL') ?? error
}

const listenAgainMs = 500
/** Maximum wait for the test notification. On a slow server, polling is used instead. */
const arrivalMs = 1_000

/** Tests whether notifications arrive: sends one on another connection. */
async function notificationsArrive(
  pool: PostgresPool,
  channel: string,
  arrival: Promise<void>,
  payload: string,
): Promise<boolean> {
  const sender = await pool.connect()
  try {
    await sender.query('select pg_notify($1, $2)', [channel, payload])
  } finally {
    sender.release()
  }
  return endsWithin(arrival, arrivalMs)
}

async function listen(
  pool: PostgresPool,
  channel: string,
  onMessage: (payload?: string) => void,
): Promise<EndListening | undefined> {
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let release: () => void = () => {}
  let canListen = true
  const { promise: arrival, resolve: noteArrival } = Promise.withResolvers<void>()
  // Listeners expect ids of runs as payloads, which are never negative.
  const probe = String(-1 - Math.floor(Math.random() * 2 ** 48))
  const again = (): void => {
    release()
    if (isOver) return
    timer = setTimeout(() => void connect().catch(again), listenAgainMs)
    timer.unref()
  }
  const connect = async (): Promise<void> => {
    // Pools of `pg` return its clients.
    const client = (await pool.connect()) as PostgresPoolClient & Connection & { release(destroy?: boolean): void }
    canListen = client.on !== undefined
    if (isOver || client.on === undefined) return client.release()
    let isReleased = false
    release = () => {
      if (!isReleased) client.release(true)
      isReleased = true
    }
    client.on('notification', (message) => {
      if (message.channel !== channel || isReleased) return
      if (message.payload === probe) noteArrival()
      else onMessage(message.payload)
    })
    client.on('end', () => (isReleased ? undefined : again()))
    client.on('error', () => {})
    await client.query(`listen "${channel}"`, [])
    onMessage()
  }
  const end = async (): Promise<void> => {
    isOver = true
    clearTimeout(timer)
    release()
  }
  try {
    await connect()
    if (canListen) canListen = await notificationsArrive(pool, channel, arrival, probe)
  } catch {
    again()
  }
  if (canListen) return end
  await end()
  return undefined
}
