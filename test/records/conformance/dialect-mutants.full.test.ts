import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { dialectConformance, type MakeDialect } from '@inlay/conformance'
import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver, type QueryResult } from 'kysely'
import { afterAll } from 'vitest'
import { testMutants } from '../../mutants.ts'

const root = mkdtempSync(join(tmpdir(), 'inlay-dialects-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))

let count = 0
const inFile = (): MakeDialect => {
  const file = join(root, `${++count}.db`)
  return () => nodeSqlite({ file })
}

type Rows = QueryResult<Record<string, unknown>>
type Execute = (query: CompiledQuery) => Promise<Rows>

/** The faults of a broken driver; every dialect here uses one file. */
interface Change {
  readonly execute?: (query: CompiledQuery, execute: Execute) => Promise<Rows>
  readonly driver?: (driver: Driver) => Partial<Driver>
  readonly adapter?: Record<string, unknown>
  /** Whether each connection has a database of its own. */
  readonly apart?: boolean
}

function mistaken(change: Change): MakeDialect {
  const make = inFile()
  return async () => {
    const dialect = change.apart ? await inFile()() : await make()
    return {
      ...dialect,
      createDriver: () => changedDriver(dialect, change),
      createAdapter: () =>
        Object.defineProperties(
          dialect.createAdapter(),
          Object.fromEntries(Object.entries(change.adapter ?? {}).map(([name, value]) => [name, { get: () => value }])),
        ),
    }
  }
}

function changedDriver(dialect: Dialect, { execute, driver: change }: Change): Driver {
  const driver = dialect.createDriver()
  const changed = new WeakSet<DatabaseConnection>()
  const acquire = driver.acquireConnection.bind(driver)
  driver.acquireConnection = async (options) => {
    const connection = await acquire(options)
    if (!changed.has(connection)) {
      changed.add(connection)
      // The data need not survive a power cut.
      await connection.executeQuery(raw('pragma synchronous = off'))
      if (!execute) return connection
      // Queries of these tests give rows of plain values.
      const sound = connection.executeQuery.bind(connection) as Execute
      connection.executeQuery = ((query: CompiledQuery) => execute(query, sound)) as typeof connection.executeQuery
    }
    return connection
  }
  return Object.assign(driver, change?.(driver))
}

const mapValues = (rows: Rows, change: (value: unknown) => unknown): Rows => ({
  ...rows,
  rows: rows.rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value)]))),
})
const changingText = (change: (text: string) => unknown): Change => ({
  execute: async (query, execute) =>
    mapValues(await execute(query), (value) => (typeof value === 'string' ? change(value) : value)),
})
const raw = (text: string): CompiledQuery => CompiledQuery.raw(text)
const isInsert = ({ sql }: CompiledQuery): boolean => /^insert/i.test(sql)

testMutants<Change>('dialect', (change) => dialectConformance(mistaken(change)), {
  sound: {},
  mutants: {
    'has a database for each connection': { apart: true },
    'says that it cannot return rows': { adapter: { supportsReturning: false } },
    'takes the empty text for null': changingText((text) => (text === '' ? null : text)),
    'trims text': changingText((text) => text.trim()),
    'normalises text': changingText((text) => text.normalize('NFC')),
    'cuts text at 64 KiB': changingText((text) => text.slice(0, 65_536)),
    'keeps 32 bits of numbers': {
      execute: async (query, execute) =>
        mapValues(await execute(query), (value) => (typeof value === 'number' ? value | 0 : value)),
    },
    'spells numbers as floats': {
      execute: async (query, execute) =>
        mapValues(await execute(query), (value) => (typeof value === 'number' ? Math.fround(value) : value)),
    },
    'writes values into the statement': {
      execute: async (query, execute) => {
        let at = 0
        const values = query.parameters.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)))
        return execute(raw(query.sql.replace(/\?/g, () => values[at++] ?? 'null')))
      },
    },
    'gives no rows of an insert': {
      execute: async (query, execute) => {
        const result = await execute(query)
        return isInsert(query) ? { ...result, rows: [] } : result
      },
    },
    'does not count changed rows': {
      execute: async (query, execute) => ({ ...(await execute(query)), numAffectedRows: 0n }),
    },
    'counts one row for every change': {
      execute: async (query, execute) => ({ ...(await execute(query)), numAffectedRows: 1n }),
    },
    'gives ids of deleted rows again': {
      execute: (query, execute) => execute({ ...query, sql: query.sql.replace(' autoincrement', '') }),
    },
    'swallows failures': { execute: (query, execute) => execute(query).catch(() => ({ rows: [] })) },
    'takes a hundred values at most': {
      execute: (query, execute) => execute({ ...query, parameters: query.parameters.slice(0, 100) }),
    },
    'keeps what a transaction undid': {
      driver: () => ({
        rollbackTransaction: async (connection) => void (await connection.executeQuery(raw('commit'))),
      }),
    },
    'begins no transaction': {
      driver: () => ({
        beginTransaction: async () => {},
        commitTransaction: async () => {},
        rollbackTransaction: async () => {},
      }),
    },
    'forgets to commit': {
      driver: () => ({
        commitTransaction: async (connection) => void (await connection.executeQuery(raw('rollback'))),
      }),
    },
    'lets statements into a transaction that runs': {
      driver: (driver) => {
        const acquire = driver.acquireConnection.bind(driver)
        let shared: Promise<DatabaseConnection> | undefined
        return { acquireConnection: () => (shared ??= acquire()), releaseConnection: async () => {} }
      },
    },
  },
})
