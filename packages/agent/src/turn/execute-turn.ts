import type { LanguageModelV4Message } from '@ai-sdk/provider'
import {
  encodeLine,
  InlayError,
  isInlayError,
  type BaseFilters,
  type Origin,
  type Principal,
  type SearchDoc,
} from '@inlay/protocol'
import type { FinishedAnswer, FinishedTurn } from './ending.ts'
import type { ToolCallHooks } from '../tool-calls/call-hooks.ts'
import { type AnswerProgress, type CallSetting } from '../tool-calls/run-tool-calls.ts'
import { approvableUntil, type DecidedCall } from '../tool-calls/approval.ts'
import type { Action, PastText, ToolApprovalEvent, ToolApprovalPolicy, TurnFiles } from '../contracts/action.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { Services } from '../contracts/services.ts'
import type { Responder } from '../contracts/responder.ts'
import type { SmallModels } from '../contracts/small-models.ts'
import type { AnswerOutcome, ConversationStore } from '../contracts/conversation-store.ts'
import { toFailure } from '../model/failures.ts'
import type { SettleTurn } from './admission.ts'
import { answerMessage } from './answer-message.ts'
import { closing, describeFailure, endingLines, stopPacket, type Ending } from './ending.ts'
import { respond } from './respond.ts'
import { besideResults, firstSearch, isSmall, isSmallTalk, loadHelp } from './search-first.ts'
import type { ClientContext } from './client-turn.ts'
import { createQuestions, questionTimeoutMs, type SlowModels } from '../model/questions.ts'
import { PacketWriter, type PacketWriterOptions } from '../packet-writer.ts'
import { runResearch, type ResearchRun } from '../research/run-research.ts'
import { createResearchWriter } from '../research/research-packets.ts'
import { historyLimits } from '../prompt/history.ts'
import { decodeSteps, encodeSteps } from '../prompt/model-steps.ts'
import { branchTokens } from '../prompt/summaries.ts'
import { makeTurnPrompt, type TurnPromptOptions } from '../prompt/turn-prompt.ts'
import type { LiveRun } from '../run/live-runs.ts'
import { recordedLines } from '../run/recorded-lines.ts'
import type { ReasoningEffort } from '../model/override-precedence.ts'
import { addUsage, noUsage } from '../model/tool-loop.ts'
import { untilAborted } from '@inlay/scheduling'

/** One answer of a turn: its model, and where it is stored. */
export interface TurnAnswer {
  readonly answerId: number
  readonly model: ResolvedModel
  /** Messages added after the conversation in each step. */
  readonly reminder: readonly LanguageModelV4Message[]
  /** How much the model should reason; undefined leaves it to the model. */
  readonly reasoning: ReasoningEffort | undefined
}

/** Options for executing a turn; everything that can fail before a run is resolved already. */
export interface TurnOptions {
  readonly run: LiveRun
  /** One per model. */
  readonly answers: readonly TurnAnswer[]
  readonly caller: Principal
  readonly userText: string
  /** The client that sent the message. */
  readonly origin: Origin
  readonly filters: BaseFilters | null
  /** Options for the prompts of all answers. */
  readonly prompt: Omit<TurnPromptOptions, 'model' | 'actions' | 'wording'>
  readonly actions: readonly Action[]
  /** Actions of which the first step has to use one. */
  readonly forced: readonly Action[]
  /** The conversation before the message, for actions. */
  readonly past: readonly PastText[]
  readonly files: TurnFiles
  /** Headers that actions may pass on, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Names the request in reports to the operator. */
  readonly requestId?: string | undefined
  /** Makes it a deep research run, by one model. */
  readonly research?: Pick<ResearchRun, 'limits' | 'price' | 'wasClarified'>
  /** Answers in place of Inlay's loop. */
  readonly hostAgent?: Responder | undefined
  readonly includeCitations: boolean
  readonly includeUsage: boolean
  /** Settles what was reserved for the answers. */
  readonly settle?: SettleTurn | undefined
  /** Which calls a person has to approve. */
  readonly approval: ToolApprovalPolicy
  /** Whether a person can be asked. */
  readonly canAsk: boolean
  /** Calls of the answer before that a person decided about. */
  readonly decided?: readonly DecidedCall[] | undefined
  /** Documents in the prompt, citable from number 1. */
  readonly contextDocuments: readonly SearchDoc[]
  /** What its client brings. Default: nothing. */
  readonly client?: ClientContext | undefined
}

/** Dependencies shared by all turns. */
export interface TurnParts extends Pick<Services, 'now' | 'onError'> {
  readonly conversations: ConversationStore
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly maxSteps: number
  readonly actionTimeoutMs: number
  /** How long a person may take to approve a call. */
  readonly approvalMs: number
  readonly onApproval: (event: ToolApprovalEvent) => void
  readonly hooks?: ToolCallHooks | undefined
  readonly maxModelAttempts: number
  /** Loads the help for models that call no tools by themselves. Default: there is none. */
  readonly smallModels?: (() => Promise<SmallModels>) | undefined
  readonly slowModels: SlowModels
  /** Finds the model that actions ask. Default: the model of the answer. */
  readonly questionModel?: () => Promise<ResolvedModel>
  /** Called for each turn once its run has ended. */
  readonly onEnd: (turn: FinishedTurn) => void
}

