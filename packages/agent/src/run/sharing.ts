import type { Services } from '../contracts/services.ts'
import type { RunLines, SharedRun } from '../contracts/shared-runs.ts'
import { createAbandonedRunPoll, type AbandonedRunPollOptions } from './abandoned-runs.ts'
import { createCopies, type CopyOptions } from './other-process-runs.ts'
import type { LiveRun, Runs } from './live-runs.ts'

export interface RunSharing {
  /** The run of an answer, if it is one of another process. */
  ofMessage(sessionId: string, messageId: number): Promise<LiveRun | undefined>
  /** The newest run of a session in any process. @param local the newest one of this process */
  newest(sessionId: string, local: LiveRun | undefined): Promise<LiveRun | undefined>
  /** Ends runs that other processes abandoned, now and repeatedly. */
  start(): Promise<void>
  /** Never rejects: while the store is unavailable, the run continues unshared. */
  share(run: LiveRun): Promise<void>
  /** Public id of the latest unfinished run of another process. */
  currentRunId(sessionId: string): Promise<number | undefined>
  /** Requests that other processes stop their runs of some sessions; resolves once the runs have ended. */
  stop(sessionIds: readonly string[]): Promise<void>
  remove(sessionIds: readonly string[]): Promise<void>
  /** Writes the rest of ended runs, then closes the store. */
  close(): Promise<void>
}

/** Times are milliseconds. */
export interface RunSharingOptions
  extends CopyOptions, Omit<AbandonedRunPollOptions, 'report'>, Pick<Services, 'onError'> {
  readonly runs: Runs
}

/** Changes are polled at this interval even if there are notifications, since one may get lost. */
const lookMs = 1_000
/** Write interval of a process without others, so that one that starts later can take over its runs. */
export const aloneMs = 1_000
/** Polling interval while a caller waits for a run to stop. */
const stopLookMs = 20

