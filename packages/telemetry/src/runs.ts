import type { Agent, EndedToolCall, EndedTurn, Run } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import { SpanStatusCode, type Span } from '@opentelemetry/api'
import type { Instruments } from './instruments.ts'
import { endFailed, startSpan } from './spans.ts'

interface OpenRun {
  readonly span: Span
  readonly run: Pick<Run, 'finished'>
  /** Time at which the run was first seen to be finished. */
  endedAt?: number
}

/** An answer that is not stored this long after its run finished never will be. */
const storingMs = 60_000

/** Spans of running answers, which contain the spans of their calls. */
export class RunSpans {
  readonly #instruments: Instruments
  readonly #open = new Map<string, OpenRun>()

  constructor(instruments: Instruments) {
    this.#instruments = instruments
  }

  /** Number of runs that are not finished. */
  get size(): number {
    this.#dropUnstored()
    return [...this.#open.values()].filter(({ run }) => !run.finished).length
  }

  observe<Wrapped extends Agent>(agent: Wrapped): Wrapped {
    return { ...agent, send: (request, sending) => this.#send(agent, request, sending) }
  }

  end(turn: EndedTurn): void {
    const { model, status, error, durationMs } = turn
    const attributes = {
      'gen_ai.provider.name': model.provider,
      'gen_ai.request.model': model.name,
      'inlay.run.status': status,
      ...(error && { 'error.type': error.code }),
    }
    this.#instruments.runDuration.record(durationMs / 1000, attributes)
    const span = this.#open.get(keyOf(turn))?.span
    if (!span) return
    this.#open.delete(keyOf(turn))
    span.setAttributes(attributes)
    if (status === 'failed') span.setStatus({ code: SpanStatusCode.ERROR, message: error?.code ?? status })
    span.end()
  }

  async #send(agent: Agent, ...[request, sending]: Parameters<Agent['send']>): ReturnType<Agent['send']> {
    this.#dropUnstored()
    const { span, within } = startSpan('invoke_agent inlay', {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'inlay',
      'inlay.message.origin': request.origin,
      ...(sending?.requestId && { 'inlay.request.id': sending.requestId }),
    })
    try {
      const run = await within(() => agent.send(request, sending))
      span.setAttributes({ 'gen_ai.conversation.id': run.sessionId, 'inlay.message.id': run.messageId })
      // The answer to a repeated message is written by the run of the first.
      if (run.finished || this.#open.has(keyOf(run))) span.end()
      else this.#open.set(keyOf(run), { span, run })
      return run
    } catch (error) {
      endFailed(span, error)
      throw error
    }
  }

  /** Removes runs whose answer could not be stored, for which no event arrives. */
  #dropUnstored(): void {
    const now = performance.now()
    for (const [key, open] of this.#open) {
      if (!open.run.finished || now - (open.endedAt ??= now) < storingMs) continue
      this.#open.delete(key)
      endFailed(open.span, new InlayError('INTERNAL_ERROR'))
    }
  }
}

function keyOf({ sessionId, messageId }: { readonly sessionId: string; readonly messageId: number }): string {
  return `${sessionId} ${messageId}`
}

/** Records a finished tool call: its time, and a span below that of the run. */
export function observeToolCall(
  { name, failed, durationMs }: Pick<EndedToolCall, 'name' | 'failed' | 'durationMs'>,
  { toolDuration }: Instruments,
): void {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    ...(failed && { 'error.type': 'tool_failed' }),
  }
  toolDuration.record(durationMs / 1000, attributes)
  const { span } = startSpan(`execute_tool ${name}`, attributes, { startTime: Date.now() - durationMs })
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR, message: 'tool_failed' })
  span.end()
}
