import { InlayError } from '@inlay/protocol'
import type { BaseFilters, LlmOverride, Principal, SendMessageRequest } from '@inlay/protocol'
import type { Actions } from '../tools/registry.ts'
import type { ModelProvider, ResolvedModel, Run } from '../contracts.ts'
import type { Conversations, OpenedTurn, SessionRecord } from '../sessions/conversations.ts'
import type { FileStore } from '../files/files.ts'
import { askBefore, type TurnHooks } from './hooks.ts'
import { toPastTexts } from '../prompt/past-messages.ts'
import { withPersonaModel } from '../prompt/persona-model.ts'
import type { AgentDatabase } from '../records/tables.ts'
import {
  admitResearch,
  checkOneModel,
  checkSearches,
  researchActions,
  researchParams,
  wasClarification,
  type AdmittedResearch,
} from '../research/admission.ts'
import { toKnownLimits, type ResearchOptions } from '../research/limits.ts'
import type { RunPlaces } from '../run/limits.ts'
import type { LiveRun, Runs } from '../run/registry.ts'
import { hashRequest, type SendKeys } from '../runs/send-keys.ts'
import { chooseModel, toReasoningEffort } from './model-choice.ts'
import { readStoredRun } from '../runs/stored-run.ts'
import { toReminder, type Surroundings, type SurroundingsFinder } from './turn-context.ts'
import { readMadeFileIds } from './generated-files.ts'
import { makeTurnPrompt } from '../prompt/turn-prompt.ts'
import { createTurnFiles } from './turn-files.ts'
import { carryOut, type TurnParts } from './execute-turn.ts'

/** Starts runs: checks and stores first, so that whatever can be known before a run rejects. */
export interface Sender {
  send(request: SendMessageRequest, sending: Sending): Promise<Run>
}

