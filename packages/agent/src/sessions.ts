import type { Selectable } from 'kysely'
import { InlayError } from '@inlay/protocol'
import type { LlmOverride, Principal } from '@inlay/protocol'
import type { ModelProvider, Sessions } from './contracts.ts'
import { toPath } from './message-tree.ts'
import type { AgentDatabase, SessionTable } from './records.ts'
import { newSession } from './conversations.ts'
import type { Runs } from './runs.ts'
import { refuseSession } from './send.ts'
import { readSession, toListing } from './session-reading.ts'
import { findTitle, type SpokenMessage } from './session-title.ts'

/** What the sessions are made of. */
export interface SessionsOptions {
  readonly db: AgentDatabase
  readonly runs: Runs
  readonly models: ModelProvider
  readonly now: () => number
  readonly newId: () => string
  /** Called before each use. */
  readonly ready: () => Promise<void>
}

// An empty session this old was opened and left.
const emptyAgeMs = 300_000
const titleTimeMs = 20_000

/** Makes the side of the agent that lists, shows, names and removes sessions. */
export function createSessions(options: SessionsOptions): Sessions {
  const { db, runs, now, newId, ready } = options
  const owned = async (id: string, caller: Principal): Promise<Selectable<SessionTable>> => {
    await ready()
    const row = await db.selectFrom('inlay_chat_sessions').selectAll().where('id', '=', id).executeTakeFirst()
    if (row && row.owner_id === caller.id && row.deleted_at === null) return row
    throw new InlayError('SESSION_NOT_FOUND')
  }
  const remove = async (ids: readonly string[], erase: boolean): Promise<void> => {
    const active = ids.flatMap((id) => runs.active(id))
    for (const run of active) run.stop('user')
    await Promise.all(active.map(({ ended }) => ended))
    if (erase) await eraseSessions(db, ids)
    else if (ids.length > 0) {
      await db.updateTable('inlay_chat_sessions').set({ deleted_at: now() }).where('id', 'in', ids).execute()
    }
  }
  return {
    create: async (request, caller) => {
      await ready()
      refuseSession(request)
      const session = newSession(newId(), caller.id, request, now())
      await db.insertInto('inlay_chat_sessions').values(session).execute()
      return { id: session.id }
    },
    get: async (id, caller, { shared = 'own', includeDeleted = false } = {}) => {
      await ready()
      const row = await db.selectFrom('inlay_chat_sessions').selectAll().where('id', '=', id).executeTakeFirst()
      if (!row || (row.deleted_at !== null && !includeDeleted)) throw new InlayError('SESSION_NOT_FOUND')
      if (shared === 'own' ? row.owner_id !== caller.id : row.is_public !== 1) {
        throw new InlayError('INSUFFICIENT_PERMISSIONS', {
          message: 'This chat session is not shared with the caller.',
        })
      }
      const run = runs.active(id).at(-1)
      return readSession(db, row, run?.messageId ?? null)
    },
    list: async (caller, listing = {}) => {
      await ready()
      return listSessions(db, caller, now(), listing)
    },
    rename: async (id, name, caller) => {
      const row = await owned(id, caller)
      const given = name?.trim() ?? ''
      const title = given === '' ? await titleOf(options, row) : given
      await db.updateTable('inlay_chat_sessions').set({ name: title }).where('id', '=', id).execute()
      return title
    },
    remove: async (id, caller, { erase = false } = {}) => remove([(await owned(id, caller)).id], erase),
    removeAll: async (caller, { erase = false } = {}) => {
      await ready()
      const rows = await db
        .selectFrom('inlay_chat_sessions')
        .select('id')
        .where('owner_id', '=', caller.id)
        .where('deleted_at', 'is', null)
        .execute()
      // A statement takes a bounded number of values.
      for (let at = 0; at < rows.length; at += 500)
        await remove(
          rows.slice(at, at + 500).map(({ id }) => id),
          erase,
        )
    },
    share: async (id, sharing, caller) => {
      await owned(id, caller)
      const isPublic = sharing === 'public' ? 1 : 0
      await db.updateTable('inlay_chat_sessions').set({ is_public: isPublic }).where('id', '=', id).execute()
    },
    selectBranch: async (messageId, caller) => {
      await ready()
      const message = await db
        .selectFrom('inlay_chat_messages')
        .select(['session_id', 'parent_id'])
        .where('id', '=', messageId)
        .executeTakeFirst()
      if (!message) throw new InlayError('NOT_FOUND', { message: 'No such message.' })
      await owned(message.session_id, caller)
      if (message.parent_id === null) {
        throw new InlayError('VALIDATION_ERROR', {
          message: 'The root of a chat session is no branch: name another message.',
        })
      }
      await db
        .updateTable('inlay_chat_messages')
        .set({ latest_child_id: messageId })
        .where('id', '=', message.parent_id)
        .execute()
    },
  }
}

