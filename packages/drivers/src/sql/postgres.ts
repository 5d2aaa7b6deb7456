import { PostgresDialect, type Dialect, type PostgresPool } from 'kysely'

/** How to reach a PostgreSQL server: by an address, or by a pool the host already has. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly connectionString?: string
  /** Most connections this process holds. Default 10; ignored with `pool`. */
  readonly maxConnections?: number
  /** A `pg` pool made by the host, which then also ends it. */
  readonly pool?: PostgresPool
  /** The module `pg`, where it cannot be imported by name. */
  readonly lib?: { Pool: new (options: { connectionString?: string; max?: number }) => ListenedPool }
}

/** A pool that tells of its connections, and of those that break while nobody uses them. */
type ListenedPool = PostgresPool & {
  on?(event: 'error' | 'connect', listener: (client: Connection) => void): unknown
}

interface Connection {
  on(event: 'error', listener: () => void): unknown
}

/** Packages a host installs to use this driver. */
export const postgresDependencies: readonly string[] = ['pg']

/**
 * Records in PostgreSQL 14 or newer, for any number of processes. Connects at first use; needs the package `pg`.
 * @example createInlay({ dialect: postgres({ connectionString: process.env.DATABASE_URL }) })
 */
export function postgres(options: PostgresOptions): Dialect {
  return new PostgresDialect({
    pool: async (): Promise<PostgresPool> => {
      const given = options.pool
      if (given) return { connect: () => given.connect(), end: async () => {}, options: given.options }
      const { Pool } = options.lib ?? (await import('pg')).default
      const pool = new Pool({ connectionString: options.connectionString, max: options.maxConnections ?? 10 })
      // A server that restarts ends connections, at rest or in the midst of a transaction: unheard, that would end the
      // process. The next query makes a new one, and what was under way fails by itself.
      pool.on?.('error', () => {})
      pool.on?.('connect', (client) => void client.on('error', () => {}))
      return pool
    },
  })
}
