import type { EndedTurn } from '@inlay/agent'
import type { ServerOptions } from '@inlay/server'
import { logEntry } from './error-report.ts'

type AnsweredRequest = Parameters<NonNullable<ServerOptions['onAnswered']>>[0]

/** A log entry: an event with ids. Contains no text of users or documents. */
export type LogEntry =
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
  /** An unexpected error. `report` contains no credentials, but may contain file names and URLs. */
  | { readonly event: 'error'; readonly requestId: string | null; readonly report: string }

/** The log entry of a stored answer. */
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

/** Writes an entry to standard error as one line of JSON, with its time. */
export function writeJsonLine(entry: LogEntry): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`)
}

/** Creates the handler of failures: writes to the log if there is one, otherwise to standard error. */
export function errorWriter(
  log: ((entry: LogEntry) => void) | undefined,
): (error: unknown, context?: { readonly requestId?: string }) => void {
  return (error, context = {}) => {
    const write = (report: string): void => {
      try {
        if (log) return log({ event: 'error', requestId: context.requestId ?? null, report })
      } catch {
        // A failing log must not receive its own failure.
      }
      process.stderr.write(`inlay: ${report}\n`)
    }
    import('@inlay/agent').then(
      ({ withoutCredentials }) => write(logEntry(error, context, withoutCredentials)),
      // If the redaction cannot be loaded, only the kind of failure is written.
      () => write(`something failed unexpectedly: ${error instanceof Error ? error.name : 'no error'}`),
    )
  }
}
