import { encodeLine, InlayError, isInlayError } from '@inlay/protocol'
import { type AnswerProgress, type CallSetting } from '../tool-calls/run-tool-calls.ts'
import { approvableUntil, stricterPolicy } from '../tool-calls/approval.ts'
import type { Responder } from '../contracts/responder.ts'
import type { AnswerOutcome } from '../contracts/conversation-store.ts'
import { toFailure } from '../model/failures.ts'
import { answerMessage } from './answer-message.ts'
import { closing, describeFailure, endingLines, stopPacket, type Ending } from './ending.ts'
import { respond } from './respond.ts'
import { besideResults, firstSearch, isSmall, isSmallTalk, loadHelp } from './search-first.ts'
import { createQuestions, questionTimeoutMs } from '../model/questions.ts'
import { PacketWriter } from '../packet-writer.ts'
import { wasClarification, type AdmittedResearch } from '../research/admission.ts'
import { runResearch } from '../research/run-research.ts'
import { ResearchWriter } from '../research/research-packets.ts'
import { historyLimits, toPastTexts } from '../prompt/history.ts'
import { encodeSteps } from '../prompt/model-steps.ts'
import { branchTokens } from '../prompt/summaries.ts'
import { makeTurnPrompt } from './turn-prompt.ts'
import { recordedLines } from '../run/recorded-lines.ts'
import { addUsage, noUsage } from '../model/tool-loop.ts'
import { untilAborted } from '@inlay/scheduling'
import type { FinishedAnswer, OpenTurn, TurnAnswer, TurnParts } from './turn-parts.ts'

/** Answers a message, stores the answer and ends the run. Never rejects: failures become part of the run. */
export async function executeTurn(turn: OpenTurn, shared: TurnParts): Promise<void> {
  const { run, models, requestId } = turn
  const place = { sessionId: run.sessionId, messageId: run.messageId, ...(requestId !== undefined && { requestId }) }
  const parts: TurnParts = { ...shared, onError: (error) => shared.onError(error, place) }
  const answers = await Promise.all(models.map((_model, modelIndex) => makeAnswer(turn, parts, modelIndex)))
  if (answers.some(({ outcome }) => outcome.status === 'cancelled')) run.write(stopPacket)
  run.end()
  const limits = historyLimits(Math.max(...models.map(({ contextTokens }) => contextTokens)))
  parts.onEnd({ ...turn, historyTokens: branchTokens(turn.opened, limits), answers })
}

async function makeAnswer(turn: OpenTurn, parts: TurnParts, modelIndex: number): Promise<FinishedAnswer> {
  const { run, caller, opened, requestId } = turn
  const { now } = parts
  const model = turn.models[modelIndex]!
  const answerId = opened.answerIds[modelIndex] ?? 0
  const startedAt = now()
  const progress: AnswerProgress = { calls: [], steps: [], usage: noUsage }
  const answer: TurnAnswer = { answerId, model, progress, emit: run.write, modelIndex, now, startedAt }
  const responder = turn.research
    ? createResearchResponder(turn.research, turn, parts, answer)
    : createChatResponder(turn, parts, answer)
  const { writer } = responder
  const context = { model: model.name, provider: model.provider, modelIndex, requestId }
  let ending: Ending = { status: 'done' }
  try {
    await untilAborted(responder.respond(), run.signal)
  } catch (error) {
    if (run.stopCause === 'user') ending = { status: 'cancelled' }
    else if (run.stopCause === 'closing') ending = { status: 'terminated', failure: toFailure(closing(), context) }
    else ending = { status: 'failed', failure: describeFailure(error, context, parts) }
  }
  writer.close()
  const { include_usage: includeUsage } = turn.request
  const recorded = recordedLines(run.log, modelIndex)
  const ends = endingLines(ending, includeUsage, writer, progress)
  const stops = ending.status === 'cancelled' ? [stopPacket] : ends
  const outcome: AnswerOutcome = {
    ...writer.snapshot(),
    status: ending.status,
    error: 'failure' in ending ? { code: ending.failure.code, message: ending.failure.message } : null,
    toolCalls: progress.calls,
    durationMs: now() - startedAt,
    usage: progress.usage,
    ...(progress.calls.length > 0 && { modelSteps: encodeSteps(model, progress.steps) }),
    ...(recorded && { lines: [...recorded, ...stops.map(encodeLine)] }),
  }
  const { stored, fault } = await storeOutcome(answerId, outcome, parts)
  // A failure to store the answer is reported in the run, whatever else ended it.
  const failed = fault && ({ status: 'failed', failure: toFailure(fault, context) } as const)
  const waiting = stored.status === 'done' ? stored.toolCalls.filter((call) => approvableUntil(call) !== undefined) : []
  const { sessionId } = run
  for (const { callId: toolCallId, name: toolName } of waiting)
    parts.onApproval({ kind: 'requested', caller, sessionId, messageId: answerId, toolCallId, toolName })
  for (const line of failed ? endingLines(failed, includeUsage, writer, progress) : ends) run.write(line)
  return { answerId, model, outcome: stored, usage: progress.usage }
}

/** What the store rejects is stored as failed with its text only, since the calls or documents caused that. */
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

