import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { InlayError, isInlayError, type BaseFilters, type Principal, type SearchDoc } from '@inlay/protocol'
import type { FinishedAnswer, FinishedTurn } from './ending.ts'
import type { ToolCallHooks } from '../tool-calls/call-hooks.ts'
import { type AnswerProgress, type CallSetting } from '../tool-calls/run-tool-calls.ts'
import type { Checkpoints } from '../run/checkpoints.ts'
import type { Action, PastText, TurnFiles } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { Services } from '../contracts/services.ts'
import type { Responder } from '../contracts/responder.ts'
import type { AnswerOutcome, ConversationStore } from '../contracts/conversation-store.ts'
import { toFailure } from '../model/failures.ts'
import { answerMessage } from './answer-message.ts'
import { closing, describeFailure, tellEnding, type Ending } from './ending.ts'
import { respond } from './respond.ts'
import { isFirstQuestion, withoutSearches, type GroundingMemory } from './search-first.ts'
import { createQuestions, questionLimitMs, type SlowModels } from '../model/retry-step.ts'
import { PacketWriter, type PacketWriterOptions } from '../packets/packet-writer.ts'
import { runResearch, type ResearchRun } from '../research/run-research.ts'
import { createResearchWriter } from '../research/research-packets.ts'
import { makeTurnPrompt, type TurnPromptOptions } from '../prompt/turn-prompt.ts'
import type { LiveRun } from '../run/resumable-runs.ts'
import type { ReasoningEffort } from '../model/override-precedence.ts'
import { addUsage, noUsage } from '../model/tool-loop.ts'
import { untilAborted } from '@inlay/protocol/concurrency'

/** One answer of a turn: which model makes it, where it is stored. */
export interface TurnAnswer {
  readonly answerId: number
  readonly model: ResolvedModel
  /** Said after the conversation before each step. */
  readonly reminder: readonly LanguageModelV4Message[]
  /** How much the model is told to think; undefined leaves it to the model. */
  readonly reasoning: ReasoningEffort | undefined
}

/** Options for executing a turn; everything that can fail before a run is already resolved. */
export interface TurnOptions {
  readonly run: LiveRun
  /** One for each model that answers. */
  readonly answers: readonly TurnAnswer[]
  readonly caller: Principal
  readonly userText: string
  readonly filters: BaseFilters | null
  /** Options for the prompts of all answers. */
  readonly prompt: Omit<TurnPromptOptions, 'model' | 'actions' | 'isGiven'>
  readonly actions: readonly Action[]
  /** Those of which the first step has to use one. */
  readonly forced: readonly Action[]
  /** The conversation before the message, for actions. */
  readonly past: readonly PastText[]
  readonly files: TurnFiles
  /** Headers that actions may pass on, lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Names the request in what the operator is told. */
  readonly requestId?: string | undefined
  /** Makes it a deep research, by one model. */
  readonly research?: Pick<ResearchRun, 'limits' | 'price' | 'wasClarified'>
  /** Answers in place of the loop. */
  readonly hostAgent?: Responder | undefined
  readonly includeCitations: boolean
  readonly includeUsage: boolean
  /** Documents that are in the prompt, citable from number 1. */
  readonly contextDocuments: readonly SearchDoc[]
}

/** Dependencies shared by all turns. */
export interface TurnParts extends Pick<Services, 'now' | 'onError'> {
  readonly conversations: ConversationStore
  readonly checkpoints: Checkpoints
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly cycles: number
  readonly actionMs: number
  readonly hooks?: ToolCallHooks | undefined
  readonly modelTries: number
  readonly grounding: GroundingMemory
  readonly slowModels: SlowModels
  /** Finds the model that actions ask. Default: that of the answer. */
  readonly questionModel?: () => Promise<ResolvedModel>
  /** Hears of each turn once its run has ended. */
  readonly onEnd: (turn: FinishedTurn) => void
}

