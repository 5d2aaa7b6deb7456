import type { ControlledTransaction, Kysely, Transaction } from 'kysely'
import { hasRowLocks } from './dialect.ts'
import { createGroupCommit, type Outcome } from './group-commit.ts'

/** Writes to the records; its transaction may hold the writes of others too. */
export type Write<Tables, Result> = (transaction: Transaction<Tables>) => Promise<Result>

/** Runs writes in transactions. Each takes effect whole or not at all, and is durable once its promise resolves. */
export interface SharedTransactions<Tables> {
  run<Result>(write: Write<Tables, Result>): Promise<Result>
}

/** A longer transaction would keep the thread from everything else for too long. */
const mostWrites = 32

/**
 * Creates transactions that the writes of one pass of the event loop share. SQLite has one writer, and each commit
 * waits for the disk with the thread: a hundred messages sent at once would wait a hundred times. Postgres commits
 * concurrently, so there each write gets its own transaction.
 */
export function createSharedTransactions<Tables>(db: Kysely<Tables>): SharedTransactions<Tables> {
  if (hasRowLocks(db)) return { run: (write) => db.transaction().execute(write) }
  const group = createGroupCommit<Write<Tables, unknown>, unknown>({
    commit: async (writes) => {
      const [alone, second] = writes
      if (alone && !second) return [{ value: await db.transaction().execute(alone) }]
      return commitTogether(db, writes)
    },
    limit: mostWrites,
  })
  // Whatever the write resolves with is what `submit` resolves with.
  return { run: group.submit as SharedTransactions<Tables>['run'] }
}

/** Never rejects: when the transaction fails, so does every write that did not fail by itself. */
async function commitTogether<Tables>(
  db: Kysely<Tables>,
  writes: readonly Write<Tables, unknown>[],
): Promise<Outcome<unknown>[]> {
  const outcomes: Outcome<unknown>[] = []
  let transaction: ControlledTransaction<Tables> | undefined
  try {
    transaction = await db.startTransaction().execute()
    for (const write of writes) outcomes.push(await attempt(transaction, write))
    await transaction.commit().execute()
    return outcomes
  } catch (error) {
    await transaction
      ?.rollback()
      .execute()
      .catch(() => {})
    return writes.map((_, at) => {
      const outcome = outcomes[at]
      return outcome && 'error' in outcome ? outcome : { error }
    })
  }
}

/** A write that fails is taken back alone. */
async function attempt<Tables>(
  transaction: ControlledTransaction<Tables>,
  write: Write<Tables, unknown>,
): Promise<Outcome<unknown>> {
  const savepoint = await transaction.savepoint('write').execute()
  try {
    const value = await write(savepoint)
    await savepoint.releaseSavepoint('write').execute()
    return { value }
  } catch (error) {
    await savepoint.rollbackToSavepoint('write').execute()
    return { error }
  }
}
