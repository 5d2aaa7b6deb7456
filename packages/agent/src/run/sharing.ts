import type { ConversationStore } from '../contracts/conversation-store.ts'
import type { Services } from '../contracts/services.ts'
import type { SharedRun } from '../contracts/shared-runs.ts'
import { createAbandonedLook } from './abandoned-runs.ts'
import { createCopies, createReading, type CopyOptions, type RunReading } from './other-process-runs.ts'
import type { LiveRun, Runs } from './resumable-runs.ts'

/** Runs of this process for the others, and those of the others for this one. */
export interface RunSharing extends RunReading {
  /** Ends what other processes abandoned, and goes on looking for it. */
  start(): Promise<void>
  /** Lets other processes read and stop a run. Never rejects: while they cannot be told, the run goes on alone. */
  share(run: LiveRun): Promise<void>
  /** Public id of the latest unfinished run of another process. */
  currentRunId(sessionId: string): Promise<number | undefined>
  /** Has other processes stop their runs of some sessions; resolves once they have ended. */
  stop(sessionIds: readonly string[]): Promise<void>
  remove(sessionIds: readonly string[]): Promise<void>
  /** Writes what is left of ended runs, then lets go. */
  close(): Promise<void>
}

/** Times are milliseconds. */
export interface RunSharingOptions extends CopyOptions, Pick<Services, 'now' | 'onError'> {
  readonly runs: Runs
  readonly conversations: Pick<ConversationStore, 'branch' | 'finish'>
  /** After which silence of its process a run counts as abandoned. */
  readonly leaseMs: number
  readonly resumableMs: number
}

/** Changes are looked for this often even where they are told: a message may get lost. */
const lookMs = 1_000
/** How often a process without others writes what is said, so that one that starts later can take it over. */
export const aloneMs = 1_000
/** Somebody waits for a run to stop. */
const stopLookMs = 20

/** Shares the runs of one process through `shared`. Timers run only while runs do, but for the look for abandoned ones. */
export function createRunSharing(options: RunSharingOptions): RunSharing {
  const { shared, now } = options
  const report = createReport(options)
  const own = createOwnRuns(options)
  const copies = createCopies(options)
  const abandoned = createAbandonedLook({ ...options, report })
  const changed = new Set<number>()
  let unsubscribe: (() => Promise<void>) | undefined
  let lookedAt = 0

  const look = async (): Promise<void> => {
    const isDue = unsubscribe === undefined || now() - lookedAt >= lookMs
    if (isDue) lookedAt = now()
    const ids = isDue ? [...own.runs.keys(), ...copies.runs.keys()] : [...changed]
    changed.clear()
    if (ids.some((id) => own.runs.has(id))) await own.stopRequested()
    for (const id of ids) if (copies.runs.has(id)) await copies.catchUp(id)
  }
  const rounds = createRounds({
    works: [own.write, look],
    report,
    paceMs: shared.paceMs,
    causes: [own.runs, copies.runs],
  })
  const onChange = (messageIds: readonly number[] = [...own.runs.keys(), ...copies.runs.keys()]): void => {
    const relevant = messageIds.filter((id) => own.runs.has(id) || copies.runs.has(id))
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
      await report(() => own.add(run))
      rounds.schedule()
      void run.ended.then(rounds.now)
    },
    ...createReading(shared, copies, rounds.schedule),
    ...createRequests(options),
    close: async () => {
      await started
      await abandoned.close()
      await rounds.now()
      rounds.end()
      copies.close()
      await unsubscribe?.()
      await shared.close()
    },
  }
}

function createRequests({
  shared,
  runs,
  leaseMs,
}: RunSharingOptions): Pick<RunSharing, 'currentRunId' | 'stop' | 'remove'> {
  return {
    currentRunId: async (sessionId) => {
      const known = await shared.ofSession(sessionId)
      return known.findLast(({ finished, messageId }) => !finished && !runs.ofMessage(messageId))?.runId
    },
    stop: async (sessionIds) => {
      const deadline = Date.now() + 2 * leaseMs
      const elsewhere = (await shared.requestStop(sessionIds)).filter((id) => !runs.ofMessage(id))
      for (const id of elsewhere)
        while (!(await shared.read(id, Number.MAX_SAFE_INTEGER)).finished && Date.now() < deadline)
          await new Promise((resolve) => setTimeout(resolve, stopLookMs))
    },
    remove: (sessionIds) => shared.remove(sessionIds),
  }
}

interface OwnRun {
  readonly run: LiveRun
  readonly opening: Omit<SharedRun, 'finished'>
  isOpen: boolean
  /** Number of the last line written. */
  cursor: number
  beatAt: number
}

