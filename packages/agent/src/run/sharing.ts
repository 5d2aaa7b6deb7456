import type { ConversationStore } from '../contracts/conversation-store.ts'
import type { Services } from '../contracts/services.ts'
import type { SharedRun, SharedRuns } from '../contracts/shared-runs.ts'
import { endAbandonedRun } from './abandoned-runs.ts'
import { createRun, type LiveRun, type Runs } from './registry.ts'

/** Runs of this process for the others, and those of the others for this one. */
export interface RunSharing {
  /** Ends what other processes abandoned, and goes on looking for it. */
  start(): Promise<void>
  /** Lets other processes read and stop a run. Never rejects: while they cannot be told, the run goes on alone. */
  share(run: LiveRun): Promise<void>
  /** The newest run of a session, of whichever process. @param local the newest one of this process */
  newest(sessionId: string, local: LiveRun | undefined): Promise<LiveRun | undefined>
  /** What clients know the newest unfinished run of another process by. */
  currentRunId(sessionId: string): Promise<number | undefined>
  /** Has other processes stop their runs of some sessions; resolves once they have ended. */
  stop(sessionIds: readonly string[]): Promise<void>
  /** Writes what is left of ended runs, then lets go. */
  close(): Promise<void>
}

/** Times are milliseconds. */
export interface RunSharingOptions extends Pick<Services, 'now' | 'onError'> {
  readonly shared: SharedRuns
  readonly runs: Runs
  readonly conversations: Pick<ConversationStore, 'branch' | 'finish'>
  /** After which silence of its process a run counts as abandoned. */
  readonly leaseMs: number
  readonly resumableMs: number
  readonly runBytes: number
}

interface OwnRun {
  readonly run: LiveRun
  readonly opening: Omit<SharedRun, 'finished'>
  isOpen: boolean
  /** Number of the last line written. */
  cursor: number
  beatAt: number
}

/** Changes are looked for this often even where they are told: a message may get lost. */
const lookMs = 1_000

/** Shares the runs of one process through `shared`. Timers run only while runs do, but for the look for abandoned ones. */
export function createRunSharing(options: RunSharingOptions): RunSharing {
  const { shared, runs, now, leaseMs } = options
  const report = reportOnce(options.onError)
  const own = new Map<number, OwnRun>()
  const copies = new Map<number, LiveRun>()
  let lookedAt = 0
  let unsubscribe: (() => Promise<void>) | undefined
  const changed = new Set<number>()

  const write = async (): Promise<void> => {
    const time = now()
    const due = [...own.values()].filter(
      ({ run: { log }, cursor, beatAt }) => log.last > cursor || log.finished || time - beatAt >= leaseMs / 4,
    )
    if (due.length === 0) return
    for (const each of due.filter(({ isOpen }) => !isOpen)) await open(each)
    const parts = due.map(({ run: { messageId, log }, cursor }) => {
      const entries = log.last > cursor ? log.entries().slice(cursor - log.last) : []
      return { messageId, entries, finished: log.finished }
    })
    const lost = await shared.append(parts)
    for (const [index, { messageId, entries, finished }] of parts.entries()) {
      const each = due[index]!
      each.cursor = entries.at(-1)?.sequence ?? each.cursor
      each.beatAt = time
      if (lost.includes(messageId)) each.run.stop('closing')
      if (finished || lost.includes(messageId)) own.delete(messageId)
    }
  }
  const open = async (each: OwnRun): Promise<void> => {
    await shared.open(each.opening)
    each.isOpen = true
  }
  const look = async (): Promise<void> => {
    const isDue = unsubscribe === undefined || now() - lookedAt >= lookMs
    if (isDue) lookedAt = now()
    if (own.size > 0 && (isDue || [...changed].some((id) => own.has(id))))
      for (const id of await shared.stopRequests()) own.get(id)?.run.stop('user')
    const stale = [...copies.values()].filter(({ messageId }) => isDue || changed.has(messageId))
    changed.clear()
    for (const copy of stale) await catchUp(copy)
  }
  const catchUp = async (copy: LiveRun): Promise<void> => {
    for (;;) {
      const { entries, finished } = await shared.read(copy.messageId, copy.log.last)
      // Another call may have read the same lines meanwhile.
      for (const { sequence, json } of entries) if (sequence === copy.log.last + 1) copy.log.append(json)
      if (finished) {
        copies.delete(copy.messageId)
        copy.end()
      }
      if (finished || entries.length === 0) return
    }
  }
  const rounds = createRounds(
    async () => {
      await report(write)
      await report(look)
    },
    { paceMs: shared.paceMs, isNeeded: () => own.size + copies.size > 0 },
  )
  const abandoned = createAbandonedLook({ ...options, report })
  const running = async (sessionId: string): Promise<SharedRun | undefined> =>
    (await shared.ofSession(sessionId)).findLast(({ finished, messageId }) => !finished && !runs.ofMessage(messageId))
  const onChange = (ids: readonly number[] = [...own.keys(), ...copies.keys()]): void => {
    const relevant = ids.filter((id) => own.has(id) || copies.has(id))
    for (const id of relevant) changed.add(id)
    if (relevant.length > 0) void rounds.now()
  }
  const start = async (): Promise<void> => {
    await abandoned.start()
    await report(async () => void (unsubscribe = await shared.subscribe(onChange)))
  }
  let started: Promise<void> | undefined
  return {
    start: () => (started ??= start()),
    share: async (run) => {
      const { sessionId, messageId, runId } = run
      const each = { run, opening: { sessionId, messageId, runId, openedAt: now() }, isOpen: false, cursor: 0, beatAt: 0 }
      await report(() => open(each))
      own.set(messageId, each)
      rounds.begin()
      void run.ended.then(rounds.now)
    },
    newest: async (sessionId, local) => {
      const last = (await orElse(shared.ofSession(sessionId), local && [])).at(-1)
      if (last === undefined || (local && local.messageId >= last.messageId)) return local
      const known = copies.get(last.messageId)
      if (known) return known
      const copy = createRun(last, options.runBytes)
      copies.set(last.messageId, copy)
      rounds.begin()
      await catchUp(copy)
      return copy
    },
    currentRunId: async (sessionId) => (await running(sessionId))?.runId,
    stop: async (sessionIds) => {
      const asked = await shared.requestStop(sessionIds)
      const deadline = Date.now() + 2 * leaseMs
      for (const id of asked) {
        while (!(await shared.read(id, Number.MAX_SAFE_INTEGER)).finished && Date.now() < deadline)
          await new Promise((resolve) => setTimeout(resolve, shared.paceMs))
      }
    },
    close: async () => {
      await started
      await abandoned.close()
      await rounds.now()
      rounds.end()
      for (const copy of copies.values()) copy.end()
      await unsubscribe?.()
      await shared.close()
    },
  }
}