/** Answers a message, stores the answer and ends the run. Never rejects: failures become part of the run. */
export async function executeTurn(turn: TurnOptions, shared: TurnParts): Promise<void> {
  const { run, answers, requestId } = turn
  const { sessionId, messageId } = run
  const place = { sessionId, messageId, ...(requestId !== undefined && { requestId }) }
  const parts: TurnParts = { ...shared, onError: (error) => shared.onError(error, place) }
  const finished = await Promise.all(answers.map((answer, modelIndex) => makeAnswer(turn, parts, answer, modelIndex)))
  if (finished.some(({ outcome }) => outcome.status === 'cancelled')) run.write(stopPacket)
  run.end()
  const { caller, userText, origin, settle } = turn
  const { opened } = turn.prompt
  const limits = historyLimits(Math.max(...answers.map(({ model }) => model.contextTokens)))
  const historyTokens = branchTokens(opened, limits)
  const { isOwn = false, isStored = true } = turn.client ?? {}
  const kept = { isStored, isSummed: !isOwn }
  parts.onEnd({ sessionId: run.sessionId, caller, userText, origin, historyTokens, answers: finished, settle, ...kept })
}

async function makeAnswer(
  turn: TurnOptions,
  parts: TurnParts,
  answer: TurnAnswer,
  modelIndex: number,
): Promise<FinishedAnswer> {
  const { run } = turn
  const startedAt = parts.now()
  const progress: AnswerProgress = { calls: [], steps: [], usage: noUsage }
  const writing = { emit: run.write, modelIndex, now: parts.now, startedAt }
  const responder = turn.research
    ? createResearchResponder(turn.research, turn, parts, answer, writing, progress)
    : createChatResponder(turn, parts, answer, writing, progress)
  const { writer } = responder
  const context = {
    model: answer.model.name,
    provider: answer.model.provider,
    modelIndex,
    ...(turn.requestId !== undefined && { requestId: turn.requestId }),
  }
  let ending: Ending = { status: 'done' }
  try {
    await untilAborted(responder.respond(), run.signal)
  } catch (error) {
    if (run.stopCause === 'user') ending = { status: 'cancelled' }
    else if (run.stopCause === 'closing') ending = { status: 'terminated', failure: toFailure(closing(), context) }
    else ending = { status: 'failed', failure: describeFailure(error, context, parts) }
  }
  writer.close()
  const recorded = recordedLines(run.log, modelIndex)
  const ends = endingLines(ending, turn.includeUsage, writer, progress)
  const stops = ending.status === 'cancelled' ? [stopPacket] : ends
  const outcome: AnswerOutcome = {
    ...writer.snapshot(),
    status: ending.status,
    error: 'failure' in ending ? { code: ending.failure.code, message: ending.failure.message } : null,
    toolCalls: progress.calls,
    durationMs: parts.now() - startedAt,
    usage: progress.usage,
    ...(progress.calls.length > 0 && { modelSteps: encodeSteps(answer.model, progress.steps) }),
    ...(recorded && { lines: [...recorded, ...stops.map(encodeLine)] }),
  }
  const { stored, fault } = await storeOutcome(answer.answerId, outcome, parts)
  // A failure to store the answer is reported in the run, whatever else ended it.
  const failed = fault && ({ status: 'failed', failure: toFailure(fault, context) } as const)
  const { caller } = turn
  const { answerId: messageId } = answer
  const waiting = stored.status === 'done' ? stored.toolCalls.filter((call) => approvableUntil(call) !== undefined) : []
  for (const { callId: toolCallId, name: toolName } of waiting)
    parts.onApproval({ kind: 'requested', caller, sessionId: run.sessionId, messageId, toolCallId, toolName })
  for (const line of failed ? endingLines(failed, turn.includeUsage, writer, progress) : ends) run.write(line)
  return { answerId: answer.answerId, model: answer.model, outcome: stored, usage: progress.usage }
}

/**
 * Stores how an answer ended. If the store rejects it, it is stored as failed with its text only, since the calls or
 * documents caused that.
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
    const { lines: _, ...kept } = outcome
    const failed: AnswerOutcome = {
      ...kept,
      status: 'failed',
      error: { code, message },
      toolCalls: [],
      documents: null,
      citations: [],
    }
    if (isInlayError(error)) return { stored: failed, fault }
    // A store that cannot be reached was reported above.
    await conversations.finish(answerId, failed).catch(() => {})
    return { stored: failed, fault }
  }
}

/** An outage of the store is temporary: the user may send again. */
function faultOf(error: unknown): InlayError {
  if (!isInlayError(error) || error.code !== 'SERVICE_UNAVAILABLE') return new InlayError('INTERNAL_ERROR')
  const message = 'The answer could not be stored: send the message again in a moment.'
  return new InlayError('SERVICE_UNAVAILABLE', { message, retryable: true, cause: error })
}

