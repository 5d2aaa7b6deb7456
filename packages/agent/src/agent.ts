import { InlayError, operator, type SendMessageRequest, type ToolCallDetail } from '@inlay/protocol'
import type { AgentOptions, AgentStores } from './agent-options.ts'
import { defaultActionTimeoutMs, type Action } from './contracts/action.ts'
import type { Agent, OwnedSending } from './contracts/agent.ts'
import type { ClientTurn } from './contracts/client-turn.ts'
import type { ConversationStore } from './contracts/conversation-store.ts'
import type { FileStore } from './contracts/file-store.ts'
import type { Run } from './contracts/run.ts'
import type { RunStore } from './contracts/run-store.ts'
import type { PassageSearch } from './contracts/search.ts'
import type { Services } from './contracts/services.ts'
import { noFiles, noKeys, noMemories, onlyDefaultPersona, noProjects } from './stores/absent.ts'
import { inMemoryStores } from './stores/in-memory.ts'
import { SlowModels } from './model/questions.ts'
import { createCallerLimit, delay } from '@inlay/scheduling'
import { toKnownLimits } from './research/limits.ts'
import { endLeftAnswers } from './run/abandoned-runs.ts'
import { createRuns } from './run/live-runs.ts'
import { runControl, stopAll } from './run/resume-and-stop.ts'
import { createRunSharing } from './run/sharing.ts'
import { toCallDetails } from './run/stored-run.ts'
import { createBuiltIns, toSearchAction } from './tool-calls/built-in-actions.ts'
import { createActions } from './tool-calls/registry.ts'
import { clientParts } from './turn/client-parts.ts'
import { clientRequest, createClientTurns } from './turn/client-turn.ts'
import { createAfterTurn } from './turn/ending.ts'
import type { TurnParts } from './turn/execute-turn.ts'
import { countFreeTokens } from './turn/free-tokens.ts'
import { searchPassages } from './turn/passage-search.ts'
import { createKeyedSends } from './turn/idempotency.ts'
import { readMessage } from './turn/plan-turn.ts'
import { sendApprovals } from './turn/send-approvals.ts'
import { startRun, type StartParts } from './turn/start-run.ts'
import type { TurnContextParts } from './turn/turn-context.ts'

/** The system clock and random UUIDs. Errors are dropped, so hosts should pass their own `onError`. */
export const defaultServices: Services = {
  now: () => Date.now(),
  newId: crypto.randomUUID.bind(crypto),
  onError: () => {},
}

/**
 * Creates the engine that answers messages. The first use ends answers that an earlier process left unfinished.
 * @throws DUPLICATE_RESOURCE when two actions share an id or a name, VALIDATION_ERROR for an unusable action or
 * research limit, UNSUPPORTED for a tool that asks for confirmation before it runs
 */
export function createAgent(options: AgentOptions): Agent {
  const parts = connectParts(options)
  const { runs, actions, afterTurn, keyedSends, clientTurns } = parts
  const underway = new Set<Promise<Run>>()
  const activeRuns = () => [...runs.active(), ...clientTurns.runs.active()]
  const openRuns = (): Promise<unknown>[] => [...underway, ...activeRuns().map(({ ended }) => ended)]
  let isClosed = false
  const ready = async (): Promise<void> => {
    if (isClosed) throw new InlayError('CLOSED')
    await parts.endLeft()
  }
  const sendForClient = async (
    request: SendMessageRequest,
    client: ClientTurn,
    sending: OwnedSending,
  ): Promise<Run> => {
    const { conversations, newId } = parts
    const { caller } = sending
    const message = await clientRequest(request, client, { conversations, callerId: caller.id })
    return startRun(clientParts(parts, client, { caller, turns: clientTurns, newId }), message, sending)
  }
  return {
    send: async (input, { caller = operator, idempotencyKey = '', client, ...rest } = {}) => {
      await ready()
      const request = readMessage(input)
      const sending = { ...rest, caller, client }
      const run = client
        ? sendForClient(request, client, sending)
        : request.tool_approvals
          ? sendApprovals(parts, request, request.tool_approvals, sending)
          : idempotencyKey === ''
            ? startRun(parts, request, sending)
            : keyedSends.once(idempotencyKey, request, caller, (key, retry) =>
                startRun(parts, request, sending, { key, retry }),
              )
      underway.add(run)
      return run.finally(() => underway.delete(run))
    },
    ...runControl(parts, ready),
    actions: async (caller, evenOff) => actions.available({ caller }, evenOff),
    holdsAction: (id) => actions.holds(id),
    models: () => options.models.list(),
    search: (query) =>
      searchPassages(query, { ...parts, ...parts.contextParts, ...parts.turn, help: options.searchHelp }),
    freeTokens: (place, caller) => countFreeTokens(place, caller, parts),
    start: ready,
    idle: async () => {
      for (let open = openRuns(); open.length > 0; open = openRuns()) await Promise.allSettled(open)
    },
    close: async () => {
      isClosed = true
      // A send in progress still becomes a run, which has to be ended too.
      await Promise.allSettled(underway)
      await stopAll(activeRuns(), 'closing')
      await parts.sharing?.close()
      await afterTurn.close()
    },
  }
}