/** Runs of this process that are not finished, or not yet written to their end. */
interface OwnRuns {
  readonly runs: ReadonlyMap<number, OwnRun>
  add(run: LiveRun): Promise<void>
  /** Writes new lines and signs of life. */
  write(): Promise<void>
  /** Stops those that somebody asked to stop. */
  stopRequested(): Promise<void>
}

function createOwnRuns({ shared, now, leaseMs }: RunSharingOptions): OwnRuns {
  const own = new Map<number, OwnRun>()
  const open = async (each: OwnRun): Promise<void> => {
    await shared.open(each.opening)
    each.isOpen = true
  }
  const dueRuns = async (): Promise<OwnRun[]> => {
    const due = [...own.values()].filter(
      ({ run: { log }, cursor, beatAt }) => log.last > cursor || log.finished || now() - beatAt >= leaseMs / 4,
    )
    if (due.length === 0 || !(await shared.isAlone?.())) return due
    // Nobody has seen them, and nobody has to end them.
    for (const { run, isOpen } of due) if (run.log.finished && !isOpen) own.delete(run.messageId)
    return due.filter(({ run, beatAt }) => own.has(run.messageId) && (run.log.finished || now() - beatAt >= aloneMs))
  }
  return {
    runs: own,
    add: async (run) => {
      const { sessionId, messageId, runId } = run
      const openedAt = now()
      const opening = { sessionId, messageId, runId, openedAt }
      const each = { run, opening, isOpen: false, cursor: 0, beatAt: openedAt }
      own.set(messageId, each)
      if (!(await shared.isAlone?.())) await open(each)
    },
    write: async () => {
      const due = await dueRuns()
      for (const each of due.filter(({ isOpen }) => !isOpen)) await open(each)
      const time = now()
      const parts = due.map(({ run: { messageId, log }, cursor }) => {
        const entries = log.last > cursor ? log.entries().slice(cursor - log.last) : []
        return { messageId, entries, finished: log.finished }
      })
      const lost = parts.length === 0 ? [] : await shared.append(parts)
      const forgotten = lost.length === 0 ? [] : ((await shared.forgotten?.(lost)) ?? [])
      for (const [index, each] of due.entries()) {
        const { messageId, entries, finished } = parts[index]!
        if (forgotten.includes(messageId)) {
          // Written again from its first line, which a very long answer no longer has: then it goes on unshared.
          if (each.run.log.first === 1) Object.assign(each, { isOpen: false, cursor: 0 })
          else own.delete(messageId)
          continue
        }
        each.cursor = entries.at(-1)?.sequence ?? each.cursor
        each.beatAt = time
        const isLost = lost.includes(messageId)
        // Another process has told its readers that it ended.
        if (isLost) each.run.stop('closing')
        if (isLost || finished) own.delete(messageId)
      }
    },
    stopRequested: async () => {
      for (const id of await shared.stopRequests()) own.get(id)?.run.stop('user')
    },
  }
}

/** Rounds of one kind of work, never two at once. */
interface Rounds {
  /** Begins a round at once, or as soon as the present one is over. */
  now(): Promise<void>
  /** Has them follow each other for as long as they are needed. */
  schedule(): void
  end(): void
}

interface RoundsOptions {
  /** Tasks of each round, run in order. */
  readonly works: readonly (() => Promise<void>)[]
  readonly report: Report
  readonly paceMs: number
  /** Rounds are needed while any of these holds something. */
  readonly causes: readonly { readonly size: number }[]
}

function createRounds({ works, report, paceMs, causes }: RoundsOptions): Rounds {
  let timer: ReturnType<typeof setTimeout> | undefined
  let underway: Promise<void> | undefined
  let isWanted = false
  const all = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false
      for (const work of works) await report(work)
    }
    underway = undefined
  }
  const schedule = (): void => {
    if (timer !== undefined || causes.every(({ size }) => size === 0)) return
    timer = setTimeout(() => {
      timer = undefined
      void rounds.now().then(schedule)
    }, paceMs)
    timer.unref?.()
  }
  const rounds: Rounds = {
    now: () => {
      isWanted = true
      return (underway ??= all())
    },
    schedule,
    end: () => clearTimeout(timer),
  }
  return rounds
}

/** Runs work that is tried again; false when it failed. */
type Report = (work: () => Promise<void>) => Promise<boolean>

/** Failures of work that is tried many times a second are told once in this time. */
const reportMs = 60_000

/** Tells the first failure of work that is tried again, then one a minute: rounds without anything to do go well meanwhile. */
function createReport({ onError, now }: Pick<Services, 'onError' | 'now'>): Report {
  let reportedAt = -Infinity
  return async (work) => {
    try {
      await work()
      return true
    } catch (error) {
      // A clock may also be set back.
      if (Math.abs(now() - reportedAt) >= reportMs) {
        reportedAt = now()
        onError(error)
      }
      return false
    }
  }
}