interface AnswerResponder {
  readonly writer: Pick<PacketWriter, 'snapshot' | 'close' | 'place'>
  readonly respond: () => Promise<void>
}

type WritingOptions = Pick<PacketWriterOptions, 'emit' | 'modelIndex' | 'now' | 'startedAt'>

/** Answers a chat message, by the model or by an agent of the host. */
function createChatResponder(
  turn: TurnOptions,
  parts: TurnParts,
  answer: TurnAnswer,
  writing: WritingOptions,
  progress: AnswerProgress,
): AnswerResponder {
  const { includeCitations, hostAgent, forced, decided, client } = turn
  const contextDocuments = client?.paused?.documents ?? turn.contextDocuments
  const { model } = answer
  const { compareCitations } = model
  const citable = client?.paused?.citable.copy()
  const numbersAsCited = client !== undefined
  const marks = { includeCitations, compareCitations, numbersAsCited }
  const writer = new PacketWriter({ ...writing, ...marks, contextDocuments, citable })
  const setting = settingOf(turn, parts, answer, writing.modelIndex, progress)
  const common = { actions: turn.actions, writer, setting, includeCitations }

  const respondByAgent = async (responder: Responder): Promise<void> => {
    const { prompt } = await makeTurnPrompt({ ...turn.prompt, actions: turn.actions, model }, turn.run.signal)
    const resultTokens = Math.floor(model.contextTokens / 8)
    await respond({ ...common, responder, prompt, resultTokens }, progress)
  }
  const respondByModel = async (): Promise<void> => {
    const { opened } = turn.prompt
    const search =
      decided || client?.messages.length ? undefined : firstSearch({ model, opened, forced, actions: turn.actions })
    const help = isSmall(model) ? await loadHelp(model, parts.smallModels) : undefined
    const isSearched = search !== undefined
    const isTalk = forced.length === 0 && isSmallTalk(opened)
    const actions = help && (isSearched || isTalk) ? besideResults(turn.actions) : turn.actions
    const wording = help && ((hasFiles: boolean) => help.wording({ isTalk, isSearched, hasFiles }))
    const { prompt, hasFiles, fileTexts } = await makeTurnPrompt(
      { ...turn.prompt, actions, model, wording },
      turn.run.signal,
    )
    writer.citable.completesCitations = isSearched
    if (fileTexts.length > 0) writer.citable.addUnnumbered(fileTexts)
    const { reminder, reasoning } = answer
    await answerMessage(
      {
        ...common,
        actions,
        prompt: client ? [...prompt, ...client.messages] : prompt,
        client,
        model: help && search ? help.givenModel(model, { includeCitations, hasFiles }) : model,
        modelIndex: writing.modelIndex,
        reminder,
        reasoning,
        firstSearch: search,
        decided,
        decidedSteps: decided && decodeSteps(model, opened.messages.at(-1)?.modelSteps),
        forced,
        maxSteps: parts.maxSteps,
        maxAttempts: parts.maxModelAttempts,
        wait: parts.wait,
      },
      progress,
    )
  }
  return { writer, respond: () => (hostAgent ? respondByAgent(hostAgent) : respondByModel()) }
}

/** Answers by deep research. */
function createResearchResponder(
  research: NonNullable<TurnOptions['research']>,
  turn: TurnOptions,
  parts: TurnParts,
  answer: TurnAnswer,
  writing: WritingOptions,
  progress: AnswerProgress,
): AnswerResponder {
  const writer = createResearchWriter(writing)
  const respondByResearch = async (): Promise<void> => {
    const { actions, run } = turn
    const { prompt } = await makeTurnPrompt({ ...turn.prompt, actions, model: answer.model }, run.signal)
    await runResearch(
      {
        ...research,
        ...writing,
        model: answer.model,
        prompt,
        reasoning: answer.reasoning,
        actions: turn.actions,
        forced: turn.forced[0],
        writer,
        setting: settingOf(turn, parts, answer, writing.modelIndex, progress),
        maxAttempts: parts.maxModelAttempts,
        wait: parts.wait,
      },
      progress,
    )
  }
  return { writer, respond: respondByResearch }
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
    maxAttempts: parts.maxModelAttempts,
    wait: parts.wait,
    timeoutMs: questionTimeoutMs,
    slowModels: parts.slowModels,
    onUsage: (usage) => void (progress.usage = addUsage(progress.usage, usage)),
  })
  return {
    caller: turn.caller,
    sessionId: run.sessionId,
    messageId: answer.answerId,
    userMessage: turn.userText,
    filters: turn.filters,
    given: {
      messages: turn.past,
      files: turn.files,
      headers: turn.headers,
      maxPassages: turn.client?.maxPassages,
      ask,
    },
    showsMcpArguments: turn.client !== undefined,
    signal: run.signal,
    timeoutMs: parts.actionTimeoutMs,
    approval: turn.approval,
    approvableUntil: turn.canAsk ? () => parts.now() + parts.approvalMs : undefined,
    hooks: parts.hooks,
    onError: parts.onError,
    // Parallel answers share placements, so only calls of the first can be identified by place.
    onEnd: modelIndex === 0 ? run.tellCall : () => {},
  }
}