/** Who sends, and what goes with the message. */
export interface Sending {
  readonly caller: Principal
  readonly idempotencyKey?: string
  /** Headers that actions may pass on, lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What a sender works with. */
export interface SenderOptions {
  readonly db: AgentDatabase
  readonly conversations: Conversations
  readonly runs: Runs
  readonly actions: Actions
  readonly models: ModelProvider
  readonly keys: SendKeys
  readonly surroundings: SurroundingsFinder
  readonly files: FileStore
  /** Notes that files were sent with a message. */
  readonly noteUse: (fileIds: readonly string[]) => Promise<void>
  readonly checkFilters: (filters: BaseFilters, caller: Principal) => Promise<void>
  readonly before: TurnHooks['before']
  readonly systemPrompt: string | undefined
  readonly runBytes: number
  readonly places: RunPlaces
  readonly research: ResearchOptions
  readonly turn: TurnParts
  /** Sees to work that goes on after a run. */
  readonly follow: (work: Promise<void>) => void
}

interface Key {
  readonly key: string
  readonly bodyHash: string
}

/** Makes the sender of an agent. */
export function createSender(options: SenderOptions): Sender {
  const { db, runs, keys, runBytes, follow } = options
  // Bounds that make no sense are told when the agent is made.
  toKnownLimits(options.research.limits)
  // Sends under a key that are on their way, so that a repeat waits for the first instead of racing it.
  const underway = new Map<string, Promise<unknown>>()

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
  const sendOnce = async (request: SendMessageRequest, sending: Sending, key: Key): Promise<Run> => {
    const { caller } = sending
    const earlier = await repeat(caller, key)
    if (earlier) return earlier
    try {
      const run = await start(options, request, sending, key)
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
    send: async (request, sending) => {
      const { caller, idempotencyKey } = sending
      if (idempotencyKey === undefined || idempotencyKey === '') return start(options, request, sending)
      const key = { key: idempotencyKey, bodyHash: await hashRequest(request) }
      const name = JSON.stringify([caller.id, idempotencyKey])
      while (underway.has(name)) await underway.get(name)?.catch(() => {})
      const sent = sendOnce(request, sending, key)
      underway.set(name, sent)
      return sent.finally(() => underway.delete(name))
    },
  }
}

/** Starts a run if the caller has a place for it, which it holds until it has ended. */
async function start(
  options: SenderOptions,
  request: SendMessageRequest,
  sending: Sending,
  key?: Key,
): Promise<LiveRun> {
  const leave = options.places.enter(sending.caller.id)
  try {
    const run = await begin(options, request, sending, key)
    void run.ended.then(leave)
    return run
  } catch (error) {
    leave()
    throw error
  }
}

async function begin(
  options: SenderOptions,
  request: SendMessageRequest,
  { caller, headers = {} }: Sending,
  key?: Key,
): Promise<LiveRun> {
  const { conversations, runs, actions, surroundings, turn } = options
  const overrides = toOverrides(request)
  const session =
    request.chat_session_id === null ? null : await conversations.session(request.chat_session_id, caller.id)
  const around = await findSurroundings(options, request, session, caller)
  const asked = overrides.map((override) => withPersonaModel(chooseModel(override, session), around.persona))
  const models = await Promise.all(asked.map((override) => options.models.resolve(override)))
  const reasoning = toReasoningEffort(session?.reasoningEffort ?? null)
  const research = await findResearch(options, request, { session, around, caller, model: models[0] })
  // A research cites what its agents found; files that have a number in the prompt would share it with one of those.
  const contextTokens = research ? 0 : Math.min(...models.map((model) => model.contextTokens))
  const context = await around.weigh({ contextTokens, userText: request.message })
  const choice = { allowedIds: request.allowed_tool_ids, forcedId: request.forced_tool_id }
  const asker = { caller, mcpHeaders: request.mcp_headers ?? {} }
  const usable = await actions.choose(asker, choice, (available) => {
    const offered = around.offer(available, context)
    return research ? researchActions(offered) : offered
  })
  if (research) checkSearches(usable.actions, usable.forced[0])
  const asking = await askHost(options, request, { session, around, caller })
  await options.noteUse(around.descriptors.flatMap(({ user_file_id: id }) => id ?? []))
  const opened = await conversations.open({
    session,
    creation: request.chat_session_info,
    ownerId: caller.id,
    parentId: request.parent_message_id,
    text: request.message,
    files: around.descriptors,
    origin: request.origin,
    models: models.map(({ provider, name, displayName, temperature }, index) => ({
      provider,
      name,
      displayName: overrides[index]?.display_name ?? displayName,
      params: {
        model: name,
        ...(temperature === undefined ? {} : { temperature }),
        ...(reasoning && { reasoning }),
        ...(research && researchParams),
      },
    })),
    // Four characters a token and some to spare: what is too much is cut by tokens later.
    historyChars: Math.max(...models.map((model) => model.contextTokens)) * 4,
    ...(key ? { key } : {}),
  })
  const run = openRun(runs, opened, models, overrides)
  const told = {
    finder: surroundings,
    around: research ? withoutPrompts(around) : around,
    context,
    opened,
    request: asking,
    actions: usable.actions,
    time: turn.now(),
  }
  const reminder = toReminder(told.around.persona)
  void carryOut(
    {
      run,
      answers: models.map((model, index) => ({
        answerId: opened.answerIds[index] ?? 0,
        model,
        prompt: (signal) => makeTurnPrompt({ ...told, model, systemPrompt: options.systemPrompt }, signal),
        reminder,
        reasoning,
      })),
      caller,
      userText: opened.userText,
      filters: around.filters,
      actions: usable.actions,
      forced: usable.forced,
      past: toPastTexts(opened.history),
      files: createTurnFiles({
        store: options.files,
        attachedIds: attachedIds(opened),
        held: around.files,
        madeBefore: async () => {
          const messages = opened.history.map(({ id }) => id)
          return options.files.find(await readMadeFileIds(options.db, messages), caller)
        },
        caller,
      }),
      headers,
      ...(research && {
        research: {
          ...research,
          wasClarified: () =>
            wasClarification(options.db, opened.history.findLast(({ role }) => role === 'assistant')?.id),
        },
      }),
      includeCitations: request.include_citations,
      includeUsage: request.include_usage,
      contextDocuments: context.kind === 'in-prompt' ? context.documents : [],
    },
    turn,
  )
  return run
}

/** What bounds the deep research that a request asks for; undefined when it asks for none. */
async function findResearch(
  options: SenderOptions,
  request: SendMessageRequest,
  asked: {
    readonly session: SessionRecord | null
    readonly around: Surroundings
    readonly caller: Principal
    readonly model: ResolvedModel | undefined
  },
): Promise<AdmittedResearch | undefined> {
  const { session, around, caller, model } = asked
  if (!request.deep_research || !model) return undefined
  return admitResearch(
    options.research,
    {
      caller,
      message: request.message,
      sessionId: session?.id ?? null,
      personaId: around.persona.id,
      projectId: session ? session.projectId : (request.chat_session_info?.project_id ?? null),
      model,
      origin: request.origin,
    },
    options.turn.onError,
  )
}

/** Research has prompts of its own, whatever the agent of the session is told. */
function withoutPrompts(around: Surroundings): Surroundings {
  return { ...around, persona: { ...around.persona, systemPrompt: '', taskPrompt: '', replacesBasePrompt: false } }
}

/** Ids of all files that came with messages of the branch, newest message first. */
function attachedIds({ files, history, summaryFiles }: OpenedTurn): string[] {
  const all = [files, ...history.map((message) => message.files).toReversed(), summaryFiles].flat()
  return all.flatMap(({ user_file_id: id }) => id ?? [])
}

/** Asks the host's hook; what it tells goes with the request's own context. */
async function askHost(
  { before, turn }: SenderOptions,
  request: SendMessageRequest,
  {
    session,
    around,
    caller,
  }: { readonly session: SessionRecord | null; readonly around: Surroundings; readonly caller: Principal },
): Promise<SendMessageRequest> {
  const coming = {
    caller,
    message: request.message,
    sessionId: session?.id ?? null,
    personaId: around.persona.id,
    projectId: around.project?.id ?? null,
    origin: request.origin,
    filters: request.internal_search_filters,
  }
  const told = await askBefore(before, coming, turn.onError)
  const contexts = [request.additional_context, told].filter((one) => one !== null && one !== undefined)
  return { ...request, additional_context: contexts.length === 0 ? null : contexts.join('\n\n') }
}

async function findSurroundings(
  { surroundings, checkFilters }: SenderOptions,
  request: SendMessageRequest,
  session: SessionRecord | null,
  caller: Principal,
): Promise<Surroundings> {
  const { chat_session_info: info, internal_search_filters: filters } = request
  await surroundings.check(info, caller)
  const around = await surroundings.find({
    personaId: session?.personaId ?? info?.persona_id ?? 0,
    projectId: session ? session.projectId : (info?.project_id ?? null),
    descriptors: request.file_descriptors,
    filters,
    caller,
    ...(session ? { sessionId: session.id } : {}),
  })
  if (filters) await checkFilters(filters, caller)
  return around
}

/** The override of each answer: two or three answer side by side, fewer entries count as none. */
function toOverrides(request: SendMessageRequest): readonly (LlmOverride | null)[] {
  const several = request.llm_overrides ?? []
  checkOneModel(request)
  if (several.length < 2) return [request.llm_override]
  if (!request.stream) {
    throw new InlayError('INVALID_INPUT', { message: 'Several models answer on a stream only: send stream true.' })
  }
  if (several.length > 3) {
    throw new InlayError('VALIDATION_ERROR', { message: 'llm_overrides takes three models at most.' })
  }
  return several
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
