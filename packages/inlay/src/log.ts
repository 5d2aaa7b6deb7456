import { hostname } from 'node:os'
import type { EndedTurn, FailureContext } from '@inlay/agent'
import type { ServerOptions } from '@inlay/server'
import type { ActiveTrace } from '@inlay/telemetry'
import manifest from '../package.json' with { type: 'json' }
import { logEntry } from './error-report.ts'

type AnsweredRequest = Parameters<NonNullable<ServerOptions['onAnswered']>>[0]

/** A log entry: an event with ids. Contains no text of users or documents. */
export type LogEntry = ActiveTrace & LoggedEvent

type LoggedEvent =
  | ({ readonly event: 'request' } & AnsweredRequest)
  | {
      readonly event: 'run'
      readonly sessionId: string
      readonly messageId: number
      readonly callerId: string
      readonly status: EndedTurn['status']
      /** Null if nothing failed. */
      readonly errorCode: string | null
      readonly provider: string
      readonly model: string
      readonly tools: readonly string[]
      readonly durationMs: number
    }
  /** `report` contains no credentials, but may contain file names and URLs. */
  | {
      readonly event: 'error'
      /** `warning` for a common failure of a service, such as an outage. */
      readonly level: 'error' | 'warning'
      readonly requestId: string | null
      /** Of a failure during an answer. */
      readonly sessionId?: string
      readonly messageId?: number | undefined
      readonly report: string
    }
  /** For the operator: a failure of a service is over, or what a setting means. */
  | { readonly event: 'note'; readonly report: string }
  /** `inlay serve` has started. */
  | { readonly event: 'start'; readonly address: string; readonly model: string }
  /** `inlay serve` is ending. */
  | { readonly event: 'stop' }

export function runEntry({
  caller,
  sessionId,
  messageId,
  status,
  error,
  model,
  calls,
  durationMs,
}: EndedTurn): LogEntry {
  return {
    event: 'run',
    sessionId,
    messageId,
    callerId: caller.id,
    status,
    errorCode: error?.code ?? null,
    provider: model.provider,
    model: model.name,
    tools: calls.map(({ name }) => name),
    durationMs,
  }
}

/** Name of this process among all that write to the same log. */
const instance = `${hostname()}:${process.pid}`

/** Writes an entry to standard error as one line of JSON, with its time, level, process and version. */
export function writeJsonLine(entry: LogEntry): void {
  const head = { time: new Date().toISOString(), level: 'info', instance, version: manifest.version }
  process.stderr.write(`${JSON.stringify({ ...head, ...entry })}\n`)
}

/** A common failure that has not happened for so long is over, in milliseconds. */
const quietMs = 60_000
/** Maximum number of failures whose repetitions are counted. */
const maxCounted = 100

/**
 * Tells whether a line is the first of equal ones, since an outage fails every call. Once it has not come again for a
 * minute, `onOver` receives how often it came.
 */
export function createRepetitions(onOver: (report: string) => void): { isFirst(line: string): boolean } {
  const counted = new Map<string, { times: number; since: number; last: number }>()
  const look = (line: string): void => {
    const failure = counted.get(line)!
    const waitMs = failure.last + quietMs - performance.now()
    if (waitMs > 0) return void setTimeout(look, waitMs, line).unref()
    counted.delete(line)
    if (failure.times === 1) return
    const seconds = Math.round((failure.last - failure.since) / 1000)
    onOver(`not again for ${quietMs / 1000} s, after ${failure.times} times in ${seconds} s: ${line}`)
  }
  return {
    isFirst: (line) => {
      const now = performance.now()
      const failure = counted.get(line)
      if (failure) Object.assign(failure, { times: failure.times + 1, last: now })
      else if (counted.size < maxCounted) {
        counted.set(line, { times: 1, since: now, last: now })
        setTimeout(look, quietMs, line).unref()
      }
      return failure === undefined
    },
  }
}

/** Creates the handler of failures: writes to the log if there is one, otherwise to standard error. */
export function errorWriter(
  log: ((entry: LogEntry) => void) | undefined,
): (error: unknown, context?: FailureContext) => void {
  const write = (entry: Extract<LogEntry, { event: 'error' | 'note' }>): void => {
    try {
      if (log) return log(entry)
    } catch {
      // A failing log must not receive its own failure.
    }
    process.stderr.write(`inlay: ${entry.report}\n`)
  }
  const repetitions = createRepetitions((report) => write({ event: 'note', report }))
  return (error, { requestId, sessionId, messageId } = {}) => {
    const answer = sessionId === undefined ? {} : { sessionId, messageId }
    import('@inlay/agent').then(
      ({ withoutCredentials }) => {
        const { line, report } = logEntry(error, { requestId }, withoutCredentials)
        const entry = { event: 'error', requestId: requestId ?? null, ...answer, report } as const
        if (line === undefined) write({ ...entry, level: 'error' })
        else if (repetitions.isFirst(line)) write({ ...entry, level: 'warning' })
      },
      () => {
        // If the redaction cannot be loaded, only the kind of failure is written.
        const report = `something failed unexpectedly: ${error instanceof Error ? error.name : 'no error'}`
        write({ event: 'error', level: 'error', requestId: requestId ?? null, report })
      },
    )
  }
}
