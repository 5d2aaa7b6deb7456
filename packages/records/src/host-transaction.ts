import { InlayError } from '@inlay/protocol'
import { type CompiledQuery, type DatabaseConnection, type Driver, Kysely, PostgresQueryCompiler } from 'kysely'

/** A transaction that a host has begun in the PostgreSQL database of the records; a client of `pg` is one. */
export interface HostTransaction {
  /** Runs a statement with parameters `$1`, `$2` and so on, in the transaction. */
  query(sql: string, parameters: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** The records within a transaction of the host. Numbers of changed rows are unknown. */
export function recordsWithin<Tables>(db: Kysely<Tables>, transaction: HostTransaction): Kysely<Tables> {
  const connection: DatabaseConnection = {
    executeQuery: async <Row>({ sql, parameters }: CompiledQuery) => {
      const { rows } = await transaction.query(sql, [...parameters])
      return { rows: rows as Row[] } // The statement decides what its rows are, whoever runs it.
    },
    streamQuery: () => {
      throw new InlayError('UNSUPPORTED')
    },
  }
  const nothing = async (): Promise<void> => {}
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  }
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => driver,
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createAdapter: () => db.getExecutor().adapter,
      createIntrospector: () => db.introspection,
    },
  })
}

/**
 * Does work in a savepoint, so that the host can continue its transaction after a failure.
 * @throws INVALID_INPUT if no transaction was begun
 */
export async function inSavepoint<Result>(transaction: HostTransaction, work: () => Promise<Result>): Promise<Result> {
  const run = (statement: string): Promise<unknown> => transaction.query(`${statement} inlay`, [])
  try {
    await run('savepoint')
  } catch (error) {
    throw isOutside(error) ? new InlayError('INVALID_INPUT', { message: outside, cause: error }) : error
  }
  try {
    const result = await work()
    await run('release savepoint')
    return result
  } catch (error) {
    // Fails only if the transaction is over.
    await run('rollback to savepoint').catch(() => {})
    throw error
  }
}

const outside =
  'The option transaction has not begun a transaction: pass the client or the object that your library gives to the code inside it, not a pool.'

/** Whether PostgreSQL refused a savepoint outside of a transaction. Libraries wrap its error. */
function isOutside(error: unknown): boolean {
  const { code, message, cause } = Object(error) as { code?: unknown; message?: unknown; cause?: unknown }
  return code === '25P01' || String(message).includes('25P01') || (cause !== undefined && isOutside(cause))
}
