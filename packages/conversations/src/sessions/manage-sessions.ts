import { isAmong } from '@inlay/records'
import { InlayError, type Principal } from '@inlay/protocol'
import { sql, type Selectable } from 'kysely'
import { checkSessionSettings, internalSearchId, toMainline } from '@inlay/agent'
import type { Agent, ModelProvider, PersonaLookup, ProjectLookup, Services } from '@inlay/agent'
import { addSession, newSession, readTree } from './conversation-store.ts'
import type { ConversationDatabase } from '../tables/database.ts'
import type { SessionTable } from '../tables/chat-tables.ts'
import { createBranches } from './branches.ts'
import type { Sessions } from './stored-session.ts'
import { createFeedback } from './feedback.ts'
import { listSessions } from './listing.ts'
import { lockSession, ownSession, readableSession } from './session-access.ts'
import type { SqlFiles } from '../files/manage-files.ts'
import { createPins } from './pins.ts'
import { createRateLimit } from './rate-limit.ts'
import { readSession } from './read-session.ts'
import { readSharedSession, type ReadableDocuments } from './shared-session.ts'
import { createRemoval } from './removal.ts'
import { searchSessions } from './search.ts'
import { readSearches } from './searches.ts'
import { createSettings, pinnedModel } from './settings.ts'
import type { Naming } from './naming.ts'
import type { SearchFill } from './search-fill.ts'
import { indexText } from './search-index.ts'
import { findTitle, type SpokenMessage } from './title.ts'

export interface SessionsOptions extends Pick<Services, 'now' | 'newId'> {
  readonly db: ConversationDatabase
  readonly agent: Pick<Agent, 'removeRuns' | 'currentRunId' | 'freeTokens'>
  readonly models: ModelProvider
  readonly personas: PersonaLookup
  readonly projects: ProjectLookup
  readonly files: Pick<SqlFiles, 'removeUnheld'>
  readonly naming: Pick<Naming, 'recent' | 'forget'>
  readonly searchFill: Pick<SearchFill, 'whenIdle'>
  /** Which of the documents a caller may read. Default: none. */
  readonly readableDocuments?: ReadableDocuments | undefined
  /** Called before each use. */
  readonly ready: () => Promise<void>
}

/** How long a search waits for older texts to be added. */
const fillWaitMs = 2_000
// Tokens reserved for a question about documents.
const questionTokens = 2_000
const titleTimeMs = 20_000
const feedbackLimit = { most: 100, windowMs: 60_000 }

/** Creates the part of the engine for stored conversations. */
export function createSessions(options: SessionsOptions): Sessions {
  const { db, agent, models, now, newId, ready, readableDocuments = async () => new Set<string>() } = options
  const owned = async (id: string, caller: Principal): Promise<Selectable<SessionTable>> => ownSession(db, id, caller)
  const sessions: Sessions = {
    create: async (request, caller) => {
      await checkSessionSettings(request, caller, options)
      const id = newId()
      await db.transaction().execute(async (records) => {
        await addSession(records, newSession(id, caller.id, request, now()))
      })
      return { id }
    },
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
    searches: async (caller, which = {}) => {
      await ready()
      return readSearches(db, caller, internalSearchId, which)
    },
    rename: async (id, name, caller) => {
      const row = await owned(id, caller)
      const given = name?.trim() ?? ''
      if (given !== '') options.naming.forget(id)
      const title = given === '' ? await titleOf(options, row) : given
      await db.transaction().execute(async (records) => {
        if (!(await lockSession(records, id))) throw new InlayError('SESSION_NOT_FOUND')
        await records.updateTable('inlay_chat_sessions').set({ name: title }).where('id', '=', id).execute()
        await indexText(records, { sessionId: id, ownerId: caller.id, text: title })
      })
      return title
    },
    ...createRemoval(options),
    ...createPins(options),
    ...createBranches(db),
    ...createFeedback({ db, now, limit: createRateLimit({ ...feedbackLimit, now }) }),
    ...createSettings({ db, models, owned }),
    freeTokens: (id, caller) => agent.freeTokens({ sessionId: id }, caller),
    documentTokens: async (personaId, caller) =>
      Math.max(0, (await agent.freeTokens({ personaId }, caller)) - questionTokens),
  }
  return afterReady(sessions, ready)
}

/** Makes each call wait for `ready`. */
function afterReady(sessions: Sessions, ready: () => Promise<void>): Sessions {
  const calls = Object.entries(sessions).map(([name, call]: [string, (...given: never[]) => Promise<unknown>]) => [
    name,
    async (...given: never[]) => {
      await ready()
      return call(...given)
    },
  ])
  return Object.fromEntries(calls) as Sessions // Each call takes and gives what the one behind it does.
}

async function titleOf({ db, models, naming }: SessionsOptions, row: Selectable<SessionTable>): Promise<string> {
  // Clients ask for a name right after the first answer, while one is being found.
  const recent = await naming.recent(row.id)
  if (recent !== undefined) return recent
  const messages = await readBeginning(db, row.id)
  // A session may be pinned to a model that is gone; its name does not depend on it.
  const model = await models.resolve(pinnedModel(row)).catch(() => undefined)
  return findTitle(messages, model, AbortSignal.timeout(titleTimeMs))
}

/** The first messages of the mainline, oldest first. */
async function readBeginning(db: ConversationDatabase, sessionId: string): Promise<SpokenMessage[]> {
  const ids = toMainline(await readTree(db, sessionId)).slice(1, 5)
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('inlay_chat_messages')
    .select('role')
    .select(sql<string>`substr(text, 1, 4000)`.as('text'))
    .where(isAmong(db, 'id', ids))
    .orderBy('id')
    .execute()
  return rows.flatMap(({ role, text }) => (role === 'system' ? [] : [{ role, text }]))
}
