import { InlayError, isInlayError, isJsonObject } from '@inlay/protocol'
import type { Origin, Packet, StreamLine } from '@inlay/protocol'
import { reportFailure, toFailure, type Failure, type FailureContext } from '../model/failures.ts'
import type { PacketWriter } from '../packet-writer.ts'
import type { AnswerProgress } from '../tool-calls/run-tool-calls.ts'
import { estimateTokens } from '../prompt/context-window.ts'
import type { EndedTurn } from './hooks.ts'
import { isLongBranch, summarizeBranch } from '../prompt/summaries.ts'
import type { FinishedAnswer, FinishedTurn, TurnParts } from './turn-parts.ts'

export type Ending =
  | { readonly status: 'done' | 'cancelled' }
  | { readonly status: 'failed' | 'terminated'; readonly failure: Failure }

export function closing(): InlayError {
  return new InlayError('SERVICE_UNAVAILABLE', {
    message: 'The server is stopping: send the message again in a while.',
  })
}

export function describeFailure(
  error: unknown,
  context: FailureContext,
  { onError }: { readonly onError: (error: unknown) => void },
): Failure {
  const failure = toFailure(error, context)
  reportFailure(error, context, onError)
  // A step that failed without an exception has its own details.
  const own = isInlayError(error) ? error.data['details'] : undefined
  return isJsonObject(own) ? { ...failure, details: { ...failure.details, ...own } } : failure
}

/** The lines that end an answer. One that its user stopped ends with its run. */
export function endingLines(
  ending: Ending,
  includeUsage: boolean,
  writer: Pick<PacketWriter, 'place'>,
  { usage, stopReason }: AnswerProgress,
): StreamLine[] {
  if (ending.status === 'cancelled') return []
  if (!('failure' in ending))
    return [writer.place({ type: 'stop', stop_reason: stopReason ?? null, ...(includeUsage && { usage }) })]
  const { message, code, retryable, details } = ending.failure
  return [
    writer.place({ type: 'error', exception: message, error_code: code, is_retryable: retryable }),
    { error: message, stack_trace: null, error_code: code, is_retryable: retryable, details },
  ]
}

/** Ends a run that its user stopped; one packet for all models, without a `model_index`. */
export const stopPacket: Packet = {
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null },
  obj: { type: 'stop', stop_reason: 'user_cancelled' },
}

/** Work after a run has ended; readers of the run do not wait for it. */
export interface AfterTurn {
  onEnd(turn: FinishedTurn): void
  /** Aborts summaries in progress; resolves once all other work is done. */
  close(): Promise<void>
}

const summaryTimeMs = 120_000

/** Clients in which people see a list of their sessions. Programs read no names, so none costs them a call of a model. */
const listingSessions: ReadonlySet<Origin> = new Set(['webapp', 'widget', 'mobile', 'chrome_extension'])

type Parts = Pick<TurnParts, 'conversations' | 'hooks' | 'onError' | 'questionModel'>

export function createAfterTurn({ conversations, onError, hooks, questionModel }: Parts): AfterTurn {
  const after = hooks?.after
  const following = new Set<Promise<void>>()
  const closing = new AbortController()

  const follow = (work: Promise<void>): void => {
    const watched = work.catch(onError).finally(() => following.delete(watched))
    following.add(watched)
  }
  // Models may take minutes for these, so they hold on to nothing of the turn but what they need.
  const summarize = async (
    sessionId: string,
    userText: string,
    historyTokens: number | undefined,
    { answerId, model, outcome }: FinishedAnswer,
  ): Promise<void> => {
    const newTokens = estimateTokens(userText) + estimateTokens(outcome.text)
    const isShort = historyTokens !== undefined && !isLongBranch(historyTokens + newTokens, model)
    if (isShort || closing.signal.aborted) return
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(summaryTimeMs)])
    try {
      await summarizeBranch({ conversations, sessionId, messageId: answerId, model, signal })
    } catch (error) {
      // The next turn tries again.
      if (!closing.signal.aborted) throw error
    }
  }
  const name = async (sessionId: string, question: string, { model, outcome }: FinishedAnswer): Promise<void> => {
    await conversations.nameSession?.({
      sessionId,
      question,
      text: outcome.status === 'done' ? outcome.text : '',
      model: async () => (model.quotesOnly || !questionModel ? model : questionModel()),
      signal: closing.signal,
    })
  }
  return {
    onEnd: (turn) => {
      const { settle, client, historyTokens } = turn
      const { sessionId } = turn.run
      const { userText } = turn.opened
      if (settle) follow(settle(turn.answers.reduce((sum, answer) => sum + usedTokens(answer, userText), 0)))
      // The mainline continues with the first answer. What is not stored has no name.
      const [first] = client?.isStored === false ? [] : turn.answers
      if (first && listingSessions.has(turn.request.origin)) follow(name(sessionId, userText, first))
      // Clients that keep the conversation need no summary.
      if (!client?.isOwn && first?.outcome.status === 'done' && !first.model.quotesOnly)
        follow(summarize(sessionId, userText, historyTokens, first))
      if (!after) return
      for (const ended of turn.answers.map((answer) => toEndedTurn(turn, answer))) follow((async () => after(ended))())
    },
    close: async () => {
      closing.abort()
      await Promise.all(following)
    },
  }
}

/** Tokens of prompts and answers; estimated from the texts if the model reports none. */
function usedTokens({ usage, outcome }: FinishedAnswer, userText: string): number {
  const tokens = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0)
  return tokens > 0 ? tokens : estimateTokens(userText + outcome.text)
}

function toEndedTurn(
  { caller, run, opened }: FinishedTurn,
  { answerId, model, outcome, usage }: FinishedAnswer,
): EndedTurn {
  return {
    caller,
    sessionId: run.sessionId,
    messageId: answerId,
    userMessage: opened.userText,
    answer: outcome.text,
    status: outcome.status,
    error: outcome.error,
    citations: outcome.citations,
    calls: outcome.toolCalls.map(({ name, failed }) => ({ name, failed })),
    model: { provider: model.provider, name: model.name },
    usage,
    durationMs: outcome.durationMs,
  }
}
