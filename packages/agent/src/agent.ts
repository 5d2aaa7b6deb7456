import { InlayError } from '@inlay/protocol'
import type { BaseFilters, LlmOverride, Principal } from '@inlay/protocol'
import { actionLimitMs, type Action } from './contracts/action.ts'
import type { Agent } from './contracts/agent.ts'
import type { ConversationStore } from './contracts/conversation-store.ts'
import type { FileStore } from './contracts/file-store.ts'
import type { MemoryStore } from './contracts/memory-store.ts'
import type { ModelProvider } from './contracts/model.ts'
import type { PersonaLookup, ProjectLookup } from './contracts/persona.ts'
import type { Run } from './contracts/run.ts'
import type { RunStore } from './contracts/run-store.ts'
import type { FileSearch, NamedDocumentSet, PassageSearch } from './contracts/search.ts'
import { defaultServices, type Services } from './contracts/services.ts'
import { noFiles, noMemories, onlyDefaultPersona, noProjects } from './stores/absent.ts'
import { inMemoryStores } from './stores/in-memory.ts'
import { waitFor } from './model/waiting.ts'
import type { ResearchOptions } from './research/limits.ts'
import { toKnownLimits } from './research/limits.ts'
import { createAbandonedCheck } from './run/abandoned-answers.ts'
import { createCheckpoints } from './run/checkpoints.ts'
import { createRunLimits } from './run/limits.ts'
import { createRuns, type LiveRun, type StopCause } from './run/registry.ts'
import { createBuiltIns, toSearchAction, type ActionParts, type SearchParts } from './tools/built-in-actions.ts'
import type { HostAction } from './tools/host-actions.ts'
import { createActions } from './tools/registry.ts'
import { createAfterTurn } from './turn/after-turn.ts'
import type { TurnParts } from './turn/execute-turn.ts'
import { countFreeTokens } from './turn/free-tokens.ts'
import type { TurnHooks } from './turn/hooks.ts'
import { createKeyedSends } from './turn/idempotency.ts'
import { startRun, type StartParts } from './turn/start-run.ts'
import type { TurnContextParts } from './turn/turn-context.ts'

/** Bounds of a run and of what is kept in memory; each has a default. */
export interface AgentLimits {
  /** Most model calls of one answer; the last one gets no actions. Default 6. */
  readonly cycles?: number
  /** What one action may take, in milliseconds. Default ten minutes. */
  readonly actionMs?: number
  /** Most runs of one caller at the same time, in this process; one more is RATE_LIMITED. Default 1000. */
  readonly callerRuns?: number
  /** How long a finished run stays resumable, in milliseconds. Default ten minutes. */
  readonly resumableMs?: number
  /** Most bytes of lines kept of one run. Default 32 MiB, enough for 60,000 tokens. */
  readonly runBytes?: number
  /** Most bytes of lines kept of all finished runs together; the oldest go first. Default 32 MiB. */
  readonly finishedBytes?: number
  /** Tries of a model call that fails before it said anything. Default 3. */
  readonly modelTries?: number
  /** After which silence of its process a running answer counts as abandoned, in milliseconds. Default 20 000. */
  readonly leaseMs?: number
  /** How long a message waits for context files that are still being read or indexed, in milliseconds. Default 10 000. */
  readonly contextWaitMs?: number
}

/** Where the engine keeps conversations, and what it reads besides documents. Default: memory, and nothing. */
export interface AgentStores {
  /** Sessions and messages. Default: in memory, together with `runStore`. */
  readonly conversationStore?: ConversationStore
  /** Sends under an `Idempotency-Key`. It belongs to the conversation store: hand in both or neither. */
  readonly runStore?: RunStore
  /** Files of messages, projects and personas. Default: none, and none can be kept. */
  readonly fileStore?: FileStore
  /** Default: the default persona alone. */
  readonly personas?: PersonaLookup
  /** Default: there are none. */
  readonly projects?: ProjectLookup
  /** Makes `add_memory`, and memories in prompts. Default: nothing is remembered. */
  readonly memoryStore?: MemoryStore
}

