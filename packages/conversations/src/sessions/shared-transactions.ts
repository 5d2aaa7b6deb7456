import { SqliteAdapter, type ControlledTransaction, type Transaction } from 'kysely'
import type { ConversationDatabase, ConversationTables } from '../tables.ts'

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Writes to the records. */
export type Writing<Result> = (records: Transaction<ConversationTables>) => Promise<Result>

/** Runs writings in transactions; each takes effect whole or not at all, and is durable once its promise resolves. */
export interface SharedTransactions {
  run<Result>(work: Writing<Result>): Promise<Result>
}

interface Task {
  /** Does the work; what came of it is told by `settle`, once the transaction is over. */
  readonly work: Writing<void>
  readonly settle: (failure?: { readonly error: unknown }) => void
}

// A longer transaction would keep the thread from everything else for too long.
const mostTasks = 32

/**
 * Makes transactions that writings of one turn of the event loop share: SQLite has one writer, and each commit waits for
 * the disk with the thread, so that a hundred messages sent at once would wait a hundred times. Other databases commit
 * side by side, and get a transaction for each.
 */
export function createSharedTransactions(db: ConversationDatabase): SharedTransactions {
  if (!(db.getExecutor().adapter instanceof SqliteAdapter)) {
    return { run: (work) => db.transaction().execute(work) }
  }
  let waiting: Task[] = []
  let isRunning = false

  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      // Lets requests that are being read join.
      await nextTurn()
      const group = waiting.slice(0, mostTasks)
      waiting = waiting.slice(mostTasks)
      await runGroup(db, group)
    }
    isRunning = false
  }
  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        let tell = (): void => {}
        waiting.push({
          work: async (records) => {
            const result = await work(records)
            tell = () => resolve(result)
          },
          settle: (failure) => (failure ? reject(failure.error) : tell()),
        })
        if (isRunning) return
        isRunning = true
        void runAll()
      }),
  }
}

/** Never rejects: every task is settled. */
async function runGroup(db: ConversationDatabase, group: readonly Task[]): Promise<void> {
  const failures = new Map<Task, { readonly error: unknown }>()
  let records: ControlledTransaction<ConversationTables> | undefined
  try {
    records = await db.startTransaction().execute()
    for (const task of group) {
      const failure = await attempt(records, task)
      if (failure) failures.set(task, failure)
    }
    await records.commit().execute()
  } catch (error) {
    await records
      ?.rollback()
      .execute()
      .catch(() => {})
    for (const task of group) failures.set(task, failures.get(task) ?? { error })
  }
  for (const task of group) task.settle(failures.get(task))
}

/** Does one task; what it wrote is taken back when it fails, and the others' stays. */
async function attempt(
  records: ControlledTransaction<ConversationTables>,
  { work }: Task,
): Promise<{ readonly error: unknown } | undefined> {
  const point = await records.savepoint('task').execute()
  try {
    await work(point)
  } catch (error) {
    await point.rollbackToSavepoint('task').execute()
    return { error }
  }
  await point.releaseSavepoint('task').execute()
  return undefined
}
