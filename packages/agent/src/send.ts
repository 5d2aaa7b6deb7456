import { InlayError } from '@inlay/protocol'
import type {
  BaseFilters,
  ChatSessionCreationRequest,
  LlmOverride,
  Principal,
  SendMessageRequest,
} from '@inlay/protocol'
import type { Actions } from './actions.ts'
import type { ModelProvider, ResolvedModel, Run } from './contracts.ts'
import type { Conversations, OpenedTurn, SessionRecord } from './conversations.ts'
import { toPrompt } from './history.ts'
import { toInstructions } from './prompt.ts'
import type { AgentDatabase } from './records.ts'
import type { LiveRun, Runs } from './runs.ts'
import { hashRequest, type SendKeys } from './send-keys.ts'
import { chooseModel, toReasoningEffort } from './sessions/model-choice.ts'
import { readStoredRun } from './stored-run.ts'
import { carryOut, type TurnParts } from './turn.ts'

/** Starts runs: checks and stores first, so that whatever can be known before a run rejects. */
export interface Sender {
  send(request: SendMessageRequest, caller: Principal, idempotencyKey?: string): Promise<Run>
  /** Resolves once everything that follows finished runs is stored. */
  settled(): Promise<void>
}

/** What a sender works with. */
export interface SenderOptions {
  readonly db: AgentDatabase
  readonly conversations: Conversations
  readonly runs: Runs
  readonly actions: Actions
  readonly models: ModelProvider
  readonly keys: SendKeys
  readonly checkFilters: (filters: BaseFilters, caller: Principal) => Promise<void>
  readonly systemPrompt: string | undefined
  readonly runBytes: number
  readonly turn: TurnParts
}

interface Key {
  readonly key: string
  readonly bodyHash: string
}

/** Makes the sender of an agent. */
export function createSender(options: SenderOptions): Sender {
  const { db, runs, keys, runBytes, turn } = options
  const following = new Set<Promise<void>>()
  // Sends under a key that are on their way, so that a repeat waits for the first instead of racing it.
  const underway = new Map<string, Promise<unknown>>()

  const follow = (work: Promise<void>): void => {
    const watched = work.catch(turn.onError).finally(() => following.delete(watched))
    following.add(watched)
  }
  const keepLines = async (run: LiveRun, caller: Principal, key: string): Promise<void> => {
    await run.ended
    const entries = run.log.entries()
    // Of a run too long to be held its answer is stored all the same.
    if (entries[0]?.sequence === 1)
      await keys.complete(
        caller.id,
        key,
        entries.map(({ json }) => json),
      )
  }
  const repeat = async (caller: Principal, { key, bodyHash }: Key): Promise<Run | undefined> => {
    const record = await keys.find(caller.id, key)
    if (!record) return undefined
    if (record.bodyHash !== bodyHash) {
      throw new InlayError('CONFLICT', {
        message: 'This Idempotency-Key was used for another message: take a new key for a new message.',
      })
    }
    return runs.ofMessage(record.messageId) ?? (await readStoredRun(db, record, runBytes))
  }
  const sendOnce = async (request: SendMessageRequest, caller: Principal, key: Key): Promise<Run> => {
    const earlier = await repeat(caller, key)
    if (earlier) return earlier
    try {
      const run = await start(options, request, caller, key)
      follow(keepLines(run, caller, key.key))
      return run
    } catch (error) {
      // Another process may have stored the key in the meantime.
      const other = await repeat(caller, key)
      if (other) return other
      throw error
    }
  }
  return {
    send: async (request, caller, idempotencyKey) => {
      if (idempotencyKey === undefined || idempotencyKey === '') return start(options, request, caller)
      const key = { key: idempotencyKey, bodyHash: await hashRequest(request) }
      const name = JSON.stringify([caller.id, idempotencyKey])
      while (underway.has(name)) await underway.get(name)?.catch(() => {})
      const sending = sendOnce(request, caller, key)
      underway.set(name, sending)
      return sending.finally(() => underway.delete(name))
    },
    settled: async () => {
      await Promise.all(following)
    },
  }
}

