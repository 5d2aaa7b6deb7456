import { InlayError, isInlayError, isJsonObject } from '@inlay/protocol'
import type { AnswerOutcome } from '../contracts/conversation-store.ts'
import { reportFailure, toFailure, type Failure, type FailureContext } from '../model/failures.ts'
import type { PacketWriter } from '../packets/packet-writer.ts'
import type { LiveRun } from '../run/registry.ts'
import type { AnswerProgress } from '../tools/execution.ts'

/** How an answer ended. */
export type Ending =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed' | 'terminated'; readonly failure: Failure }

/** The error of an answer whose server stops. */
export function closing(): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', {
    message: 'The server is stopping: send the message again in a while.',
  })
}

/** The failure behind an error; reports it. */
export function describeFailure(
  error: unknown,
  context: FailureContext,
  { onError }: { readonly onError: (error: unknown) => void },
): Failure {
  const failure = toFailure(error, context)
  reportFailure(error, context, onError)
  // A step that failed without throwing brings its own details.
  const own = isInlayError(error) ? error.data['details'] : undefined
  return isJsonObject(own) ? { ...failure, details: { ...failure.details, ...own } } : failure
}

type Told = Pick<PacketWriter, 'snapshot' | 'emit'>

/** What is stored of an answer. */
export function toOutcome(ending: Ending, writer: Told, progress: AnswerProgress, durationMs: number): AnswerOutcome {
  const said = writer.snapshot()
  return {
    status: ending.status,
    text: said.text,
    reasoning: said.reasoning,
    error: 'failure' in ending ? { code: ending.failure.code, message: ending.failure.message } : null,
    citations: said.citations,
    documents: said.documents,
    toolCalls: progress.calls,
    durationMs,
  }
}

/** Sends the packets that end an answer. */
export function tellEnding(
  ending: Ending,
  turn: { readonly run: LiveRun; readonly includeUsage: boolean },
  writer: Told,
  progress: AnswerProgress,
): void {
  if (!('failure' in ending)) {
    if (ending.status === 'cancelled') return
    return writer.emit({ type: 'stop', stop_reason: null, ...(turn.includeUsage ? { usage: progress.usage } : {}) })
  }
  const { message, code, retryable, details } = ending.failure
  writer.emit({ type: 'error', exception: message, error_code: code, is_retryable: retryable })
  turn.run.write({ error: message, stack_trace: null, error_code: code, is_retryable: retryable, details })
}