function createChatResponder(turn: OpenTurn, parts: TurnParts, answer: TurnAnswer): AnswerResponder {
  const { client, contextFiles, context } = turn
  const { hostAgent } = context.persona
  const inPrompt = contextFiles.kind === 'in-prompt' ? contextFiles.documents : []
  const writer = new PacketWriter({
    ...answer,
    includeCitations: turn.request.include_citations,
    compareCitations: answer.model.compareCitations,
    numbersAsCited: client !== undefined,
    contextDocuments: client?.paused?.documents ?? inPrompt,
    citable: client?.paused?.citable.copy(),
  })
  const respondByHost = hostAgent && (() => respondByAgent(hostAgent, turn, parts, answer, writer))
  return { writer, respond: respondByHost ?? (() => respondByModel(turn, parts, answer, writer)) }
}

async function respondByAgent(
  responder: Responder,
  turn: OpenTurn,
  parts: TurnParts,
  answer: TurnAnswer,
  writer: PacketWriter,
): Promise<void> {
  const { model, progress } = answer
  const { actions } = turn.usable
  const { prompt } = await makeTurnPrompt(turn, parts, { model, actions }, turn.run.signal)
  const setting = settingOf(turn, parts, answer)
  const { include_citations: includeCitations } = turn.request
  const resultTokens = Math.floor(model.contextTokens / 8)
  await respond({ responder, prompt, actions, includeCitations, writer, setting, resultTokens }, progress)
}

async function respondByModel(
  turn: OpenTurn,
  parts: TurnParts,
  answer: TurnAnswer,
  writer: PacketWriter,
): Promise<void> {
  const { opened, client, usable, decided } = turn
  const { model } = answer
  const { forced } = usable
  const search = decided || client?.messages.length ? undefined : firstSearch(model, turn)
  const help = isSmall(model) ? await loadHelp(model, parts.smallModels) : undefined
  const isSearched = search !== undefined
  const isTalk = forced.length === 0 && isSmallTalk(opened)
  const actions = help && (isSearched || isTalk) ? besideResults(usable.actions) : usable.actions
  const wording = help && ((hasFiles: boolean) => help.wording({ isTalk, isSearched, hasFiles }))
  const { prompt, hasFiles, fileTexts } = await makeTurnPrompt(
    turn,
    parts,
    { model, actions, wording },
    turn.run.signal,
  )
  writer.citable.completesCitations = isSearched
  if (fileTexts.length > 0) writer.citable.addUnnumbered(fileTexts)
  const { include_citations: includeCitations } = turn.request
  await answerMessage({
    turn,
    parts,
    answer: help && search ? { ...answer, model: help.givenModel(model, { includeCitations, hasFiles }) } : answer,
    writer,
    setting: settingOf(turn, parts, answer),
    prompt: client ? [...prompt, ...client.messages] : prompt,
    actions,
    firstSearch: search,
  })
}

function createResearchResponder(
  research: AdmittedResearch,
  turn: OpenTurn,
  parts: TurnParts,
  answer: TurnAnswer,
): AnswerResponder {
  const writer = new ResearchWriter(answer)
  const respondByResearch = async (): Promise<void> => {
    const { actions, forced } = turn.usable
    const { model } = answer
    const { prompt } = await makeTurnPrompt(turn, parts, { model, actions }, turn.run.signal)
    await runResearch({
      ...research,
      ...answer,
      prompt,
      wasClarified: wasClarification(turn.opened.messages.findLast(({ role }) => role === 'assistant')),
      reasoning: turn.reasoning,
      actions,
      forced: forced[0],
      writer,
      setting: settingOf(turn, parts, answer),
      maxAttempts: parts.maxModelAttempts,
      wait: parts.wait,
    })
  }
  return { writer, respond: respondByResearch }
}

function settingOf(turn: OpenTurn, parts: TurnParts, answer: TurnAnswer): CallSetting {
  const { run, caller, opened, files, headers = {}, reasoning, client, context } = turn
  const { persona, filters } = context
  const { model, modelIndex, progress } = answer
  const canAsk = parts.canAsk && turn.models.length === 1 && !turn.research && !persona.hostAgent
  const ask = createQuestions({
    model,
    helper: parts.questionModel,
    modelIndex,
    reasoning,
    signal: run.signal,
    maxAttempts: parts.maxModelAttempts,
    wait: parts.wait,
    timeoutMs: questionTimeoutMs,
    slowModels: parts.slowModels,
    onUsage: (usage) => void (progress.usage = addUsage(progress.usage, usage)),
  })
  return {
    turn: {
      caller,
      sessionId: run.sessionId,
      messageId: answer.answerId,
      userMessage: opened.userText,
      filters,
      messages: toPastTexts(opened.messages),
      files,
      headers,
      maxPassages: client?.maxPassages,
      ask,
    },
    showsMcpArguments: client !== undefined,
    signal: run.signal,
    timeoutMs: parts.actionTimeoutMs,
    approval: stricterPolicy(parts.toolApproval, persona.toolApproval),
    approvableUntil: canAsk ? () => parts.now() + parts.approvalMs : undefined,
    hooks: parts.hooks,
    onError: parts.onError,
    // Parallel answers share placements, so only calls of the first can be identified by place.
    onEnd: modelIndex === 0 ? run.tellCall : () => {},
  }
}
