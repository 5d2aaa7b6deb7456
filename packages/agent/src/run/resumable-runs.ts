import type { Services } from '../contracts/services.ts'
import {
  createFold,
  encodeLines,
  type ChatFullResponse,
  type Fold,
  type StreamLine,
  type ToolCallDetail,
} from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/protocol/concurrency'
import type { LogEntry, Run } from '../contracts/run.ts'
import { createRunLog, type RunLog, type RunLogOptions } from './resumable-lines.ts'

/** Why a run is ended before its time: its user said so, or the agent is closed. */
export type StopCause = 'user' | 'closing'

/** A run as the part that makes the answer sees it. */
export interface LiveRun extends Run {
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
  /** Public id: the answer, or the question when several models answer. */
  readonly runId: number
  readonly stopCause: StopCause | undefined
  /** Resolves once the log has ended. */
  readonly ended: Promise<void>
  readonly log: RunLog
  write(line: StreamLine): void
  /** Tells of a call what the stream does not, for the whole answer. */
  tellCall(detail: ToolCallDetail): void
  stop(cause: StopCause): void
  end(): void
}

/** Options for opening a run. */
export interface RunOpening {
  readonly sessionId: string
  readonly messageId: number
  /** Default: `messageId`. */
  readonly runId?: number
}

/** How the lines of a run end, and where its calls are read from that were made elsewhere. */
export interface RunSource extends Pick<RunLogOptions, 'repeatsEnd'> {
  /** Asked once the run has ended, for the whole answer. */
  readonly readCalls?: () => Promise<readonly ToolCallDetail[]>
}

/** All runs of this process that can still be read. */
export interface Runs {
  open(opening: RunOpening): LiveRun
  /** The newest run of a session, running or finished not long ago. */
  newest(sessionId: string): LiveRun | undefined
  /** The run that makes or made an answer. */
  ofMessage(messageId: number): LiveRun | undefined
  /** Runs that are not finished, of one session or of all. */
  active(sessionId?: string): readonly LiveRun[]
}

/** Bounds of what is kept of runs. */
export interface RunsOptions extends Pick<Services, 'now'> {
  /** How long a finished run can be read, in milliseconds. */
  readonly resumableMs: number
  /** Most bytes kept of one run. */
  readonly runBytes: number
  /** Most bytes kept of finished runs together; the oldest go first. */
  readonly finishedBytes: number
}

/** Makes the register of runs. Nothing in it ticks: what is over its time goes when the register is next used. */
export function createRuns(options: RunsOptions): Runs {
  const { now, resumableMs, runBytes, finishedBytes } = options
  const byMessage = new Map<number, LiveRun>()
  const bySession = new Map<string, LiveRun>()
  // In order of their ends; what they hold together is counted along, since it is asked for with each run.
  const finished: { readonly run: LiveRun; readonly at: number }[] = []
  let bytes = 0

  const forget = (run: LiveRun): void => {
    byMessage.delete(run.messageId)
    if (bySession.get(run.sessionId) === run) bySession.delete(run.sessionId)
  }
  const sweep = (): void => {
    let count = 0
    for (const { run, at } of finished) {
      if (now() - at < resumableMs && bytes <= finishedBytes) break
      bytes -= run.log.bytes
      forget(run)
      count++
    }
    finished.splice(0, count)
  }
  return {
    open: (opening) => {
      sweep()
      const run = createRun(opening, runBytes)
      byMessage.set(run.messageId, run)
      bySession.set(run.sessionId, run)
      void run.ended.then(() => {
        finished.push({ run, at: now() })
        bytes += run.log.bytes
      })
      return run
    },
    newest: (sessionId) => {
      sweep()
      return bySession.get(sessionId)
    },
    ofMessage: (messageId) => {
      sweep()
      return byMessage.get(messageId)
    },
    active: (sessionId) =>
      [...byMessage.values()].filter(
        (run) => !run.finished && (sessionId === undefined || run.sessionId === sessionId),
      ),
  }
}

/** Makes a run whose lines are still to be written; also used to read a stored one again. */
export function createRun(
  { sessionId, messageId, runId = messageId }: RunOpening,
  limitBytes: number,
  { repeatsEnd = false, readCalls }: RunSource = {},
): LiveRun {
  const toolCalls: ToolCallDetail[] = []
  const controller = new AbortController()
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<void>()
  let whole: Promise<ChatFullResponse> | undefined
  // Most answers are read as lines alone; folded is what the log drops, and the rest when the whole is asked for.
  let fold: Fold | undefined
  const addToFold = ({ json }: LogEntry): Fold => {
    fold ??= createFold({ chatSessionId: sessionId, messageId, toolCalls })
    // Encoded by `write`.
    fold.add(JSON.parse(json) as StreamLine)
    return fold
  }
  const log = createRunLog({ limitBytes, onDrop: addToFold, repeatsEnd })
  const foldAll = async (): Promise<ChatFullResponse> => {
    await ended
    if (readCalls) toolCalls.push(...(await readCalls()))
    for (const [index, entry] of log.entries().entries()) {
      if (index % 500 === 499) await yieldToEventLoop()
      addToFold(entry)
    }
    return (fold ?? createFold({ chatSessionId: sessionId, messageId, toolCalls })).result()
  }
  const run: LiveRun & { stopCause: StopCause | undefined } = {
    sessionId,
    messageId,
    runId,
    log,
    ended,
    stopCause: undefined,
    signal: controller.signal,
    get finished() {
      return log.finished
    },
    read: log.read,
    whole: () =>
      (whole ??= foldAll().catch((error: unknown) => {
        whole = undefined
        throw error
      })),
    write: (line) => {
      if (!log.finished) for (const json of encodeLines(line)) log.append(json)
    },
    tellCall: toolCalls.push.bind(toolCalls),
    stop: (cause) => {
      if (log.finished || run.stopCause) return
      run.stopCause = cause
      controller.abort(new DOMException('The run was stopped.', 'AbortError'))
    },
    end: () => {
      log.end()
      resolveEnded()
    },
  }
  return run
}
