import { isInlayError } from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/protocol/concurrency'

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

/** Creates a group commit. Tasks are carried out in the order of their submission. */
export function createGroupCommit<Task, Result>(options: GroupCommitOptions<Task, Result>): GroupCommit<Task, Result> {
  const { limitWeight = Infinity } = options
  type Submission = { task: Task; resolve: (value: Result) => void; reject: (error: unknown) => void }
  let submitted: Submission[] = []
  let running: Promise<void> | undefined

  function takeGroup(): Submission[] {
    let total = 0
    let count = 0
    for (const { task } of submitted) {
      total += options.weight?.(task) ?? 0
      if (count > 0 && (total > limitWeight || count >= options.limit)) break
      count++
    }
    const group = submitted.slice(0, count)
    submitted = submitted.slice(count)
    return group
  }

  async function run(): Promise<void> {
    await yieldToEventLoop()
    while (submitted.length > 0) {
      const group = takeGroup()
      const outcomes = await commitGroup(group.map(({ task }) => task))
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

  async function commitGroup(tasks: readonly Task[]): Promise<readonly Outcome<Result>[]> {
    try {
      return await options.commit(tasks)
    } catch (error) {
      // A task that the database refuses must not fail its neighbours; a database that is down fails all of them.
      if (tasks.length === 1 || isInlayError(error)) return tasks.map(() => ({ error }))
      const outcomes: Outcome<Result>[] = []
      for (const task of tasks) outcomes.push(...(await commitGroup([task])))
      return outcomes
    }
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
