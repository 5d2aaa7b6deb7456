import { InlayError, type Principal, type SendMessageRequest } from '@inlay/protocol'
import type { OwnedSending } from '../contracts/agent.ts'
import type { ClientTurn } from '../contracts/client-turn.ts'
import type { OpenedTurn } from '../contracts/conversation-store.ts'
import { estimateTokens } from '../prompt/context-window.ts'
import { historyLimits } from '../prompt/history.ts'
import { modelKey } from '../prompt/model-steps.ts'
import { researchParams } from '../research/admission.ts'
import type { DecidedCall } from '../tool-calls/approval.ts'
import type { LiveRun, Runs } from '../run/live-runs.ts'
import { executeTurn } from './execute-turn.ts'
import { readSteps, type ClientContext } from './client-turn.ts'
import type { SendKey, SendRetry } from './idempotency.ts'
import type { SettleTurn } from './admission.ts'
import { askHost, planTurn } from './plan-turn.ts'
import { createTurnFiles } from './turn-context.ts'
import type { TurnParts, TurnPlan } from './turn-parts.ts'

interface StartOptions {
  readonly key?: SendKey
  readonly retry?: SendRetry | undefined
  /** Calls of the answer before that a person decided about. */
  readonly decided?: readonly DecidedCall[]
}

/** Rejects with everything that can be known before the run. */
export async function startRun(
  parts: TurnParts,
  request: SendMessageRequest,
  { caller, headers, requestId, client }: OwnedSending,
  { key, retry, decided }: StartOptions = {},
): Promise<LiveRun> {
  const leave = parts.runLimit.enter(caller.id)
  if (!leave) throw tooManyRuns(parts.runLimit.most)
  let settle: SettleTurn | undefined
  try {
    const planned = await planTurn(parts, retry ? toRepeat(request, retry) : request, caller, client)
    if (decided) checkOneAnswer(planned)
    const sessionId = planned.session?.id ?? null
    settle = await parts.admit?.({ caller, sessionId, expectedTokens: expectedTokens(planned) })
    const plan = await askHost(parts, planned, caller)
    const fileIds = plan.context.descriptors.flatMap(({ user_file_id: id }) => id ?? [])
    if (fileIds.length > 0) await parts.files.noteUse(fileIds)
    const opened = await openTurn(parts, plan, caller, { key, decided })
    const run = openRun(parts.runs, retry ? { ...opened, isNewSession: retry.openedSession } : opened, plan)
    void run.ended.then(leave)
    // The answer begins meanwhile.
    const shared = parts.sharing?.share(run)
    const files = createTurnFiles(parts, plan.context, opened, caller)
    const reasoning = client?.parameters?.reasoning ?? plan.reasoning
    const turn = { ...plan, reasoning, opened, run, caller, headers, requestId, files, settle, decided }
    void executeTurn({ ...turn, client: client && toClientContext(client, parts, plan, caller) }, parts)
    await shared
    return run
  } catch (error) {
    leave()
    await settle?.(0)
    throw error
  }
}

/** Each answer would make the calls, and research or an agent of the host makes none. */
function checkOneAnswer({ models, research, context }: TurnPlan): void {
  if (models.length === 1 && !research && !context.persona.hostAgent) return
  throw new InlayError('VALIDATION_ERROR', {
    message: 'tool_approvals is for one answer of a model: send it without llm_overrides and deep_research.',
  })
}

/** Suggested retry delay: most answers take a few seconds. */
const retryAfterSeconds = 5

function tooManyRuns(most: number): InlayError {
  return new InlayError('RATE_LIMITED', {
    message: `${most} answers are being made for this caller: send the message once one of them has ended.`,
    data: { retryAfterSeconds, of: 'caller' },
  })
}

/** Turns a request into one that answers the question of an earlier send again. */
function toRepeat(request: SendMessageRequest, { sessionId, parentId }: SendRetry): SendMessageRequest {
  return { ...request, chat_session_id: sessionId, parent_message_id: parentId, chat_session_info: null }
}

async function openTurn(
  { conversations }: TurnParts,
  plan: TurnPlan,
  caller: Principal,
  { key, decided }: Pick<StartOptions, 'key' | 'decided'>,
): Promise<OpenedTurn> {
  const { request, session, context, models, reasoning, research } = plan
  // Another agent may answer one message of a session.
  const isOther = session !== null && context.persona.id !== (session.personaId ?? 0)
  return conversations.open({
    session,
    creation: request.chat_session_info,
    ownerId: caller.id,
    parentId: request.parent_message_id,
    // A failed answer that is made again is the last of the chat itself.
    decides: decided !== undefined && key?.replaces === undefined,
    text: request.message,
    files: context.descriptors,
    origin: request.origin,
    models: models.map(({ provider, name, displayName, temperature }, index) => ({
      provider,
      name,
      displayName: plan.overrides[index]?.display_name ?? displayName,
      params: {
        model: name,
        ...(temperature === undefined ? {} : { temperature }),
        ...(reasoning && { reasoning }),
        ...(research && researchParams),
        ...(isOther && { persona_id: context.persona.id }),
      },
    })),
    history: historyLimits(Math.max(...models.map((model) => model.contextTokens))),
    ...(key ? { key } : {}),
  })
}

function openRun(runs: Runs, opened: OpenedTurn, { models, overrides }: TurnPlan): LiveRun {
  const { sessionId, userMessageId, answerIds } = opened
  const messageId = answerIds[0] ?? 0
  const run = runs.open({ sessionId, messageId, runId: models.length === 1 ? messageId : userMessageId })
  if (opened.isNewSession) run.write({ chat_session_id: sessionId, incognito: false })
  if (models.length === 1) {
    run.write({ user_message_id: userMessageId, reserved_assistant_message_id: run.messageId })
    return run
  }
  const responses = models.map(({ displayName }, index) => ({
    message_id: answerIds[index] ?? 0,
    model_name: overrides[index]?.display_name ?? displayName,
  }))
  run.write({ user_message_id: userMessageId, responses })
  return run
}

function toClientContext(
  client: ClientTurn,
  { clientTurns: { paused: turns } }: TurnParts,
  { models }: TurnPlan,
  { id: callerId }: Principal,
): ClientContext {
  const { steps = [], parameters = {}, instructions, maxPassages, isStored, history } = client
  return {
    // Turns of clients have one answer.
    ...readSteps(steps, { callerId, model: modelKey(models[0]!), turns }),
    parameters,
    instructions,
    maxPassages,
    pausedTurns: turns,
    isStored: isStored !== false,
    isOwn: isStored === false || history !== undefined,
  }
}

/** Covers a few model calls with long search results. */
const tokensOfAnswer = 32_000
/** Research makes many more calls than an answer. */
const answersOfResearch = 8

function expectedTokens({ request, models, research }: TurnPlan): number {
  if (research) return Math.min(research.limits.maxTokens, answersOfResearch * tokensOfAnswer)
  const message = estimateTokens(request.message + (request.additional_context ?? ''))
  return models.reduce((sum, { contextTokens }) => sum + message + Math.min(contextTokens, tokensOfAnswer), 0)
}
