import type { Services } from '../contracts/services.ts'
import {
  createFold,
  encodeLines,
  type ChatFullResponse,
  type Fold,
  type StreamLine,
  type ToolCallDetail,
} from '@inlay/protocol'
import { yieldToEventLoop } from '@inlay/scheduling'
import type { Run } from '../contracts/run.ts'
import { createDeltaEncoder } from './delta-lines.ts'
import { createRunLog, type RunLog, type RunLogOptions } from './run-log.ts'

/** Why a run was stopped: by its user, or because the agent is closing. */
export type StopCause = 'user' | 'closing'

/** A run as seen by the code that generates the answer. */
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
  /** Adds details of a call that the stream does not contain but the complete answer does. */
  tellCall(detail: ToolCallDetail): void
  stop(cause: StopCause): void
  end(): void
}

export interface RunOpening {
  readonly sessionId: string
  readonly messageId: number
  /** Default: `messageId`. */
  readonly runId?: number
}

export interface RunSource extends Pick<RunLogOptions, 'repeatsEnd'> {
  /** Reads the calls of the run once it has ended, for the complete answer. */
  readonly readCalls?: () => Promise<readonly ToolCallDetail[]>
}

/** All runs of this process that can still be read. */
export interface Runs {
  open(opening: RunOpening): LiveRun
  /** The newest run of a session, running or recently finished. */
  newest(sessionId: string): LiveRun | undefined
  ofMessage(messageId: number): LiveRun | undefined
  /** Unfinished runs of one session, or of all sessions. */
  active(sessionId?: string): readonly LiveRun[]
}

export interface RunsOptions extends Pick<Services, 'now'> {
  /** How long a finished run can be read, in milliseconds. */
  readonly resumableMs: number
  readonly maxRunBytes: number
  /** Maximum number of bytes kept of all finished runs; the oldest runs are dropped first. */
  readonly maxFinishedBytes: number
}

/** Creates the registry of runs. It has no timer: expired runs are removed when the registry is next used. */
export function createRuns(options: RunsOptions): Runs {
  const { now, resumableMs, maxRunBytes, maxFinishedBytes } = options
  const byMessage = new Map<number, LiveRun>()
  const bySession = new Map<string, LiveRun>()
  // Few, of the many that can still be read.
  const running = new Set<LiveRun>()
  // In the order in which they ended. Their total size is kept up to date, since each new run needs it.
  const finished: { readonly run: LiveRun; readonly at: number }[] = []
  let bytes = 0

  const forget = (run: LiveRun): void => {
    byMessage.delete(run.messageId)
    if (bySession.get(run.sessionId) === run) bySession.delete(run.sessionId)
  }
  const sweep = (): void => {
    let count = 0
    for (const { run, at } of finished) {
      if (now() - at < resumableMs && bytes <= maxFinishedBytes) break
      bytes -= run.log.bytes
      forget(run)
      count++
    }
    finished.splice(0, count)
  }
  return {
    open: (opening) => {
      sweep()
      const run = createRun(opening, maxRunBytes)
      byMessage.set(run.messageId, run)
      bySession.set(run.sessionId, run)
      running.add(run)
      void run.ended.then(() => {
        running.delete(run)
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
      [...running].filter((run) => !run.finished && (sessionId === undefined || run.sessionId === sessionId)),
  }
}

export function createRun(
  { sessionId, messageId, runId = messageId }: RunOpening,
  maxBytes: number,
  { repeatsEnd = false, readCalls }: RunSource = {},
): LiveRun {
  const toolCalls: ToolCallDetail[] = []
  const controller = new AbortController()
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<void>()
  let whole: Promise<ChatFullResponse> | undefined
  // Most answers are only read as lines. Lines that the log drops are folded at once, the rest when the complete answer is requested.
  let fold: Fold | undefined
  const addToFold = (json: string): Fold => {
    fold ??= createFold({ chatSessionId: sessionId, messageId, toolCalls })
    // Encoded by `write`.
    fold.add(JSON.parse(json) as StreamLine)
    return fold
  }
  const encodeDelta = createDeltaEncoder()
  const log = createRunLog({ maxBytes, onDrop: addToFold, repeatsEnd })
  const foldAll = async (): Promise<ChatFullResponse> => {
    await ended
    if (readCalls) toolCalls.push(...(await readCalls()))
    let count = 0
    for (const json of log.merged()) {
      if (++count % 500 === 0) await yieldToEventLoop()
      addToFold(json)
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
    tail: log.tail,
    whole: () =>
      (whole ??= foldAll().catch((error: unknown) => {
        whole = undefined
        throw error
      })),
    write: (line) => {
      if (log.finished) return
      const delta = encodeDelta(line)
      if (delta) log.appendDelta(delta.head, delta.text)
      else for (const json of encodeLines(line)) log.append(json)
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
