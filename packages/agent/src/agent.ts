import { InlayError, operator, type SendMessageRequest } from '@inlay/protocol'
import type { AgentOptions } from './turn/agent-options.ts'
import type { Agent, OwnedSending } from './contracts/agent.ts'
import type { ClientTurn } from './contracts/client-turn.ts'
import type { Run } from './contracts/run.ts'
import type { Services } from './contracts/services.ts'
import { noFiles, noKeys, noMemories, onlyDefaultPersona, noProjects } from './stores/absent.ts'
import { inMemoryStores } from './stores/in-memory.ts'
import { SlowModels } from './model/questions.ts'
import { createCallerLimit, delay } from '@inlay/scheduling'
import { toKnownLimits } from './research/limits.ts'
import { endLeftAnswers } from './run/abandoned-runs.ts'
import { createRuns } from './run/live-runs.ts'
import { runControl, stopAll } from './turn/resume-and-stop.ts'
import { createRunSharing } from './run/sharing.ts'
import { toCallDetails } from './run/stored-run.ts'
import { createBuiltIns } from './tool-calls/built-in-actions.ts'
import { createActions } from './tool-calls/registry.ts'
import { clientParts } from './turn/client-parts.ts'
import { clientRequest, createClientTurns } from './turn/client-turn.ts'
import { createAfterTurn, type AfterTurn } from './turn/ending.ts'
import { countFreeTokens } from './turn/free-tokens.ts'
import { searchPassages } from './turn/passage-search.ts'
import { createKeyedSends } from './turn/idempotency.ts'
import { readMessage } from './turn/plan-turn.ts'
import { sendApprovals } from './turn/send-approvals.ts'
import { startRun } from './turn/start-run.ts'
import type { TurnParts } from './turn/turn-parts.ts'

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
  const { parts, afterTurn, endLeft } = connectParts(options)
  const { runs, actions, keyedSends, clientTurns } = parts
  const underway = new Set<Promise<Run>>()
  const activeRuns = () => [...runs.active(), ...clientTurns.runs.active()]
  const openRuns = (): Promise<unknown>[] => [...underway, ...activeRuns().map(({ ended }) => ended)]
  let isClosed = false
  const ready = async (): Promise<void> => {
    if (isClosed) throw new InlayError('CLOSED')
    await endLeft()
  }
  const sendForClient = async (
    request: SendMessageRequest,
    client: ClientTurn,
    sending: OwnedSending,
  ): Promise<Run> => {
    const message = await clientRequest(request, client, parts.conversations, sending.caller.id)
    return startRun(clientParts(parts, client, sending.caller), message, sending)
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
    search: (query) => searchPassages(query, parts),
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

function connectParts(options: AgentOptions): {
  readonly parts: TurnParts
  readonly afterTurn: AfterTurn
  /** Ends what an earlier process left; the first time. */
  readonly endLeft: () => Promise<void>
} {
  const { limits = {}, research = {}, sharedRuns: shared, fileStore: files = noFiles, memoryStore } = options
  const { now = defaultServices.now, newId = defaultServices.newId, onError = defaultServices.onError } = options
  const { maxRunBytes = 32 * 2 ** 20, maxFinishedBytes = 32 * 2 ** 20, resumableMs = 600_000 } = limits
  const { leaseMs = 7_000 } = limits
  // Throws for invalid limits when the agent is created.
  toKnownLimits(research.limits)
  const { conversations, runs: runStore } = options.conversationStore
    ? { conversations: options.conversationStore, runs: options.runStore ?? noKeys }
    : inMemoryStores({ now, newId })
  const kept = { now, resumableMs, maxRunBytes, maxFinishedBytes }
  const runs = createRuns(kept)
  const running = { runs, conversations, now, onError, leaseMs, resumableMs, maxRunBytes }
  // Calls that another process did not include in its lines.
  const readCalls = async (id: number) => (runStore === noKeys ? [] : toCallDetails(await runStore.answer(id)))
  const sharing = shared && createRunSharing({ shared, readCalls, ...running })
  const { questionModel: questions } = options
  // A configured model that cannot be found only makes questions fail, so the operator has to be told.
  const questionModel =
    questions &&
    (async () => {
      try {
        return await questions.resolve()
      } catch (error) {
        onError(error)
        throw error
      }
    })
  const afterTurn = createAfterTurn({ conversations, onError, hooks: options.hooks, questionModel })
  const actions = createActions({
    builtIns: createBuiltIns({ ...options, onError }),
    actions: options.actions ?? [],
    sources: options.actionSources ?? [],
    off: options.actionsOff,
    onError,
  })
  const parts: TurnParts = {
    ...options,
    now,
    newId,
    onError,
    conversations,
    runStore,
    files,
    personas: options.personas ?? onlyDefaultPersona,
    projects: options.projects ?? noProjects,
    documentSets: options.documentSets ?? (async () => []),
    person: (memoryStore ?? noMemories).person,
    runs,
    sharing,
    actions,
    checkFilters: options.checkFilters ?? (async () => {}),
    toolApproval: options.toolApproval ?? 'never',
    onApproval: options.onApproval ?? (() => {}),
    canAsk: runStore !== noKeys,
    approvalMs: limits.approvalMs ?? 86_400_000,
    runLimit: createCallerLimit(Math.max(1, limits.maxCallerRuns ?? 1000)),
    research,
    questionModel,
    slowModels: new SlowModels(),
    wait: options.wait ?? delay,
    maxSteps: Math.max(1, limits.maxSteps ?? 6),
    maxModelAttempts: Math.max(1, limits.maxModelAttempts ?? 3),
    maxContextWaitMs: limits.maxContextWaitMs ?? 10_000,
    actionTimeoutMs: limits.actionTimeoutMs ?? 600_000,
    clientTurns: createClientTurns(kept, options.readDocument),
    keyedSends: createKeyedSends({ store: runStore, runs, maxRunBytes, sharing }),
    onEnd: afterTurn.onEnd,
  }
  return { parts, afterTurn, endLeft: once(() => sharing?.start() ?? endLeftAnswers(running)) }
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