/** Rounds of one kind of work, never two at once. */
interface Rounds {
  /** Begins a round at once, or as soon as the present one is over. */
  now(): Promise<void>
  /** Has them follow each other for as long as they are needed. */
  begin(): void
  end(): void
}

function createRounds(
  round: () => Promise<void>,
  { paceMs, isNeeded }: { readonly paceMs: number; readonly isNeeded: () => boolean },
): Rounds {
  let timer: ReturnType<typeof setTimeout> | undefined
  let underway: Promise<void> | undefined
  let isWanted = false
  const all = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false
      await round()
    }
    underway = undefined
  }
  const begin = (): void => {
    if (timer !== undefined || !isNeeded()) return
    timer = setTimeout(() => {
      timer = undefined
      void rounds.now().then(begin)
    }, paceMs)
    timer.unref?.()
  }
  const rounds: Rounds = {
    now: () => {
      isWanted = true
      return (underway ??= all())
    },
    begin,
    end: () => clearTimeout(timer),
  }
  return rounds
}

type Report = (work: () => Promise<void>) => Promise<boolean>

/** Runs work that is tried again; tells its first failure, and the next one after it went well. */
function reportOnce(onError: Services['onError']): Report {
  let isReported = false
  return async (work) => {
    try {
      await work()
      isReported = false
      return true
    } catch (error) {
      if (!isReported) onError(error)
      isReported = true
      return false
    }
  }
}

async function orElse<Value>(work: Promise<Value>, otherwise: Value | undefined): Promise<Value> {
  try {
    return await work
  } catch (error) {
    if (otherwise === undefined) throw error
    return otherwise
  }
}

interface AbandonedLook {
  start(): Promise<void>
  close(): Promise<void>
}

/** Looks for runs whose process has ended, four times in each lease, and ends them. */
function createAbandonedLook(options: RunSharingOptions & { readonly report: Report }): AbandonedLook {
  const { shared, conversations, now, leaseMs, report } = options
  const taken = new Map<number, SharedRun>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let underway: Promise<void> | undefined
  // A process that was asleep, or cut off like all others, may not judge the others by their silence.
  let steadySince = now()
  let lookedAt = steadySince

  const look = async (): Promise<void> => {
    const time = now()
    if (time - lookedAt > leaseMs / 2) steadySince = time
    lookedAt = time
    const silenceMs = time - steadySince >= leaseMs ? leaseMs : Infinity
    for (const run of await shared.takeAbandoned(silenceMs)) taken.set(run.messageId, run)
    for (const run of taken.values()) {
      await endAbandonedRun(run, { shared, conversations, now })
      taken.delete(run.messageId)
    }
    await shared.removeFinished(options.resumableMs)
  }
  const again = async (): Promise<void> => {
    if (!(await report(look))) steadySince = now()
    timer = setTimeout(() => void (underway = again()), leaseMs / 4)
    timer.unref?.()
  }
  return {
    start: () => (underway ??= again()),
    close: async () => {
      await underway
      clearTimeout(timer)
    },
  }
}
