import type { Kysely } from 'kysely'
import { InlayError } from '@inlay/protocol'
import type { BaseFilters, LlmOverride, Principal } from '@inlay/protocol'
import { createAbandonedCheck } from './run/abandoned-answers.ts'
import { createActions } from './tools/registry.ts'
import { createBuiltIns, toSearchAction, type ActionParts, type SearchParts } from './tools/built-in-actions.ts'
import { createAfterTurn } from './turn/after-turn.ts'
import type { HostAction } from './tools/host-actions.ts'
import type { TurnHooks } from './turn/hooks.ts'
import { createCheckpoints } from './run/checkpoints.ts'
import {
  actionLimitMs,
  type Action,
  type Agent,
  type ModelProvider,
  type PassageSearch,
  type Run,
} from './contracts.ts'
import { createConversations } from './sessions/conversations.ts'
import { createLibrary, type FileLimits, type LibraryParts } from './records/library.ts'
import type { AgentDatabase, AgentTables } from './records/tables.ts'
import type { ResearchOptions } from './research/limits.ts'
import { createMemories } from './memories/memories.ts'
import { createRunPlaces } from './run/limits.ts'
import { createRuns, type LiveRun, type StopCause } from './run/registry.ts'
import { createSender } from './turn/start-run.ts'
import { createSendKeys } from './runs/send-keys.ts'
import { createSessions } from './sessions/sessions.ts'
import { createActionSwitches } from './stored-tools/action-switches.ts'
import { createStoredTools } from './stored-tools/stored-tools.ts'
import { searchPassages, type PassageSearchOptions } from './turn/passage-search.ts'
import type { TurnParts } from './turn/execute-turn.ts'
import { waitFor } from './model/waiting.ts'

/** Bounds of a run and of what is kept in memory; each has a default. */
export interface AgentLimits extends FileLimits {
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
}

/** What an agent is made of. */
export interface AgentOptions extends LibraryParts, ActionParts, SearchParts {
  /** Holds the tables that `migrateAgent` makes. */
  readonly db: Kysely<unknown>
  readonly models: ModelProvider
  /** Names the model that actions and searches ask, e.g. a quicker one. Default: the one that answers. */
  readonly questionModel?: LlmOverride
  /** Actions besides the built-in ones; their ids and names must be free. */
  readonly actions?: readonly HostAction[]
  /** What the host does before and after turns. */
  readonly hooks?: TurnHooks
  /** Finds passages; without it there is no search action. */
  readonly search?: PassageSearch
  /** Whether there is anything to search; the search action exists only then. Default: always. */
  readonly hasDocuments?: () => Promise<boolean>
  /** Refuses filters a caller may not use (unknown or foreign document sets) before a run starts. */
  readonly checkFilters?: (filters: BaseFilters, caller: Principal) => Promise<void>
  /** Milliseconds since 1970 UTC. Default: the system's clock. */
  readonly now?: () => number
  /** Makes ids of sessions. Default: random UUIDs. */
  readonly newId?: () => string
  /** Waits between tries of a model; rejects when aborted. Default: a timer. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** Replaces the built-in instructions to the model. */
  readonly systemPrompt?: string
  /** How deep research is bounded. */
  readonly research?: ResearchOptions
  /** Receives what was not expected, whole. */
  readonly onError?: (error: unknown) => void
  readonly limits?: AgentLimits
}

/**
 * Makes the part that holds conversations and answers them. Call `migrateAgent` on the database before its first use.
 * Answers that an earlier process left unfinished are ended at the first use.
 */
