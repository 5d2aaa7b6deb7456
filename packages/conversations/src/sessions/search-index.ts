import { arrayLiteral, dialectOf, prepared, type AnyDatabase } from '@inlay/records'
import { sql, type RawBuilder } from 'kysely'
import type { ConversationDatabase } from '../tables/database.ts'
import { termsOf } from './search-words.ts'

/** Characters at the beginning of a text that search looks at. */
export const maxSearchedCharacters = 65_536

/** A text that search finds: a message, or the name of a session. */
export interface SearchedText {
  readonly sessionId: string
  readonly ownerId: string
  /** Absent: the name of the session. */
  readonly messageId?: number
  readonly text: string
}

/** Indexes a text under its session or message. Called in the transaction that writes it. */
export async function indexText(db: ConversationDatabase, text: SearchedText): Promise<void> {
  const { sessionId, messageId } = text
  await (messageId === undefined ? forgetName(db, { sessionId }) : forgetMessage(db, { sessionId, messageId }))
  await addText(db, text)
}

const forgetName = prepared((db: ConversationDatabase, { sessionId }: { readonly sessionId: string }) =>
  db.deleteFrom('inlay_chat_search').where('session_id', '=', sessionId).where('message_id', 'is', null),
)
const forgetMessage = prepared(
  (db: ConversationDatabase, { sessionId, messageId }: Required<Pick<SearchedText, 'sessionId' | 'messageId'>>) =>
    db.deleteFrom('inlay_chat_search').where('session_id', '=', sessionId).where('message_id', '=', messageId),
)

/** Like {@link indexText}, for a new text. */
export async function addText(
  db: ConversationDatabase,
  { sessionId, ownerId, messageId, text }: SearchedText,
): Promise<void> {
  const terms = termsOf(beginningOf(text))
  if (terms.size === 0) return
  const words = [ownerTerm(ownerId), ...terms]
  await insertText(db, { sessionId, messageId: messageId ?? null, words: wordsLiteral(db, words) })
}

interface NewText {
  readonly sessionId: string
  readonly messageId: number | null
  readonly words: string
}

const insertText = prepared((db: ConversationDatabase, { sessionId, messageId, words }: NewText) =>
  db
    .insertInto('inlay_chat_search')
    .values({ session_id: sessionId, message_id: messageId, words: toWordsColumn(db, words) }),
)

/** Without a word that is cut in two. */
function beginningOf(text: string): string {
  if (text.length < maxSearchedCharacters) return text
  return text.slice(0, maxSearchedCharacters).replace(/[\p{L}\p{N}]{1,64}$/u, '')
}

function wordsLiteral(db: AnyDatabase, words: readonly string[]): string {
  // With a space on both sides of each word.
  return dialectOf(db) === 'sqlite' ? ` ${words.join(' ')} ` : arrayLiteral(words)
}

function toWordsColumn(db: AnyDatabase, literal: string): RawBuilder<string> {
  return dialectOf(db) === 'sqlite' ? sql<string>`${literal}` : sql<string>`cast(${literal} as text[])`
}

/**
 * Stands among the words of each text of an owner; "@" is in no word. Owners may share one: queries check the owner.
 */
export function ownerTerm(ownerId: string): string {
  const bytes = new TextEncoder().encode(ownerId).slice(0, 60)
  return `@${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Condition of the rows of `inlay_chat_search` in PostgreSQL: the text holds all words. */
export const holdsWords = (words: readonly string[]): RawBuilder<boolean> =>
  sql<boolean>`words @> cast(${arrayLiteral(words)} as text[])`

/** Ids of the rows of `inlay_chat_search` that hold all words, by its index. */
export function rowsWithWords(db: AnyDatabase, words: readonly string[], limit: number): RawBuilder<{ id: number }> {
  if (dialectOf(db) !== 'sqlite')
    return sql`select id from inlay_chat_search where ${holdsWords(words)} limit ${sql.lit(limit)}`
  const query = words.map((word) => `"${word}"`).join(' ')
  return sql`
    select rowid as id from inlay_chat_search_words where inlay_chat_search_words match ${query}
    order by rowid desc limit ${sql.lit(limit)}`
}
