import type { ControlledTransaction, Kysely, Transaction } from 'kysely'
import { hasRowLocks } from './dialect.ts'
import { isInlayError } from '@inlay/protocol'
import { giveWay, yieldToEventLoop } from '@inlay/protocol/concurrency'

/** The result of one task of a group. */
export type Outcome<Result> = { readonly value: Result } | { readonly error: unknown }

/** How tasks are gathered. */
export interface GroupCommitOptions<Task, Result> {
  /** Carries out a group in one transaction, in the order given; one outcome a task. */
  readonly commit: (tasks: readonly Task[]) => Promise<readonly Outcome<Result>[]>
  /** Weight of a task; a group stays below `limitWeight` unless it is a single task. Default 0. */
  readonly weight?: (task: Task) => number
  readonly limitWeight?: number
  /** Most tasks in a group. */
  readonly limit: number
}

/** Tasks that come while a transaction runs share the next one, and so its sync to disk. */
export interface GroupCommit<Task, Result> {
  submit(task: Task): Promise<Result>
  /** Resolves once everything submitted so far is done. */
  drained(): Promise<void>
}

/** Bytes of the tasks where weights are bytes. */
const heavyWeight = 65_536

/** Creates a group commit. Tasks are carried out in the order of their submission. */
export function createGroupCommit<Task, Result>(options: GroupCommitOptions<Task, Result>): GroupCommit<Task, Result> {
  const { limitWeight = Infinity } = options
  type Submission = { task: Task; resolve: (value: Result) => void; reject: (error: unknown) => void }
  const submitted: Submission[] = []
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    await yieldToEventLoop()
    while (submitted.length > 0) {
      let total = 0
      let count = 0
      for (const { task } of submitted) {
        total += options.weight?.(task) ?? 0
        if (count > 0 && (total > limitWeight || count >= options.limit)) break
        count++
      }
      // SQLite writes megabytes on this thread.
      if (total > heavyWeight) await giveWay()
      const group = submitted.splice(0, count)
      const tasks = group.map(({ task }) => task)
      const outcomes = await options.commit(tasks).catch((error: unknown) => commitEach(tasks, error))
      group.forEach(({ resolve, reject }, at) => {
        const outcome = outcomes[at]!
        if ('value' in outcome) resolve(outcome.value)
        else reject(outcome.error)
      })
      // Lets the callers that were just answered bring their next task into the next group.
      await yieldToEventLoop()
    }
    running = undefined
  }

  /** A task that the database refuses must not fail its neighbours; a database that is down fails all of them. */
  async function commitEach(tasks: readonly Task[], error: unknown): Promise<readonly Outcome<Result>[]> {
    if (tasks.length === 1 || isInlayError(error)) return tasks.map(() => ({ error }))
    const outcomes: Outcome<Result>[] = []
    for (const task of tasks)
      outcomes.push(...(await options.commit([task]).catch((alone: unknown) => [{ error: alone }])))
    return outcomes
  }

  return {
    submit: (task) =>
      new Promise((resolve, reject) => {
        submitted.push({ task, resolve, reject })
        running ??= run()
      }),
    drained: async () => {
      while (running) await running
    },
  }
}

/** Writes to the records; its transaction may hold the writes of others too. */
export type Write<Tables, Result> = (transaction: Transaction<Tables>) => Promise<Result>

/** Runs writes in transactions. Each takes effect whole or not at all, and is durable once its promise resolves. */
export interface SharedTransactions<Tables> {
  run<Result>(write: Write<Tables, Result>): Promise<Result>
}

/** A longer transaction would keep the thread from everything else for too long. */
const mostWrites = 32

/**
 * Creates transactions that the writes of one pass of the event loop share. SQLite has one writer, which writes with
 * this thread: a hundred messages sent at once would be a hundred transactions. Postgres commits concurrently, so there
 * each write gets its own transaction.
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