async function start(
  options: SenderOptions,
  request: SendMessageRequest,
  caller: Principal,
  key?: Key,
): Promise<LiveRun> {
  const { conversations, runs, actions, turn } = options
  const overrides = toOverrides(request)
  const session =
    request.chat_session_id === null ? null : await conversations.session(request.chat_session_id, caller.id)
  refuseUnknownParts(request, session)
  if (request.internal_search_filters) await options.checkFilters(request.internal_search_filters, caller)
  const models = await Promise.all(overrides.map((override) => options.models.resolve(chooseModel(override, session))))
  const reasoning = toReasoningEffort(session?.reasoningEffort ?? null)
  const choice = { allowedIds: request.allowed_tool_ids, forcedId: request.forced_tool_id }
  const usable = await actions.choose(caller, choice)
  const opened = await conversations.open({
    session,
    creation: request.chat_session_info,
    ownerId: caller.id,
    parentId: request.parent_message_id,
    text: request.message,
    files: request.file_descriptors,
    origin: request.origin,
    models: models.map(({ provider, name, displayName, temperature }, index) => ({
      provider,
      name,
      displayName: overrides[index]?.display_name ?? displayName,
      params: { model: name, ...(temperature === undefined ? {} : { temperature }), ...(reasoning && { reasoning }) },
    })),
    // Four characters a token and some to spare: what is too much is cut by tokens later.
    historyChars: Math.max(...models.map(({ contextTokens }) => contextTokens)) * 4,
    ...(key ? { key } : {}),
  })
  const run = openRun(runs, opened, models, overrides)
  const instructions = toInstructions({
    actions: usable.actions,
    time: turn.now(),
    includeCitations: request.include_citations,
    ...(options.systemPrompt === undefined ? {} : { systemPrompt: options.systemPrompt }),
  })
  const prompt = toPrompt({
    instructions,
    history: opened.history,
    additionalContext: request.additional_context,
    userText: opened.userText,
    hasActions: usable.actions.length > 0,
  })
  void carryOut(
    {
      run,
      answers: models.map((model, index) => ({ answerId: opened.answerIds[index] ?? 0, model, prompt, reasoning })),
      caller,
      userText: opened.userText,
      filters: request.internal_search_filters,
      actions: usable.actions,
      ...(usable.forced ? { forced: usable.forced } : {}),
      includeCitations: request.include_citations,
      includeUsage: request.include_usage,
    },
    turn,
  )
  return run
}

/** The override of each answer: two or three answer side by side, fewer entries count as none. */
function toOverrides(request: SendMessageRequest): readonly (LlmOverride | null)[] {
  const several = request.llm_overrides ?? []
  if (request.deep_research) {
    throw new InlayError('NOT_IMPLEMENTED', { message: 'Deep research is not available: send deep_research false.' })
  }
  if (several.length < 2) return [request.llm_override]
  if (!request.stream) {
    throw new InlayError('INVALID_INPUT', { message: 'Several models answer on a stream only: send stream true.' })
  }
  if (several.length > 3) {
    throw new InlayError('VALIDATION_ERROR', { message: 'llm_overrides takes three models at most.' })
  }
  return several
}

/**
 * Refuses settings of a session that cannot be had.
 * @throws DEPLOYMENT_UNSUPPORTED (incognito), PERSONA_NOT_FOUND, NOT_FOUND (project)
 */
export function refuseSession(info: ChatSessionCreationRequest | null): void {
  if (info?.incognito === true) {
    throw new InlayError('DEPLOYMENT_UNSUPPORTED', { message: 'Incognito sessions are not offered here.' })
  }
  if ((info?.persona_id ?? 0) !== 0) throw new InlayError('PERSONA_NOT_FOUND')
  if ((info?.project_id ?? null) !== null) throw new InlayError('NOT_FOUND', { message: 'No such project.' })
}

function refuseUnknownParts(request: SendMessageRequest, session: SessionRecord | null): void {
  refuseSession(request.chat_session_info)
  if ((session?.personaId ?? 0) !== 0) throw new InlayError('PERSONA_NOT_FOUND')
  if (request.file_descriptors.length > 0) throw new InlayError('NOT_FOUND', { message: 'No such file.' })
}

function openRun(
  runs: Runs,
  opened: OpenedTurn,
  models: readonly ResolvedModel[],
  overrides: readonly (LlmOverride | null)[],
): LiveRun {
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
