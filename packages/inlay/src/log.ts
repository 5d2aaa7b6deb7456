import type { EndedTurn } from '@inlay/agent'
import type { ServerOptions } from '@inlay/server'
import { logEntry } from './error-report.ts'

type AnsweredRequest = Parameters<NonNullable<ServerOptions['onAnswered']>>[0]

/** An entry of the log: what happened, with ids. Nothing in it was written by people or stands in documents. */
export type LogEntry =
  | ({ readonly event: 'request' } & AnsweredRequest)
  | {
      readonly event: 'run'
      readonly sessionId: string
      readonly messageId: number
      readonly callerId: string
      readonly status: EndedTurn['status']
      /** Null when nothing failed. */
      readonly errorCode: string | null
      readonly provider: string
      readonly model: string
      readonly tools: readonly string[]
      readonly durationMs: number
    }
  /** An unexpected error. `report` contains no credentials, but may contain file names and addresses. */
  | { readonly event: 'error'; readonly requestId: string | null; readonly report: string }

/** The entry of an answer that is stored. */
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

/** Writes an entry to standard error, as one line of JSON with its time. */
export function writeJsonLine(entry: LogEntry): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`)
}

/** Receives failures: the log gets them when there is one, else standard error. */
export function errorWriter(
  log: ((entry: LogEntry) => void) | undefined,
): (error: unknown, context?: { readonly requestId?: string }) => void {
  return (error, context = {}) => {
    const write = (report: string): void => {
      try {
        if (log) return log({ event: 'error', requestId: context.requestId ?? null, report })
      } catch {
        // A log that breaks gets no more of it.
      }
      process.stderr.write(`inlay: ${report}\n`)
    }
    import('@inlay/agent').then(
      ({ withoutCredentials }) => write(logEntry(error, context, withoutCredentials)),
      // Without it nothing can be taken out of the words, so only the kind of failure is told.
      () => write(`something failed unexpectedly: ${error instanceof Error ? error.name : 'no error'}`),
    )
  }
}