/** How an agent is made. */
export interface AgentOptions extends AgentStores, ActionParts, SearchParts, Partial<Services> {
  readonly models: ModelProvider
  /** Names the model that actions and searches ask, e.g. a quicker one. Default: the one that answers. */
  readonly questionModel?: LlmOverride
  /** Actions besides the built-in ones, tools of Mastra among them; their ids and names must be free. */
  readonly actions?: readonly HostAction[]
  /** Ids of actions that are switched off; asked for with each message. Default: none. */
  readonly actionsOff?: () => Promise<ReadonlySet<number>>
  /** What the host does before and after turns. */
  readonly hooks?: TurnHooks
  /** Finds passages; without it there is no search action. */
  readonly search?: PassageSearch
  /** Searches files that are too long for a prompt. Default: those that fit are taken. */
  readonly fileSearch?: FileSearch
  /** Whether there is anything to search; the search action exists only then. Default: always. */
  readonly hasDocuments?: () => Promise<boolean>
  /** Refuses filters a caller may not use (unknown or foreign document sets) before a run starts. */
  readonly checkFilters?: (filters: BaseFilters, caller: Principal) => Promise<void>
  /** Document sets that a caller may search. Default: none. */
  readonly documentSets?: (caller: Principal) => Promise<readonly NamedDocumentSet[]>
  /** Waits between tries of a model; rejects when aborted. Default: a timer. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** Replaces the built-in instructions to the model. */
  readonly systemPrompt?: string
  /** How deep research is bounded. */
  readonly research?: ResearchOptions
  readonly limits?: AgentLimits
}

/**
 * Makes the engine that answers messages. Answers that an earlier process left unfinished are ended at the first use.
 * @throws DUPLICATE_RESOURCE when two actions share an id or a name, VALIDATION_ERROR for an action or a bound of
 * research that cannot be used, UNSUPPORTED for a tool that asks people before it runs
 */
export function createAgent(options: AgentOptions): Agent {
  const parts = connectParts(options)
  const { conversations, runs, actions, afterTurn, abandoned, keyedSends } = parts
  const sending = new Set<Promise<Run>>()
  let isClosed = false
  const ready = async (): Promise<void> => {
    if (isClosed) throw new InlayError('CLOSED')
    await abandoned.checked()
  }
  const stopAll = async (active: readonly LiveRun[], cause: StopCause): Promise<void> => {
    for (const run of active) run.stop(cause)
    await Promise.all(active.map(({ ended }) => ended))
  }
  return {
    send: async (request, options) => {
      await ready()
      const { caller, idempotencyKey = '' } = options
      const run =
        idempotencyKey === ''
          ? startRun(parts, request, options)
          : keyedSends.once(idempotencyKey, request, caller, (key) => startRun(parts, request, options, key))
      sending.add(run)
      return run.finally(() => sending.delete(run))
    },
    resume: async (sessionId, caller) => {
      await ready()
      const session = await conversations.session(sessionId, caller.id)
      const run = runs.newest(session.id)
      if (run) return run
      throw new InlayError('NOT_FOUND', { message: 'This chat session has no run that could be resumed.' })
    },
    stop: async (sessionId, caller) => {
      await ready()
      const session = await conversations.session(sessionId, caller.id)
      await stopAll(runs.active(session.id), 'user')
    },
    stopRuns: (sessionIds) =>
      stopAll(
        sessionIds.flatMap((id) => runs.active(id)),
        'user',
      ),
    currentRunId: (sessionId) => runs.active(sessionId).at(-1)?.runId,
    actions: async (caller, evenOff) => actions.available({ caller }, evenOff),
    holdsAction: (id) => actions.holds(id),
    models: () => options.models.list(),
    freeTokens: (place, caller) => countFreeTokens(place, caller, parts),
    start: ready,
    close: async () => {
      isClosed = true
      abandoned.close()
      // A send on its way still becomes a run, which has to be ended too.
      await Promise.allSettled(sending)
      await stopAll(runs.active(), 'closing')
      await afterTurn.close()
      parts.checkpoints.close()
    },
  }
}

