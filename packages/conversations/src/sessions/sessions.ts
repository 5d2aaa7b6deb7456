import { InlayError } from '@inlay/protocol'
import type { Principal } from '@inlay/protocol'
import type { Selectable } from 'kysely'
import { checkSessionSettings, toMainline } from '@inlay/agent'
import type { Agent, ModelProvider, PersonaLookup, ProjectLookup, Services } from '@inlay/agent'
import { newSession, readTree } from './conversation-store.ts'
import type { ConversationDatabase } from '../tables/database.ts'
import type { SessionTable } from '../tables/chat-tables.ts'
import { createBranches } from './branches.ts'
import type { Sessions } from './stored-session.ts'
import { createFeedback } from './feedback.ts'
import { listSessions } from './listing.ts'
import { touchSession } from './writing.ts'
import { ownSession } from './ownership.ts'
import { createRateLimit } from './rate-limit.ts'
import { readSession } from './reading.ts'
import { searchSessions } from './search.ts'
import { createSettings, pinnedModel } from './settings.ts'
import { findTitle, type SpokenMessage } from './title.ts'

/** What the sessions are made of. */
export interface SessionsOptions extends Pick<Services, 'now' | 'newId'> {
  readonly db: ConversationDatabase
  readonly agent: Pick<Agent, 'removeRuns' | 'currentRunId' | 'freeTokens'>
  readonly models: ModelProvider
  readonly personas: PersonaLookup
  readonly projects: ProjectLookup
  /** Called before each use. */
  readonly ready: () => Promise<void>
}

// What a question takes that is asked of documents.
const questionTokens = 2_000
const titleTimeMs = 20_000
const feedbackLimit = { most: 100, windowMs: 60_000 }

/** Makes the side of the agent that keeps conversations. */
export function createSessions(options: SessionsOptions): Sessions {
  const { db, agent, models, now, newId, ready } = options
  const owned = async (id: string, caller: Principal): Promise<Selectable<SessionTable>> => ownSession(db, id, caller)
  const sessions: Sessions = {
    create: async (request, caller) => {
      await checkSessionSettings(request, caller, options)
      const id = newId()
      await db.transaction().execute(async (records) => {
        const time = now()
        const session = newSession(id, caller.id, request, time)
        await records.insertInto('inlay_chat_sessions').values(session).execute()
        await touchSession(records, id, caller.id, time)
      })
      return { id }
    },
    get: async (id, caller, { shared = 'own', includeDeleted = false } = {}) => {
      const row = await db.selectFrom('inlay_chat_sessions').selectAll().where('id', '=', id).executeTakeFirst()
      if (!row || (row.deleted_at !== null && !includeDeleted)) throw new InlayError('SESSION_NOT_FOUND')
      const isOwner = row.owner_id === caller.id
      if (!isOwner && shared === 'own') throw new InlayError('SESSION_NOT_FOUND')
      if (shared === 'public' && row.is_public !== 1) {
        throw new InlayError('INSUFFICIENT_PERMISSIONS', { message: 'This chat session is not shared.' })
      }
      return readSession(db, row, isOwner ? ((await agent.currentRunId(id)) ?? null) : null)
    },
    list: async (caller, listing = {}) => listSessions(db, caller, now(), listing),
    search: async (query, caller, page = {}) => searchSessions(db, query, caller, now(), page),
    rename: async (id, name, caller) => {
      const row = await owned(id, caller)
      const given = name?.trim() ?? ''
      const title = given === '' ? await titleOf(options, row) : given
      await db.updateTable('inlay_chat_sessions').set({ name: title }).where('id', '=', id).execute()
      return title
    },
    ...createRemoval(options),
    ...createBranches(db),
    ...createFeedback({ db, now, limit: createRateLimit({ ...feedbackLimit, now }) }),
    ...createSettings({ db, models, owned }),
    freeTokens: (id, caller) => agent.freeTokens({ sessionId: id }, caller),
    documentTokens: async (personaId, caller) =>
      Math.max(0, (await agent.freeTokens({ personaId }, caller)) - questionTokens),
  }
  return afterReady(sessions, ready)
}

/** The same, each call behind what has to be done first. */
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

function createRemoval({ db, agent, now }: SessionsOptions): Pick<Sessions, 'remove' | 'removeAll'> {
  const remove = async (ids: readonly string[], erase: boolean): Promise<void> => {
    await agent.removeRuns(ids)
    if (erase) await eraseSessions(db, ids)
    else if (ids.length > 0) {
      await db.updateTable('inlay_chat_sessions').set({ deleted_at: now() }).where('id', 'in', ids).execute()
    }
  }
  return {
    remove: async (id, caller, { erase = false } = {}) => remove([(await ownSession(db, id, caller)).id], erase),
    removeAll: async (caller, { erase = false } = {}) => {
      const rows = await db
        .selectFrom('inlay_chat_sessions')
        .select('id')
        .where('owner_id', '=', caller.id)
        .where('deleted_at', 'is', null)
        .execute()
      const ids = rows.map(({ id }) => id)
      // A statement takes a bounded number of values.
      for (let at = 0; at < ids.length; at += 500) await remove(ids.slice(at, at + 500), erase)
    },
  }
}

/** Removes sessions with all that is in them. */
export async function eraseSessions(db: ConversationDatabase, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db.transaction().execute(async (records) => {
    const messages = records.selectFrom('inlay_chat_messages').select('id').where('session_id', 'in', ids)
    await records.deleteFrom('inlay_chat_tool_calls').where('message_id', 'in', messages).execute()
    await records.deleteFrom('inlay_chat_feedback').where('message_id', 'in', messages).execute()
    await records.deleteFrom('inlay_chat_summaries').where('session_id', 'in', ids).execute()
    await records.deleteFrom('inlay_chat_send_keys').where('session_id', 'in', ids).execute()
    await records.deleteFrom('inlay_chat_messages').where('session_id', 'in', ids).execute()
    await records.deleteFrom('inlay_chat_sessions').where('id', 'in', ids).execute()
  })
}

async function titleOf({ db, models }: SessionsOptions, row: Selectable<SessionTable>): Promise<string> {
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
    .select(['role', 'text'])
    .where('id', 'in', ids)
    .orderBy('id')
    .execute()
  return rows.flatMap(({ role, text }) => (role === 'system' ? [] : [{ role, text }]))
}
