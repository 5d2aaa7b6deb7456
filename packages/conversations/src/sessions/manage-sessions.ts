import type { RecordEvents } from '@inlay/records'
import { checkSessionSettings, internalSearchId } from '@inlay/agent'
import type { Agent, ModelProvider, PersonaLookup, ProjectLookup, Services } from '@inlay/agent'
import { addSession, appendMessages, newSession } from './conversation-store.ts'
import { createBranches } from './branches.ts'
import type { Sessions } from './stored-session.ts'
import { createFeedback } from './feedback.ts'
import { listSessions } from './listing.ts'
import { readableSession } from './session-access.ts'
import { createPins } from './pins.ts'
import { createRateLimit } from './rate-limit.ts'
import { readSession } from './read-session.ts'
import { readSharedSession, type ReadableDocuments } from './shared-session.ts'
import { createRemoval, type RemovalOptions } from './removal.ts'
import { rename } from './rename.ts'
import { searchSessions } from './search.ts'
import { readSearches } from './searches.ts'
import { createSettings } from './settings.ts'
import type { Naming } from './naming.ts'
import type { SearchFill } from './search-fill.ts'

export interface SessionsOptions extends Pick<Services, 'newId'>, RemovalOptions {
  readonly agent: Pick<Agent, 'removeRuns' | 'currentRunId' | 'freeTokens'>
  readonly models: ModelProvider
  readonly personas: PersonaLookup
  readonly projects: ProjectLookup
  readonly naming: Pick<Naming, 'recent' | 'forget'>
  readonly searchFill: Pick<SearchFill, 'whenIdle'>
  /** Which of the documents a caller may read. Default: none. */
  readonly readableDocuments?: ReadableDocuments | undefined
  readonly recordEvents?: RecordEvents | undefined
}

/** How long a search waits for older texts to be added. */
const fillWaitMs = 2_000
// Tokens reserved for a question about documents.
const questionTokens = 2_000

export function createSessions(options: SessionsOptions): Sessions {
  const { db, agent, models, now, newId, readableDocuments = async () => new Set<string>() } = options
  return {
    create: async (request, caller) => {
      await checkSessionSettings(request, caller, options)
      const id = newId()
      await db.transaction().execute((records) => addSession(records, newSession(id, caller.id, request, now())))
      return { id }
    },
    append: (...addition) => db.transaction().execute((records) => appendMessages(records, addition, now())),
    get: async (id, caller, reading = {}) => {
      const { row, isOwner } = await readableSession(db, id, caller, reading)
      if (reading.shared === 'public') return readSharedSession(db, row, (ids) => readableDocuments(ids, caller))
      return readSession(db, row, isOwner ? ((await agent.currentRunId(id)) ?? null) : null)
    },
    list: async (caller, listing = {}) => listSessions(db, caller, now(), listing),
    search: async (query, caller, page = {}) => {
      await options.searchFill.whenIdle(fillWaitMs)
      return searchSessions(db, query, caller, now(), page)
    },
    searches: (caller, which = {}) => readSearches(db, caller, internalSearchId, which),
    rename: (id, name, caller) => rename(options, { id, name, caller }),
    ...createRemoval(options),
    ...createPins(options),
    ...createBranches(db),
    ...createFeedback({ ...options, limit: createRateLimit(now) }),
    ...createSettings(db, models),
    freeTokens: (id, caller) => agent.freeTokens({ sessionId: id }, caller),
    documentTokens: async (personaId, caller) =>
      Math.max(0, (await agent.freeTokens({ personaId }, caller)) - questionTokens),
  }
}
