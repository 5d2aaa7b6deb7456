import { isJsonObject, readJson, type Principal } from '@inlay/protocol'
import type { ConversationDatabase } from '../tables/database.ts'
import type { PastSearch } from './stored-session.ts'

/** Reads which searches of documents answers to a person made, the newest first; those of deleted sessions are left out. */
export async function readSearches(
  db: ConversationDatabase,
  caller: Principal,
  actionId: number,
  { limit = 100, since }: { readonly limit?: number; readonly since?: number },
): Promise<PastSearch[]> {
  let calls = db
    .selectFrom('inlay_chat_tool_calls')
    .innerJoin('inlay_chat_messages', 'inlay_chat_messages.id', 'inlay_chat_tool_calls.message_id')
    .innerJoin('inlay_chat_sessions', 'inlay_chat_sessions.id', 'inlay_chat_messages.session_id')
    .select(['inlay_chat_tool_calls.arguments', 'inlay_chat_messages.created_at'])
    .where('inlay_chat_sessions.owner_id', '=', caller.id)
    .where('inlay_chat_sessions.deleted_at', 'is', null)
    .where('inlay_chat_tool_calls.action_id', '=', actionId)
    .orderBy('inlay_chat_tool_calls.id', 'desc')
    .limit(limit)
  if (since !== undefined) calls = calls.where('inlay_chat_messages.created_at', '>=', since)
  const rows = await calls.execute()
  return rows.flatMap((row) => {
    const queries = queriesIn(row.arguments)
    return queries.length === 0 ? [] : [{ queries, createdAt: Number(row.created_at) }]
  })
}

/** Models write the arguments, so they may have any form. */
function queriesIn(json: string): string[] {
  const read = readJson(json)
  const queries = isJsonObject(read) ? read['queries'] : undefined
  return Array.isArray(queries) ? queries.filter((query) => typeof query === 'string') : []
}