export function createAgent(options: AgentOptions): Agent {
  const parts = connectParts(options, async () => ready())
  const { conversations, checkpoints, runs, actions, sender, afterTurn, library, abandoned, sessionParts } = parts
  const sending = new Set<Promise<Run>>()
  let isClosed = false
  let hasBegun = false
  const ready = async (): Promise<void> => {
    if (isClosed) throw new InlayError('CLOSED')
    await abandoned.checked()
    if (!hasBegun) library.start()
    hasBegun = true
  }
  const stopAll = async (active: readonly LiveRun[], cause: StopCause): Promise<void> => {
    for (const run of active) run.stop(cause)
    await Promise.all(active.map(({ ended }) => ended))
  }
  return {
    send: async (request, { caller, idempotencyKey, headers }) => {
      await ready()
      const sent = sender.send(request, { caller, idempotencyKey, headers })
      sending.add(sent)
      return sent.finally(() => sending.delete(sent))
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
    actions: async (caller, evenOff) => actions.available({ caller }, evenOff),
    models: () => options.models.list(),
    search: async (query) => {
      await ready()
      return searchPassages(query, parts.passageSearch)
    },
    sessions: createSessions({ ...sessionParts, ready }),
    files: library.files,
    personas: library.personas,
    projects: library.projects,
    memories: parts.memories,
    tools: parts.tools,
    start: ready,
    close: async () => {
      isClosed = true
      abandoned.close()
      // A send on its way still becomes a run, which has to be ended too.
      await Promise.allSettled(sending)
      await stopAll(runs.active(), 'closing')
      await afterTurn.close()
      await library.close()
      checkpoints.close()
    },
  }
}

const dayMs = 86_400_000

/** Makes the parts of an agent and gives each its bounds. */
function connectParts(options: AgentOptions, ready: () => Promise<void>) {
  const { models, now = Date.now, newId = () => crypto.randomUUID(), onError = () => {}, limits = {} } = options
  const { leaseMs = 20_000, runBytes = 32 * 2 ** 20, finishedBytes = 32 * 2 ** 20, resumableMs = 600_000 } = limits
  const db: AgentDatabase = options.db.withTables<AgentTables>()
  const conversations = createConversations({ db, now, newId })
  const checkpoints = createCheckpoints({ conversations, now, onError, aliveMs: leaseMs / 4 })
  const runs = createRuns({ now, resumableMs, runBytes, finishedBytes })
  const hasDocuments = options.hasDocuments ?? (async () => true)
  const searchAction = (search: PassageSearch, readExcerpt = options.readExcerpt): Action =>
    toSearchAction(search, { ...options, readExcerpt, onError })
  const isRemembering = options.memories ?? true
  const memories = createMemories({ db, now, isOn: isRemembering, ready })
  const switches = createActionSwitches(options.db)
  const stored = createStoredTools({
    ...options,
    fetchAddress: options.fetchAddress,
    switches,
    holds: (id) => actions.holds(id),
    now,
    newId,
    onError,
    ready,
  })
  const actions = createActions({
    builtIns: createBuiltIns({
      ...options,
      search: options.search,
      storesFiles: options.storage !== undefined,
      hasDocuments,
      searchAction,
      memories: isRemembering ? memories : undefined,
    }),
    actions: options.actions ?? [],
    sources: [stored.source, ...(options.actionSources ?? [])],
    off: switches.off,
    onError,
  })
  const library = createLibrary({
    ...options,
    db,
    holdsAction: actions.holds,
    person: memories.toTell,
    searchAction,
    search: options.search,
    limits,
    now,
    newId,
    onError,
    ready,
  })
  const { surroundings, noteUse } = library
  const afterTurn = createAfterTurn({ db, now, onError, after: options.hooks?.after })
  const sender = createSender({
    db,
    conversations,
    runs,
    actions,
    models,
    keys: createSendKeys({ db, now, lifeMs: dayMs }),
    surroundings,
    files: library.files,
    noteUse,
    checkFilters: options.checkFilters ?? (async () => {}),
    before: options.hooks?.before,
    systemPrompt: options.systemPrompt,
    runBytes,
    places: createRunPlaces(Math.max(1, limits.callerRuns ?? 1000)),
    research: options.research ?? {},
    turn: {
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
    },
    follow: afterTurn.follow,
  })
  const abandoned = createAbandonedCheck(() => conversations.terminateAbandoned(leaseMs), onError)
  const sessionParts = { db, runs, models, actions, surroundings, systemPrompt: options.systemPrompt, now, newId }
  const { tools } = stored
  const passageSearch: PassageSearchOptions = {
    search: options.search,
    help: options.searchHelp,
    models,
    personas: library.personas,
    questionModel: questionModelOf(options, onError),
    documentSets: options.documentSets ?? (async () => []),
    tries: 1,
    wait: options.wait ?? waitFor,
  }
  return {
    passageSearch,
    conversations,
    checkpoints,
    runs,
    actions,
    sender,
    afterTurn,
    library,
    abandoned,
    sessionParts,
    memories,
    tools,
  }
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
