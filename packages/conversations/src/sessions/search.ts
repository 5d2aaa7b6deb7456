import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { Principal } from '@inlay/protocol'
import type { ConversationDatabase, ConversationTables } from '../tables/database.ts'
import type { SessionGroup, SessionListing, Sessions } from './stored-session.ts'
import { toListing } from './listing.ts'
import { holdsAll, stemsOf } from './search-words.ts'

const dayMs = 86_400_000
const batch = 50

export async function searchSessions(
  db: ConversationDatabase,
  query: string,
  caller: Principal,
  time: number,
  { offset = 0, limit = 10 }: NonNullable<Parameters<Sessions['search']>[2]>,
): Promise<Awaited<ReturnType<Sessions['search']>>> {
  const stems = stemsOf(query)
  const sessions: SessionListing[] = []
  const wanted = offset + limit + 1
  for (let at = 0; sessions.length < wanted; at += batch) {
    const batchFound = await candidates(db, stems, caller, at)
    const sure = stems.length === 0 ? batchFound : await verified(db, batchFound, stems)
    sessions.push(...sure)
    if (batchFound.length < batch) break
  }
  const page = sessions.slice(offset, offset + limit)
  return { groups: toGroups(page, time), hasMore: sessions.length > offset + limit }
}

/** Sessions whose name or one of whose messages holds every stem somewhere, be it within a word; newest first. */
async function candidates(
  db: ConversationDatabase,
  stems: readonly string[],
  caller: Principal,
  offset: number,
): Promise<SessionListing[]> {
  let query = db
    .selectFrom('inlay_chat_sessions')
    .selectAll()
    .where('owner_id', '=', caller.id)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .offset(offset)
    .limit(batch)
  if (stems.length > 0) {
    query = query.where((where) =>
      where.or([
        allWithin(where, 'inlay_chat_sessions.name', stems),
        where.exists(
          where
            .selectFrom('inlay_chat_messages')
            .select('inlay_chat_messages.id')
            .whereRef('inlay_chat_messages.session_id', '=', 'inlay_chat_sessions.id')
            .where((inner) => allWithin(inner, 'inlay_chat_messages.text', stems)),
        ),
      ]),
    )
  }
  return (await query.execute()).map(toListing)
}

/** Those in which the stems are whole words. */
async function verified(
  db: ConversationDatabase,
  sessions: readonly SessionListing[],
  stems: readonly string[],
): Promise<SessionListing[]> {
  const unsure = sessions.filter(({ name }) => !holdsAll(name, stems)).map(({ id }) => id)
  if (unsure.length === 0) return [...sessions]
  const messages = await db
    .selectFrom('inlay_chat_messages')
    .select(['session_id', 'text'])
    .where('session_id', 'in', unsure)
    .where((where) => allWithin(where, 'inlay_chat_messages.text', stems))
    .execute()
  const sure = new Set(messages.filter(({ text }) => holdsAll(text, stems)).map((message) => message.session_id))
  return sessions.filter(({ id }) => !unsure.includes(id) || sure.has(id))
}

type Column = 'inlay_chat_sessions.name' | 'inlay_chat_messages.text'

function allWithin<Tables extends keyof ConversationTables>(
  where: ExpressionBuilder<ConversationTables, Tables>,
  column: Column,
  stems: readonly string[],
): Expression<SqlBool> {
  const text = where.fn<string>('lower', [where.ref(column as never)]) // a column of the query this stands in
  const isWithin = (spelling: string): Expression<SqlBool> => where(text, 'like', `%${spelling}%`)
  return where.and(stems.map((stem) => where.or(spellings(stem).map(isWithin))))
}

/** SQLite lowers ASCII letters only; of other scripts the usual spellings are tried. */
function spellings(stem: string): string[] {
  // oxlint-disable-next-line no-control-regex -- the range of ASCII
  if (/^[\x00-\x7f]*$/.test(stem)) return [stem]
  const foreign = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const capital = stem.charAt(0).toUpperCase() + stem.slice(1)
  return [...new Set([stem, foreign(capital), foreign(stem.toUpperCase())])]
}

/** Groups sessions by the day (UTC) they were begun on. */
function toGroups(sessions: readonly SessionListing[], time: number): SessionGroup[] {
  const today = Math.floor(time / dayMs)
  const titleOf = ({ timeCreated }: SessionListing): SessionGroup['title'] => {
    const age = today - Math.floor(Date.parse(timeCreated) / dayMs)
    if (age <= 0) return 'Today'
    if (age === 1) return 'Yesterday'
    return age <= 7 ? 'This Week' : age <= 30 ? 'This Month' : 'Older'
  }
  const titles = ['Today', 'Yesterday', 'This Week', 'This Month', 'Older'] as const
  return titles
    .map((title) => ({ title, sessions: sessions.filter((session) => titleOf(session) === title) }))
    .filter((group) => group.sessions.length > 0)
}