/** Answers a message, stores the answer, ends the run. Never rejects: what fails is told in the run. */
export async function executeTurn(turn: TurnOptions, shared: TurnParts): Promise<void> {
  const { run, answers, requestId } = turn
  const parts: TurnParts =
    requestId === undefined ? shared : { ...shared, onError: (error) => shared.onError(error, { requestId }) }
  const finished = await Promise.all(answers.map((answer, modelIndex) => makeAnswer(turn, parts, answer, modelIndex)))
  // One stop packet for all models, without a `model_index`.
  if (finished.some(({ outcome }) => outcome.status === 'cancelled')) {
    run.write({
      placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null },
      obj: { type: 'stop', stop_reason: 'user_cancelled' },
    })
  }
  run.end()
  parts.onEnd({ sessionId: run.sessionId, caller: turn.caller, userText: turn.userText, answers: finished })
}

async function makeAnswer(
  turn: TurnOptions,
  parts: TurnParts,
  answer: TurnAnswer,
  modelIndex: number,
): Promise<FinishedAnswer> {
  const { run } = turn
  const startedAt = parts.now()
  const progress: AnswerProgress = { calls: [], usage: noUsage }
  const writing = { emit: run.write, modelIndex, now: parts.now, startedAt }
  const { writer, speak } = (turn.research ? researcher : chatter)(turn, parts, answer, writing, progress)
  const forget = parts.checkpoints.track(answer.answerId, () => writer.snapshot().text)
  const context = {
    model: answer.model.name,
    provider: answer.model.provider,
    modelIndex,
    ...(turn.requestId !== undefined && { requestId: turn.requestId }),
  }
  let ending: Ending = { status: 'done' }
  try {
    await untilAborted(speak(), run.signal)
  } catch (error) {
    if (run.stopCause === 'user') ending = { status: 'cancelled' }
    else if (run.stopCause === 'closing') ending = { status: 'terminated', failure: toFailure(closing(), context) }
    else ending = { status: 'failed', failure: describeFailure(error, context, parts) }
  }
  writer.close()
  forget()
  const outcome: AnswerOutcome = {
    ...writer.snapshot(),
    status: ending.status,
    error: 'failure' in ending ? { code: ending.failure.code, message: ending.failure.message } : null,
    toolCalls: progress.calls,
    durationMs: parts.now() - startedAt,
  }
  const { stored, fault } = await storeOutcome(answer.answerId, outcome, parts)
  // The failure of an answer that was not stored as it came is told in the run, whatever else ended it.
  if (fault) ending = { status: 'failed', failure: toFailure(fault, context) }
  tellEnding(ending, turn, writer, progress)
  return { answerId: answer.answerId, model: answer.model, outcome: stored, usage: progress.usage }
}

/**
 * Stores how an answer ended. One that the store refuses is stored as failed, with its text alone: what it refused stands
 * in the calls or the documents.
 */
async function storeOutcome(
  answerId: number,
  outcome: AnswerOutcome,
  { conversations, onError }: TurnParts,
): Promise<{ readonly stored: AnswerOutcome; readonly fault?: InlayError }> {
  try {
    await conversations.finish(answerId, outcome)
    return { stored: outcome }
  } catch (error) {
    onError(error)
    const fault = faultOf(error)
    const { code, message } = fault
    const failed: AnswerOutcome = {
      ...outcome,
      status: 'failed',
      error: { code, message },
      toolCalls: [],
      documents: null,
      citations: [],
    }
    if (isInlayError(error)) return { stored: failed, fault }
    // A store that is out of reach has been reported above.
    await conversations.finish(answerId, failed).catch(() => {})
    return { stored: failed, fault }
  }
}

/** An outage of the store passes: whoever asked may send again. */
function faultOf(error: unknown): InlayError {
  if (!isInlayError(error) || error.code !== 'SERVICE_UNAVAILABLE') return new InlayError('INTERNAL_ERROR')
  const message = 'The answer could not be stored: send the message again in a moment.'
  return new InlayError('SERVICE_UNAVAILABLE', { message, retryable: true, cause: error })
}

/** One who answers: what it has said so far, and its way to say the rest. */
interface Speaker {
  readonly writer: Pick<PacketWriter, 'snapshot' | 'close' | 'emit'>
  readonly speak: () => Promise<void>
}

type WritingOptions = Pick<PacketWriterOptions, 'emit' | 'modelIndex' | 'now' | 'startedAt'>

