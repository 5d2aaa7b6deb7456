import type { Selectable } from 'kysely'
import type { Principal } from '@inlay/protocol'
import type { ConversationDatabase } from '../tables/database.ts'
import type { SessionTable } from '../tables/chat-tables.ts'
import type { SessionListing, Sessions } from './stored-session.ts'

// An empty session this old was opened and left.
const emptyAgeMs = 300_000

export function toListing(row: Selectable<SessionTable>): SessionListing {
  return {
    id: row.id,
    name: row.name,
    personaId: row.persona_id,
    projectId: row.project_id,
    timeCreated: toIsoTime(row.created_at),
    timeUpdated: toIsoTime(row.updated_at),
    isPublic: row.is_public === 1,
    model: row.alternate_model,
    temperature: row.temperature,
    reasoningEffort: row.reasoning_effort,
  }
}

export function toIsoTime(time: number): string {
  return new Date(Number(time)).toISOString()
}

export async function listSessions(
  db: ConversationDatabase,
  caller: Principal,
  time: number,
  options: NonNullable<Parameters<Sessions['list']>[1]>,
): Promise<Awaited<ReturnType<Sessions['list']>>> {
  const { limit = 50, before, includeEmpty = false, projectId } = options
  let query = db
    .selectFrom('inlay_chat_sessions')
    .selectAll()
    .where('owner_id', '=', caller.id)
    .where('deleted_at', 'is', null)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(limit + 1)
  if (before !== undefined) query = query.where('updated_at', '<', before)
  if (projectId !== undefined) {
    query = projectId === null ? query.where('project_id', 'is', null) : query.where('project_id', '=', projectId)
  }
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
