import { dialectOf, isAmong } from '@inlay/records'
import { yieldToEventLoop } from '@inlay/scheduling'
import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { Principal } from '@inlay/protocol'
import type { SessionTable } from '../tables/chat-tables.ts'
import { idsOf, type ConversationDatabase } from '../tables/database.ts'
import type { FoundSession, SessionGroup, Sessions } from './stored-session.ts'
import { excerptOf } from './excerpt.ts'
import { toListing } from './listing.ts'
import { holdsWords, maxSearchedCharacters, ownerTerm, rowsWithWords } from './search-index.ts'
import { stemsOf, termsOfStem } from './search-words.ts'

const dayMs = 86_400_000
/** Newest sessions whose texts are looked at one by one: common words are found there without reading an index. */
const newestSessions = 200
/** Most texts that the index is asked for. */
const maxTexts = 10_000

export async function searchSessions(
  db: ConversationDatabase,
  query: string,
  caller: Principal,
  time: number,
  { offset = 0, limit = 10 }: NonNullable<Parameters<Sessions['search']>[2]>,
): Promise<Awaited<ReturnType<Sessions['search']>>> {
  const terms = [...new Set(stemsOf(query).flatMap(termsOfStem))]
  const wanted = offset + limit + 1
  const rows = terms.length === 0 ? await newest(db, caller, wanted) : await withTerms(db, terms, caller, wanted)
  const shown = rows.slice(offset, offset + limit)
  const matches = await readMatches(db, terms, caller, shown)
  const page = shown.map((row): FoundSession => {
    const match = matches.get(row.id)
    return match === undefined ? toListing(row) : { ...toListing(row), match }
  })
  return { groups: toGroups(page, time), hasMore: rows.length > offset + limit }
}

type Row = Selectable<SessionTable>

async function newest(db: ConversationDatabase, caller: Principal, limit: number): Promise<Row[]> {
  const { rows } = await sql<Row>`select * from inlay_chat_sessions ${newestOf(caller, limit)}`.execute(db)
  return rows
}

function newestOf(caller: Principal, limit: number, condition = sql``): RawBuilder<unknown> {
  return sql`
    where owner_id = ${caller.id} and deleted_at is null ${condition}
    order by created_at desc, id desc limit ${sql.lit(limit)}`
}

/** Sessions whose name or one of whose messages holds every term, the newest first. */
async function withTerms(
  db: ConversationDatabase,
  terms: readonly string[],
  caller: Principal,
  wanted: number,
): Promise<Row[]> {
  const words = [ownerTerm(caller.id), ...terms]
  // SQLite reads its index from the newest text on, so that common words cost no more.
  if (dialectOf(db) !== 'sqlite') {
    const rows = await amongNewest(db, words, caller, wanted)
    if (rows.length >= wanted) return rows
  }
  const index = rowsWithWords(db, words, maxTexts)
  const condition = sql`and id in (
    select session_id from inlay_chat_search where id in (select id from (${index}) as texts)
  )`
  const { rows } = await sql<Row>`
    select * from inlay_chat_sessions ${newestOf(caller, wanted, condition)}`.execute(db)
  return rows
}

async function amongNewest(
  db: ConversationDatabase,
  words: readonly string[],
  caller: Principal,
  wanted: number,
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select newest.* from (select * from inlay_chat_sessions ${newestOf(caller, Math.max(newestSessions, 2 * wanted))}) as newest
    where (
      select count(*) from (
        select 1 from inlay_chat_search where session_id = newest.id and ${holdsWords(words)} limit 1
      ) as texts
    ) = 1
    order by created_at desc, id desc limit ${sql.lit(wanted)}`.execute(db)
  return rows
}

/**
 * The newest message of each session that holds every term, with the text around it. Sessions found by their name alone
 * have none.
 */
async function readMatches(
  db: ConversationDatabase,
  terms: readonly string[],
  caller: Principal,
  sessions: readonly Row[],
): Promise<Map<string, NonNullable<FoundSession['match']>>> {
  const matches = new Map<string, NonNullable<FoundSession['match']>>()
  if (terms.length === 0 || sessions.length === 0) return matches
  const words = [ownerTerm(caller.id), ...terms]
  const ids = isAmong(db, 'session_id', idsOf(sessions))
  // The index of SQLite gives the newest texts of the caller; elsewhere the newest texts of these sessions are looked at.
  const isSqlite = dialectOf(db) === 'sqlite'
  const texts = isSqlite
    ? sql`select * from inlay_chat_search where ${ids} and id in (
        select id from (${rowsWithWords(db, words, maxTexts)}) as newest
      )`
    : sql`select * from inlay_chat_search where ${ids} order by id desc limit ${sql.lit(maxTexts)}`
  const { rows } = await sql<{ id: number; session_id: string }>`
    select max(message_id) as id, session_id from (${texts}) as texts
    where message_id is not null and ${isSqlite ? sql`true` : holdsWords(words)}
    group by session_id`.execute(db)
  for (const { id, session_id: sessionId } of rows) {
    const message = await db
      .selectFrom('inlay_chat_messages')
      .select(sql<string>`substr(text, 1, ${sql.lit(maxSearchedCharacters)})`.as('text'))
      .where('id', '=', id)
      .executeTakeFirst()
    // Finding the place in a long text takes up to a millisecond, and a page has many.
    await yieldToEventLoop()
    if (message !== undefined) matches.set(sessionId, { messageId: id, text: excerptOf(message.text, terms) })
  }
  return matches
}

/** Groups sessions by the day (UTC) they were begun on. */
function toGroups(sessions: readonly FoundSession[], time: number): SessionGroup[] {
  const today = Math.floor(time / dayMs)
  const titleOf = ({ timeCreated }: FoundSession): SessionGroup['title'] => {
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
