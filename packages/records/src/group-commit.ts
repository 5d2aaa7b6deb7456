import type { Kysely, Transaction } from 'kysely'
import { hasRowLocks } from './dialect.ts'
import { isInlayError } from '@inlay/protocol'
import { yieldToForeground, yieldToEventLoop } from '@inlay/scheduling'

export type Outcome<Result> = { readonly value: Result } | { readonly error: unknown }

export interface GroupCommitOptions<Task, Result> {
  /** Runs a group in one transaction, in the given order. @returns one outcome per task */
  readonly commit: (tasks: readonly Task[]) => Promise<readonly Outcome<Result>[]>
  /** Weight of a task; a group stays below `maxWeight` unless it is a single task. Default 0. */
  readonly weight?: (task: Task) => number
  readonly maxWeight?: number
  /** Maximum number of tasks in a group. */
  readonly limit: number
}

/** Tasks that arrive while a transaction runs share the next one, and its sync to disk. */
export interface GroupCommit<Task, Result> {
  submit(task: Task): Promise<Result>
  /** Resolves when everything submitted so far is done. */
  drained(): Promise<void>
}

/** Total weight from which a group yields first, if weights are bytes. */
const heavyWeight = 65_536

/** Creates a group commit. Tasks run in the order of their submission. */
export function createGroupCommit<Task, Result>(options: GroupCommitOptions<Task, Result>): GroupCommit<Task, Result> {
  const { maxWeight = Infinity } = options
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
        if (count > 0 && (total > maxWeight || count >= options.limit)) break
        count++
      }
      // SQLite writes megabytes synchronously on this thread.
      if (total > heavyWeight) await yieldToForeground()
      const group = submitted.splice(0, count)
      const tasks = group.map(({ task }) => task)
      const outcomes = await options.commit(tasks).catch((error: unknown) => commitEach(tasks, error))
      group.forEach(({ resolve, reject }, at) => {
        const outcome = outcomes[at]!
        if ('value' in outcome) resolve(outcome.value)
        else reject(outcome.error)
      })
      // Lets callers that just got their result submit their next task into the next group.
      await yieldToEventLoop()
    }
    running = undefined
  }

  /**
   * Runs tasks one by one, so that only those fail that fail alone; if the database is down, which would let each of them
   * wait, all fail.
   */
  async function commitEach(tasks: readonly Task[], error: unknown): Promise<readonly Outcome<Result>[]> {
    if (tasks.length === 1 || isOutage(error)) return tasks.map(() => ({ error }))
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

/** Writes to the database; the transaction may also contain other writes. Runs again if one of these fails. */
export type Write<Tables, Result> = (transaction: Transaction<Tables>) => Promise<Result>

/** Runs writes in transactions. Each write is atomic, and durable when its promise resolves. */
export interface SharedTransactions<Tables> {
  run<Result>(write: Write<Tables, Result>): Promise<Result>
}

/** Maximum number of writes per transaction: a longer one would block the thread for too long. */
const maxWrites = 32

const shared = new WeakMap<object, unknown>()

/**
 * Creates transactions that the writes of one pass of the event loop share, whoever makes them. SQLite has one writer, which writes with
 * this thread: a hundred messages sent at once would be a hundred transactions. Postgres commits concurrently, so there
 * each write gets its own transaction.
 */
export function createSharedTransactions<Tables>(db: Kysely<Tables>): SharedTransactions<Tables> {
  if (hasRowLocks(db)) return { run: (write) => db.transaction().execute(write) }
  const key = db.getExecutor().adapter
  // Whichever tables its caller names, it writes to the same database.
  const known = shared.get(key) as SharedTransactions<Tables> | undefined
  if (known) return known
  const group = createGroupCommit<Write<Tables, unknown>, unknown>({
    // A savepoint for each write would cost two statements.
    commit: (writes) =>
      db.transaction().execute(async (transaction) => {
        const outcomes: Outcome<unknown>[] = []
        for (const write of writes) outcomes.push({ value: await write(transaction) })
        return outcomes
      }),
    limit: maxWrites,
  })
  // `submit` resolves with the result of the write.
  const transactions = { run: group.submit as SharedTransactions<Tables>['run'] }
  shared.set(key, transactions)
  return transactions
}

const isOutage = (error: unknown): boolean => isInlayError(error) && error.code === 'SERVICE_UNAVAILABLE'