/** Shares the runs of one process through `shared`. Except for the check for abandoned runs, timers run only while runs do. */
export function createRunSharing(options: RunSharingOptions): RunSharing {
  const { shared, now, runs, leaseMs } = options
  const report = createReport(options)
  const own = createOwnRuns(options, () => void rounds.now())
  const copies = createCopies(options)
  const abandoned = createAbandonedRunPoll({ ...options, report })
  const changed = new Set<number>()
  let unsubscribe: (() => Promise<void>) | undefined
  let lookedAt = 0
  /** There is no other process, so there is nothing to poll. */
  const isAlone = (): boolean => own.isAlone() && copies.runs.size === 0

  const look = async (): Promise<void> => {
    if (isAlone()) return
    const isDue = unsubscribe === undefined || now() - lookedAt >= lookMs
    if (isDue) lookedAt = now()
    const ids = isDue ? [...own.runs.keys(), ...copies.runs.keys()] : [...changed]
    changed.clear()
    if (ids.some((id) => own.runs.has(id))) await own.stopRequested()
    for (const id of ids) if (copies.runs.has(id)) await copies.catchUp(id)
  }
  const paceMs = (): number => (isAlone() ? Math.max(aloneMs, shared.paceMs) : shared.paceMs)
  const rounds = createRounds([own.write, look], report, paceMs, [own.runs, copies.runs])
  const onChange = (messageIds: readonly number[] = [...own.runs.keys(), ...copies.runs.keys()]): void => {
    const relevant = messageIds.filter((id) => own.runs.has(id) || copies.runs.has(id))
    for (const id of relevant) changed.add(id)
    if (relevant.length > 0) void rounds.now()
  }
  const start = async (): Promise<void> => {
    await abandoned.start()
    await report(async () => void (unsubscribe = await shared.subscribe(onChange)))
  }
  const read = async (run: SharedRun | undefined): Promise<LiveRun | undefined> => {
    const copy = run && (await copies.of(run))
    rounds.schedule()
    return copy
  }
  let started: Promise<void> | undefined
  return {
    start: () => (started ??= start()),
    share: async (run) => {
      await report(() => own.add(run))
      rounds.schedule()
      void run.ended.then(() => (own.dropUnseen(run.messageId) ? undefined : rounds.now()))
    },
    ofMessage: async (sessionId, messageId) =>
      read((await shared.ofSession(sessionId)).find((run) => run.messageId === messageId)),
    newest: async (sessionId, local) => {
      const known = await shared.ofSession(sessionId).catch((error: unknown) => {
        if (local) return []
        throw error
      })
      const last = known.at(-1)
      return last === undefined || (local && local.messageId >= last.messageId) ? local : read(last)
    },
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

interface OwnRun {
  readonly run: LiveRun
  readonly opening: Omit<SharedRun, 'finished'>
  isOpen: boolean
  /** Number of the last line written. */
  cursor: number
  beatAt: number
}

/** Lines of a run that are written at once, and of all runs: fast models say megabytes between two writes. */
const [maxRunChars, maxAppendChars] = [65_536, 1_048_576]

interface LinesPart extends RunLines {
  /** Whether there are more lines already. */
  readonly isCut: boolean
}

function nextLines({ run: { messageId, log }, cursor }: OwnRun): LinesPart {
  const { finished, last, first } = log
  const entries = log.after(Math.max(cursor, first - 1), maxRunChars) ?? []
  const isCut = entries.length > 0 && entries.at(-1)!.sequence < last
  return { messageId, entries, finished: finished && !isCut, isCut }
}

/** Runs of this process that are unfinished or not completely written. */
function createOwnRuns({ shared, now, leaseMs }: RunSharingOptions, onMoreDue: () => void) {
  const own = new Map<number, OwnRun>()
  /** Whether there was no other process at the last check, which is made at the start of each run and before each write. */
  let isAlone = false
  const open = async (each: OwnRun): Promise<void> => {
    await shared.open(each.opening)
    each.isOpen = true
  }
  const askAlone = async (): Promise<boolean> => (isAlone = (await shared.isAlone?.()) ?? false)
  const dueRuns = async (): Promise<OwnRun[]> => {
    const due = [...own.values()].filter(
      ({ run: { log }, cursor, beatAt }) => log.last > cursor || log.finished || now() - beatAt >= leaseMs / 4,
    )
    if (due.length === 0 || !(await askAlone())) return due
    // No other process has seen these runs, so none has to end them.
    for (const { run, isOpen } of due) if (run.log.finished && !isOpen) own.delete(run.messageId)
    return due.filter(({ run, beatAt }) => own.has(run.messageId) && (run.log.finished || now() - beatAt >= aloneMs))
  }
  return {
    runs: own as ReadonlyMap<number, OwnRun>,
    isAlone: () => isAlone,
    add: async (run: LiveRun): Promise<void> => {
      const { sessionId, messageId, runId } = run
      const openedAt = now()
      const opening = { sessionId, messageId, runId, openedAt }
      const each = { run, opening, isOpen: false, cursor: 0, beatAt: openedAt }
      own.set(messageId, each)
      if (!(await askAlone())) await open(each)
    },
    /** Writes new lines and signs of life; a part of them where there are many. */
    write: async (): Promise<void> => {
      const due = await dueRuns()
      await Promise.all(due.filter(({ isOpen }) => !isOpen).map(open))
      const time = now()
      const parts: LinesPart[] = []
      for (let chars = 0; parts.length < due.length && chars < maxAppendChars;) {
        const part = nextLines(due[parts.length]!)
        parts.push(part)
        for (const { json } of part.entries) chars += json.length
      }
      const lost = parts.length === 0 ? [] : await shared.append(parts)
      const forgotten = lost.length === 0 ? [] : ((await shared.forgotten?.(lost)) ?? [])
      let isMoreDue = parts.length < due.length
      for (const [index, { messageId, entries, finished, isCut }] of parts.entries()) {
        const each = due[index]!
        if (forgotten.includes(messageId)) {
          // Written again from the first line. A very long run no longer has its first line and continues unshared.
          if (each.run.log.first === 1) Object.assign(each, { isOpen: false, cursor: 0 })
          else own.delete(messageId)
          continue
        }
        each.cursor = entries.at(-1)?.sequence ?? each.cursor
        if (isCut) isMoreDue = true
        else each.beatAt = time
        const isLost = lost.includes(messageId)
        // Another process took the run over and told its readers that it ended.
        if (isLost) each.run.stop('closing')
        // Behind the others, which have their turn first.
        own.delete(messageId)
        if (!isLost && !finished) own.set(messageId, each)
      }
      if (isMoreDue) onMoreDue()
    },
    stopRequested: async (): Promise<void> => {
      for (const id of await shared.stopRequests()) own.get(id)?.run.stop('user')
    },
    /** Drops an ended run that no other process knows; false if its end must be written. */
    dropUnseen: (messageId: number) => isAlone && own.get(messageId)?.isOpen === false && own.delete(messageId),
  }
}

/**
 * Repeats tasks, never two rounds at once.
 * @param works tasks of each round, run in order
 * @param paceMs time until the next round, evaluated before each
 * @param causes rounds are needed while any of these is not empty
 */
function createRounds(
  works: readonly (() => Promise<void>)[],
  report: Report,
  paceMs: () => number,
  causes: readonly { readonly size: number }[],
) {
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Delay of the current timer, in milliseconds. */
  let timerMs = 0
  let underway: Promise<void> | undefined
  let isWanted = false
  const all = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false
      for (const work of works) await report(work)
    }
    underway = undefined
  }
  /** Starts a round at once, or after the current one. */
  const now = (): Promise<void> => {
    isWanted = true
    return (underway ??= all())
  }
  /** Repeats rounds for as long as they are needed. */
  const schedule = (): void => {
    if (causes.every(({ size }) => size === 0)) return
    const delayMs = paceMs()
    if (timer !== undefined && timerMs <= delayMs) return
    clearTimeout(timer)
    timerMs = delayMs
    timer = setTimeout(() => {
      timer = undefined
      void now().then(schedule)
    }, delayMs)
    timer.unref?.()
  }
  return { now, schedule, end: () => clearTimeout(timer) }
}

/** Runs work that is retried later; false if it failed. */
type Report = (work: () => Promise<void>) => Promise<boolean>

/** Failures of work that is retried many times a second are reported once per this interval. */
const reportMs = 60_000

/** Reports the first failure of work that is retried, then one per minute. */
function createReport({ onError, now }: Pick<Services, 'onError' | 'now'>): Report {
  let reportedAt = -Infinity
  return async (work) => {
    try {
      await work()
      return true
    } catch (error) {
      // Absolute, since the clock may be set back.
      if (Math.abs(now() - reportedAt) >= reportMs) {
        reportedAt = now()
        onError(error)
      }
      return false
    }
  }
}
