import { createRequire } from 'node:module'
import type { Dialect, Driver, QueryResult } from 'kysely'

/**
 * Points at which a process may end, besides the labelled steps of the knowledge itself: around every change of the
 * records and every change of the index. Each is reached once `before` the change begins and once `after` it is done; a
 * change of the index is also reached `during` it, since it takes a while on other threads.
 */
export type CrashPoint = `${'before' | 'during' | 'after'} ${IndexChange}` | `${'before' | 'after'} commit`

/** Calls of the engine: `optimize` is compaction, `createIndex` an index build. */
export type IndexChange = (typeof indexChanges)[number]

/** All of them. */
export const indexChanges = ['add', 'delete', 'optimize', 'createIndex'] as const

type Reach = (point: CrashPoint) => void

/** A dialect that reports every commit: of a transaction, or of a single statement outside of one. */
export function tellCommits(dialect: Dialect, reach: Reach): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createDriver: () => {
      const driver = dialect.createDriver()
      let isInTransaction = false
      const received = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        reach('before commit')
        const result = await work()
        reach('after commit')
        return result
      }
      const acquire = driver.acquireConnection.bind(driver)
      const startTransaction = driver.beginTransaction.bind(driver)
      const commit = driver.commitTransaction.bind(driver)
      const rollBack = driver.rollbackTransaction.bind(driver)
      return Object.assign(driver, {
        acquireConnection: async (options) => {
          const connection = await acquire(options)
          return {
            streamQuery: (query, chunkSize, streaming) => connection.streamQuery(query, chunkSize, streaming),
            executeQuery: <Row>(query: Parameters<typeof connection.executeQuery>[0]): Promise<QueryResult<Row>> => {
              const isRead = isInTransaction || /^\s*(select|with|pragma|begin|commit|rollback)\b/i.test(query.sql)
              return isRead ? connection.executeQuery<Row>(query) : received(() => connection.executeQuery<Row>(query))
            },
          }
        },
        beginTransaction: async (connection, settings) => {
          await startTransaction(connection, settings)
          isInTransaction = true
        },
        commitTransaction: async (connection) => {
          await received(() => commit(connection))
          isInTransaction = false
        },
        rollbackTransaction: async (connection) => {
          await rollBack(connection)
          isInTransaction = false
        },
      } satisfies Partial<Driver>)
    },
  }
}

/** Makes the engine of this whole process tell of what it changes. @param random a number in [0, 1) */
export function tellIndexChanges(reach: Reach, random: () => number): void {
  const main = createRequire(import.meta.url).resolve('@lancedb/lancedb')
  // The class is not exported; what is patched here has held since 0.4, and the tests count that it was reached.
  const { LocalTable } = createRequire(main)('./table.js') as { LocalTable: { prototype: Record<string, Change> } }
  for (const name of indexChanges) {
    const change = LocalTable.prototype[name]!
    LocalTable.prototype[name] = async function (...args) {
      reach(`before ${name}`)
      // A change takes 2 to 50 ms.
      const timer = setTimeout(() => reach(`during ${name}`), random() ** 3 * 20)
      try {
        return await change.apply(this, args)
      } finally {
        clearTimeout(timer)
        reach(`after ${name}`)
      }
    }
  }
}

type Change = (this: unknown, ...args: unknown[]) => Promise<unknown>
