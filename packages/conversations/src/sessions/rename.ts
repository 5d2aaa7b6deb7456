import { toMainline, type ModelProvider } from '@inlay/agent'
import { InlayError, type Principal } from '@inlay/protocol'
import { isAmong } from '@inlay/records'
import { sql, type Selectable } from 'kysely'
import type { SessionTable } from '../tables/chat-tables.ts'
import type { ConversationDatabase } from '../tables/database.ts'
import { readTree } from './conversation-store.ts'
import type { Naming } from './naming.ts'
import { indexText } from './search-index.ts'
import { lockSession, ownSession } from './session-access.ts'
import { pinnedModel } from './settings.ts'
import { findTitle, type SpokenMessage } from './title.ts'

const titleTimeMs = 20_000

interface RenameOptions {
  readonly db: ConversationDatabase
  readonly models: ModelProvider
  readonly naming: Pick<Naming, 'recent' | 'forget'>
}

/** Gives a session a name: the given one, otherwise one made from its first messages. @returns the name */
export async function rename(
  options: RenameOptions,
  { id, name, caller }: { readonly id: string; readonly name: string | null | undefined; readonly caller: Principal },
): Promise<string> {
  const { db, naming } = options
  const row = await ownSession(db, id, caller)
  const given = name?.trim() ?? ''
  if (given !== '') naming.forget(id)
  const title = given === '' ? await titleOf(options, row) : given
  await db.transaction().execute(async (records) => {
    if (!(await lockSession(records, id))) throw new InlayError('SESSION_NOT_FOUND')
    await records.updateTable('inlay_chat_sessions').set({ name: title }).where('id', '=', id).execute()
    await indexText(records, { sessionId: id, ownerId: caller.id, text: title })
  })
  return title
}

async function titleOf({ db, models, naming }: RenameOptions, row: Selectable<SessionTable>): Promise<string> {
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