async function eraseSessions(db: AgentDatabase, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db.transaction().execute(async (records) => {
    const messages = records.selectFrom('inlay_chat_messages').select('id').where('session_id', 'in', ids)
    await records.deleteFrom('inlay_chat_tool_calls').where('message_id', 'in', messages).execute()
    await records.deleteFrom('inlay_chat_send_keys').where('session_id', 'in', ids).execute()
    await records.deleteFrom('inlay_chat_messages').where('session_id', 'in', ids).execute()
    await records.deleteFrom('inlay_chat_sessions').where('id', 'in', ids).execute()
  })
}

async function listSessions(
  db: AgentDatabase,
  caller: Principal,
  time: number,
  { limit = 50, before, includeEmpty = false }: NonNullable<Parameters<Sessions['list']>[1]>,
): Promise<Awaited<ReturnType<Sessions['list']>>> {
  let query = db
    .selectFrom('inlay_chat_sessions')
    .selectAll()
    .where('owner_id', '=', caller.id)
    .where('deleted_at', 'is', null)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(limit + 1)
  if (before !== undefined) query = query.where('updated_at', '<', before)
  if (!includeEmpty) {
    query = query.where((where) =>
      where.or([
        where('created_at', '>', time - emptyAgeMs),
        where.exists(
          where
            .selectFrom('inlay_chat_messages')
            .select('inlay_chat_messages.id')
            .whereRef('inlay_chat_messages.session_id', '=', 'inlay_chat_sessions.id')
            .where('inlay_chat_messages.parent_id', 'is not', null),
        ),
      ]),
    )
  }
  const rows = await query.execute()
  return { sessions: rows.slice(0, limit).map(toListing), hasMore: rows.length > limit }
}

async function titleOf({ db, models }: SessionsOptions, row: Selectable<SessionTable>): Promise<string> {
  const messages = await readMainline(db, row.id)
  // Written by us from a checked override.
  const override = row.model_override === null ? null : (JSON.parse(row.model_override) as LlmOverride)
  // A session may be pinned to a model that is gone; its name does not depend on it.
  const model = await models.resolve(override).catch(() => undefined)
  return findTitle(messages, model, AbortSignal.timeout(titleTimeMs))
}

/** The beginning of the mainline, oldest first. */
async function readMainline(db: AgentDatabase, sessionId: string): Promise<SpokenMessage[]> {
  const rows = await db
    .selectFrom('inlay_chat_messages')
    .select(['id', 'parent_id', 'latest_child_id', 'role', 'text'])
    .where('session_id', '=', sessionId)
    .orderBy('id')
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const nodes = rows.map((row) => ({
    id: row.id,
    parentId: row.parent_id,
    latestChildId: row.latest_child_id,
    role: row.role,
  }))
  let end = rows[0]
  for (let next = end; next; next = next.latest_child_id === null ? undefined : byId.get(next.latest_child_id))
    end = next
  return toPath(nodes, end?.id ?? 0).flatMap((id) => {
    const row = byId.get(id)
    return row && row.role !== 'system' ? [{ role: row.role, text: row.text }] : []
  })
}