function connectParts(options: AgentOptions) {
  const { models, limits = {}, research = {}, hooks, sharedRuns: shared } = options
  const services: Services = { ...defaultServices, ...withoutAbsent(options) }
  const { now, onError } = services
  const { maxRunBytes = 32 * 2 ** 20, maxFinishedBytes = 32 * 2 ** 20, resumableMs = 600_000 } = limits
  const { leaseMs = 7_000 } = limits
  // Throws for invalid limits when the agent is created.
  toKnownLimits(research.limits)
  const stores = toStores(options, services)
  const { conversations, files } = stores
  const kept = { now, resumableMs, maxRunBytes, maxFinishedBytes }
  const runs = createRuns(kept)
  const clientTurns = createClientTurns(kept, options.readDocument)
  const parts = { runs, conversations, now, onError, leaseMs, resumableMs, maxRunBytes }
  const readCalls = callReader(stores.runs)
  const sharing = shared && createRunSharing({ shared, readCalls, ...parts })
  const actions = createAgentActions(options, files, onError)
  const questionModel = questionModelOf(options, onError)
  const afterTurn = createAfterTurn({ conversations, onError, after: hooks?.after, questionModel })
  const turn: TurnParts = {
    conversations,
    now,
    onError,
    wait: options.wait ?? delay,
    maxSteps: Math.max(1, limits.maxSteps ?? 6),
    actionTimeoutMs: limits.actionTimeoutMs ?? defaultActionTimeoutMs,
    hooks,
    questionModel,
    maxModelAttempts: Math.max(1, limits.maxModelAttempts ?? 3),
    approvalMs: limits.approvalMs ?? 86_400_000,
    onApproval: options.onApproval ?? (() => {}),
    smallModels: options.smallModels,
    slowModels: new SlowModels(),
    onEnd: afterTurn.onEnd,
  }
  const start: StartParts = {
    conversations,
    runs,
    actions,
    models,
    contextParts: toContextParts(options, files, onError),
    files,
    admit: options.admit,
    checkFilters: options.checkFilters ?? (async () => {}),
    before: hooks?.before,
    smallModels: options.smallModels,
    systemPrompt: options.systemPrompt,
    approval: options.toolApproval ?? 'never',
    canAsk: stores.runs !== noKeys,
    runLimit: createCallerLimit(Math.max(1, limits.maxCallerRuns ?? 1000)),
    research,
    onError,
    turn,
    sharing,
    clientTurns,
  }
  return {
    ...start,
    now,
    newId: services.newId,
    runStore: stores.runs,
    afterTurn,
    keyedSends: createKeyedSends({ store: stores.runs, runs, maxRunBytes, sharing }),
    endLeft: once(() => sharing?.start() ?? endLeftAnswers(parts)),
  }
}

/** Work that is done once; if it fails, the next call repeats it. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return async () => {
    done ??= work()
    try {
      await done
    } catch (error) {
      done = undefined
      throw error
    }
  }
}

function toContextParts(options: AgentOptions, files: FileStore, onError: (error: unknown) => void): TurnContextParts {
  return {
    files,
    personas: options.personas ?? onlyDefaultPersona,
    projects: options.projects ?? noProjects,
    fileSearch: options.fileSearch,
    documentSets: options.documentSets ?? (async () => []),
    search: options.search,
    searchAction: searchActionOf(options, onError),
    readExcerpt: options.readExcerpt,
    person: (options.memoryStore ?? noMemories).person,
    waitMs: options.limits?.maxContextWaitMs ?? 10_000,
  }
}

function withoutAbsent({ now, newId, onError }: Partial<Services>): Partial<Services> {
  return { ...(now && { now }), ...(newId && { newId }), ...(onError && { onError }) }
}

function toStores(
  { conversationStore, runStore, fileStore }: AgentStores,
  services: Services,
): { readonly conversations: ConversationStore; readonly runs: RunStore; readonly files: FileStore } {
  const files = fileStore ?? noFiles
  if (conversationStore) return { conversations: conversationStore, runs: runStore ?? noKeys, files }
  return { ...inMemoryStores(services), files }
}

/** Reads the calls that another process did not include in its lines. */
function callReader(runs: RunStore): (messageId: number) => Promise<readonly ToolCallDetail[]> {
  return async (id) => (runs === noKeys ? [] : toCallDetails(await runs.answer(id)))
}

type SearchActionMaker = (search: PassageSearch, readExcerpt?: AgentOptions['readExcerpt']) => Action

function searchActionOf(options: AgentOptions, onError: (error: unknown) => void): SearchActionMaker {
  return (search, readExcerpt = options.readExcerpt) => toSearchAction(search, { ...options, readExcerpt, onError })
}

function createAgentActions(options: AgentOptions, files: FileStore, onError: (error: unknown) => void) {
  return createActions({
    builtIns: createBuiltIns({
      ...options,
      search: options.search,
      storesFiles: files.canKeep,
      hasDocuments: options.hasDocuments ?? (async () => true),
      searchAction: searchActionOf(options, onError),
      memories: options.memoryStore?.canKeep ? options.memoryStore : undefined,
      onError,
    }),
    actions: options.actions ?? [],
    sources: options.actionSources ?? [],
    ...(options.actionsOff && { off: options.actionsOff }),
    onError,
  })
}

/** A configured model that cannot be found only makes questions fail, so the operator has to be told. */
function questionModelOf(
  { questionModel }: AgentOptions,
  onError: (error: unknown) => void,
): TurnParts['questionModel'] {
  if (!questionModel) return undefined
  return async () => {
    try {
      return await questionModel.resolve()
    } catch (error) {
      onError(error)
      throw error
    }
  }
}
