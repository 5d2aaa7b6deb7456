import { InlayError } from '@inlay/protocol'
import { type CompiledQuery, type DatabaseConnection, DummyDriver, Kysely, PostgresQueryCompiler } from 'kysely'

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
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => Object.assign(new DummyDriver(), { acquireConnection: async () => connection }),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createAdapter: () => db.getExecutor().adapter,
      createIntrospector: () => db.introspection,
    },
  })
}

const lastWork = new WeakMap<HostTransaction, Promise<unknown>>()

/**
 * Does work in a savepoint, so that the host can continue its transaction after a failure. One after the other: going
 * back to a savepoint would undo what others have done since.
 * @throws INVALID_INPUT if no transaction was begun, or one in another database
 */
export function inSavepoint<Result>(transaction: HostTransaction, work: () => Promise<Result>): Promise<Result> {
  const result = (lastWork.get(transaction) ?? Promise.resolve()).then(() => workWithin(transaction, work))
  lastWork.set(transaction, Promise.allSettled([result]))
  return result
}

async function workWithin<Result>(transaction: HostTransaction, work: () => Promise<Result>): Promise<Result> {
  const run = (statement: string): Promise<unknown> => transaction.query(`${statement} inlay`, [])
  try {
    await run('savepoint')
    const result = await work()
    await run('release savepoint')
    return result
  } catch (cause) {
    // Fails if there is no transaction any more.
    await run('rollback to savepoint').catch(() => {})
    const message = refusals.find(([code]) => hasCode(cause, code))?.[1]
    throw message === undefined ? cause : new InlayError('INVALID_INPUT', { message, cause })
  }
}

/** By error code of PostgreSQL. */
const refusals = [
  [
    '25P01',
    'The option transaction has not begun a transaction: pass the client or the object that your library gives to the code inside it, not a pool.',
  ],
  ['42P01', 'The option transaction is one of another database: begin it in that of INLAY_DATABASE_URL.'],
] as const

/** Libraries wrap the errors of PostgreSQL. */
function hasCode(error: unknown, expected: string): boolean {
  const { code, message, cause } = Object(error) as { code?: unknown; message?: unknown; cause?: unknown }
  return code === expected || String(message).includes(expected) || (cause !== undefined && hasCode(cause, expected))
}