/** Connects the parts of an agent and gives each its bounds. */
function connectParts(options: AgentOptions) {
  const { models, limits = {}, research = {} } = options
  const services: Services = { ...defaultServices, ...withoutAbsent(options) }
  const { now, onError } = services
  const { leaseMs = 20_000, runBytes = 32 * 2 ** 20, finishedBytes = 32 * 2 ** 20, resumableMs = 600_000 } = limits
  // Bounds that make no sense are refused when the agent is made.
  toKnownLimits(research.limits)
  const stores = toStores(options, services)
  const { conversations, files } = stores
  const runs = createRuns({ now, resumableMs, runBytes, finishedBytes })
  const actions = createAgentActions(options, files, onError)
  const afterTurn = createAfterTurn({ conversations, onError, after: options.hooks?.after })
  const checkpoints = createCheckpoints({ conversations, now, onError, aliveMs: leaseMs / 4 })
  const contextParts: TurnContextParts = {
    files,
    personas: options.personas ?? onlyDefaultPersona,
    projects: options.projects ?? noProjects,
    fileSearch: options.fileSearch,
    documentSets: options.documentSets ?? (async () => []),
    search: options.search,
    searchAction: searchActionOf(options, onError),
    readExcerpt: options.readExcerpt,
    person: (options.memoryStore ?? noMemories).person,
    waitMs: limits.contextWaitMs ?? 10_000,
  }
  const turn: TurnParts = {
    conversations,
    checkpoints,
    now,
    onError,
    wait: options.wait ?? waitFor,
    cycles: Math.max(1, limits.cycles ?? 6),
    actionMs: limits.actionMs ?? actionLimitMs,
    questionModel: questionModelOf(options, onError),
    modelTries: Math.max(1, limits.modelTries ?? 3),
    onEnd: afterTurn.onEnd,
  }
  const start: StartParts = {
    conversations,
    runs,
    actions,
    models,
    contextParts,
    files,
    checkFilters: options.checkFilters ?? (async () => {}),
    before: options.hooks?.before,
    systemPrompt: options.systemPrompt,
    runLimits: createRunLimits(Math.max(1, limits.callerRuns ?? 1000)),
    research,
    onError,
    turn,
  }
  return {
    ...start,
    now,
    checkpoints,
    afterTurn,
    keyedSends: createKeyedSends({ store: stores.runs, runs, runBytes, follow: afterTurn.follow }),
    abandoned: createAbandonedCheck(() => conversations.terminateAbandoned(leaseMs), onError),
  }
}

/** The services that a host handed in. */
function withoutAbsent({ now, newId, onError }: Partial<Services>): Partial<Services> {
  return { ...(now && { now }), ...(newId && { newId }), ...(onError && { onError }) }
}

function toStores(
  { conversationStore, runStore, fileStore }: AgentStores,
  services: Services,
): { readonly conversations: ConversationStore; readonly runs: RunStore; readonly files: FileStore } {
  if ((conversationStore === undefined) !== (runStore === undefined)) {
    throw new InlayError('INVALID_INPUT', {
      message: 'conversationStore and runStore belong together: hand in both, or neither.',
    })
  }
  const files = fileStore ?? noFiles
  if (conversationStore && runStore) return { conversations: conversationStore, runs: runStore, files }
  return { ...inMemoryStores(services), files }
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

/** A named model that cannot be found fails the questions alone, so the operator has to hear of it. */
function questionModelOf(
  { models, questionModel }: AgentOptions,
  onError: (error: unknown) => void,
): TurnParts['questionModel'] {
  if (!questionModel) return undefined
  return async () => {
    try {
      return await models.resolve(questionModel)
    } catch (error) {
      onError(error)
      throw error
    }
  }
}