/** Answers as in a conversation. */
function chatter(
  turn: TurnOptions,
  parts: TurnParts,
  answer: TurnAnswer,
  writing: WritingOptions,
  progress: AnswerProgress,
): Speaker {
  const { includeCitations, contextDocuments } = turn
  const { quotesOnly, comparesCitations = !quotesOnly } = answer.model
  const writer = new PacketWriter({ ...writing, includeCitations, comparesCitations, contextDocuments })
  const setting = settingOf(turn, parts, answer, writing.modelIndex, progress)
  const common = { actions: turn.actions, writer, setting }
  const speak = async (): Promise<void> => {
    const search = turn.hostAgent ? undefined : turn.actions.find(({ builtIn }) => builtIn === 'SearchTool')
    const { callsTools, grounding: choice = 'auto' } = answer.model
    const isUnknown = callsTools === false && choice === 'auto'
    const isFirst = search !== undefined && isUnknown && isFirstQuestion(turn.prompt.opened, search)
    const grounding = search ? parts.grounding.of(answer.model, isFirst) : 'tools'
    const isGiven = grounding === 'given'
    const actions = isGiven ? withoutSearches(turn.actions) : turn.actions
    const prompt = await makeTurnPrompt({ ...turn.prompt, actions, model: answer.model, isGiven }, turn.run.signal)
    if (turn.hostAgent) {
      const resultTokens = Math.floor(answer.model.contextTokens / 8)
      return respond({ ...common, responder: turn.hostAgent, prompt, includeCitations, resultTokens }, progress)
    }
    return answerMessage(
      {
        ...common,
        prompt,
        model: answer.model,
        modelIndex: writing.modelIndex,
        reminder: answer.reminder,
        reasoning: answer.reasoning,
        grounding,
        onFirstStep: isFirst ? (hasCalled) => parts.grounding.note(answer.model, hasCalled) : undefined,
        includeCitations,
        forced: turn.forced,
        cycles: parts.cycles,
        tries: parts.modelTries,
        wait: parts.wait,
      },
      progress,
    )
  }
  return { writer, speak }
}

/** Answers by deep research. */
function researcher(
  turn: TurnOptions,
  parts: TurnParts,
  answer: TurnAnswer,
  writing: WritingOptions,
  progress: AnswerProgress,
): Speaker {
  const writer = createResearchWriter(writing)
  const speak = async (): Promise<void> => {
    // Only called for a turn that is a research.
    if (!turn.research) return
    await runResearch(
      {
        ...turn.research,
        ...writing,
        model: answer.model,
        prompt: await makeTurnPrompt({ ...turn.prompt, actions: turn.actions, model: answer.model }, turn.run.signal),
        reasoning: answer.reasoning,
        actions: turn.actions,
        forced: turn.forced[0],
        writer,
        setting: settingOf(turn, parts, answer, writing.modelIndex, progress),
        tries: parts.modelTries,
        wait: parts.wait,
      },
      progress,
    )
  }
  return { writer: { ...writer, emit: writer.emitCurrent }, speak }
}

/** Context of all calls of an answer. */
function settingOf(
  turn: TurnOptions,
  parts: TurnParts,
  answer: TurnAnswer,
  modelIndex: number,
  progress: AnswerProgress,
): CallSetting {
  const { run } = turn
  const ask = createQuestions({
    model: answer.model,
    helper: parts.questionModel,
    modelIndex,
    reasoning: answer.reasoning,
    signal: run.signal,
    tries: parts.modelTries,
    wait: parts.wait,
    limitMs: questionLimitMs,
    slowModels: parts.slowModels,
    onUsage: (usage) => void (progress.usage = addUsage(progress.usage, usage)),
  })
  return {
    caller: turn.caller,
    sessionId: run.sessionId,
    messageId: answer.answerId,
    userMessage: turn.userText,
    filters: turn.filters,
    given: { messages: turn.past, files: turn.files, headers: turn.headers, ask },
    signal: run.signal,
    limitMs: parts.actionMs,
    hooks: parts.hooks,
    onError: parts.onError,
    // Several answers share their placements, so only the first can be told by place.
    onEnd: modelIndex === 0 ? run.tellCall : () => {},
  }
}
