import { InlayError, type Principal, type SendMessageRequest } from '@inlay/protocol'
import type { CallerLimit } from '@inlay/scheduling'
import type { OwnedSending } from '../contracts/agent.ts'
import type { ToolApprovalPolicy } from '../contracts/action.ts'
import type { ConversationStore, OpenedTurn } from '../contracts/conversation-store.ts'
import type { FileStore } from '../contracts/file-store.ts'
import { historyLimits, toPastTexts, userMessage } from '../prompt/history.ts'
import { modelKey } from '../prompt/model-steps.ts'
import { researchParams, wasClarification } from '../research/admission.ts'
import { stricterPolicy, type DecidedCall } from '../tool-calls/approval.ts'
import type { LiveRun, Runs } from '../run/live-runs.ts'
import type { RunSharing } from '../run/sharing.ts'
import { executeTurn, type TurnParts } from './execute-turn.ts'
import { readSteps, type ClientTurns } from './client-turn.ts'
import type { SendKey, SendRetry } from './idempotency.ts'
import { expectedTokens, type AdmitTurn, type SettleTurn } from './admission.ts'
import { askHost, planTurn, type AskedPlan, type PlanParts, type TurnPlan } from './plan-turn.ts'
import { createTurnFiles, type TurnContext } from './turn-context.ts'

export interface StartParts extends PlanParts {
  readonly conversations: ConversationStore
  readonly runs: Runs
  readonly files: FileStore
  readonly admit: AdmitTurn | undefined
  /** Limit of one caller's concurrent runs in this process. */
  readonly approval: ToolApprovalPolicy
  /** Whether answers can wait for a person: their calls can be read again. */
  readonly canAsk: boolean
  readonly runLimit: CallerLimit
  readonly turn: TurnParts
  readonly sharing: RunSharing | undefined
  readonly clientTurns: ClientTurns
}

interface StartOptions {
  /** Makes the send idempotent. */
  readonly key?: SendKey
  /** Retries a failed send. */
  readonly retry?: SendRetry | undefined
  /** Calls of the answer before that a person decided about. */
  readonly decided?: readonly DecidedCall[]
}

/**
 * Checks and stores a message, then starts its run. Rejects with everything that can be known before the run.
 */
export async function startRun(
  parts: StartParts,
  request: SendMessageRequest,
  { caller, headers = {}, requestId, client }: OwnedSending,
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
    const turn = toTurn(parts, plan, opened, run, { caller, headers, requestId, client })
    void executeTurn({ ...turn, settle, decided }, parts.turn)
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
  { conversations }: StartParts,
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

function toTurn(
  parts: StartParts,
  plan: AskedPlan,
  opened: OpenedTurn,
  run: LiveRun,
  { caller, headers = {}, requestId, client }: OwnedSending,
): Parameters<typeof executeTurn>[0] {
  const { request, contextFiles, models, research, systemPrompt, usable } = plan
  const context = research ? withoutPrompts(plan.context) : plan.context
  const { files: store, turn } = parts
  const history = opened.messages
  const { taskPrompt } = context.persona
  const reminder = taskPrompt.trim() === '' ? [] : [userMessage(`Instructions to keep in mind:\n${taskPrompt}`)]
  // Newest message first.
  const files = [opened.files, ...history.map((message) => message.files).toReversed(), opened.summaryFiles].flat()
  return {
    run,
    answers: models.map((model, index) => ({
      answerId: opened.answerIds[index] ?? 0,
      model,
      reminder,
      reasoning: client?.parameters?.reasoning ?? plan.reasoning,
    })),
    caller,
    userText: opened.userText,
    origin: request.origin,
    filters: context.filters,
    prompt: {
      files: store,
      context,
      contextFiles,
      opened,
      request,
      systemPrompt,
      clientInstructions: client?.instructions,
      time: turn.now(),
    },
    actions: usable.actions,
    forced: usable.forced,
    past: toPastTexts(history),
    files: createTurnFiles({
      store,
      attachedIds: files.flatMap(({ user_file_id: id }) => id ?? []),
      held: context.files,
      generatedBefore: async () => {
        const ids = await parts.conversations.generatedFileIds?.(history.map(({ id }) => id))
        return store.find(ids ?? [], caller)
      },
      caller,
    }),
    headers,
    requestId,
    ...(research && {
      research: { ...research, wasClarified: wasClarification(history.findLast(({ role }) => role === 'assistant')) },
    }),
    includeCitations: request.include_citations,
    includeUsage: request.include_usage,
    hostAgent: context.persona.hostAgent,
    approval: stricterPolicy(parts.approval, context.persona.toolApproval),
    canAsk: parts.canAsk && models.length === 1 && !research && !context.persona.hostAgent,
    contextDocuments: contextFiles.kind === 'in-prompt' ? contextFiles.documents : [],
    ...(client && {
      client: {
        ...readSteps(client.steps ?? [], {
          callerId: caller.id,
          // Turns of clients have one answer.
          model: modelKey(models[0]!),
          turns: parts.clientTurns.paused,
        }),
        parameters: client.parameters ?? {},
        maxPassages: client.maxPassages,
        pausedTurns: parts.clientTurns.paused,
        isStored: client.isStored !== false,
        isOwn: client.isStored === false || client.history !== undefined,
      },
    }),
  }
}

/** Research has its own prompts, so those of the persona are dropped. */
function withoutPrompts(context: TurnContext): TurnContext {
  return { ...context, persona: { ...context.persona, systemPrompt: '', taskPrompt: '', replacesBasePrompt: false } }
}
