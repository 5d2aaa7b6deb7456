import { delay, endsWithin, yieldToEventLoop } from '@inlay/scheduling'
import { hasRowLocks } from '@inlay/records'
import { sql } from 'kysely'
import type { ConversationDatabase } from '../tables/database.ts'
import { indexText, maxSearchedCharacters } from './search-index.ts'

/** Adds texts to the search that were stored before it had an index. */
export interface SearchFill {
  start(): void
  /** Resolves once all are added, or after a time: the newest are added first. */
  whenIdle(maxWaitMs: number): Promise<void>
  close(): Promise<void>
}

const batch = 50
/** Rest after a failure, and while another process is at it. */
const restMs = 1_000

export function createSearchFill(db: ConversationDatabase, onError: (error: unknown) => void): SearchFill {
  const closing = new AbortController()
  let running: Promise<void> | undefined
  let isDone = false

  async function run(): Promise<void> {
    while (!closing.signal.aborted && !isDone) {
      const state = await db
        .transaction()
        .execute(addBatch)
        .catch((error: unknown) => void (closing.signal.aborted || onError(error)))
      isDone = state === 'done'
      if (state === 'added') await yieldToEventLoop()
      else if (!isDone) await delay(restMs, closing.signal).catch(() => {})
    }
  }

  return {
    start: () => {
      running ??= run()
    },
    whenIdle: async (maxWaitMs) => {
      if (running && !isDone) await endsWithin(running, maxWaitMs)
    },
    close: async () => {
      closing.abort()
      await running
    },
  }
}

/** Adds the newest messages that are left, and the names of sessions whose first message is among them. */
async function addBatch(records: ConversationDatabase): Promise<'added' | 'done' | 'held'> {
  let cursor = records.selectFrom('inlay_chat_search_fill').select('below').where('kind', '=', 'messages')
  if (hasRowLocks(records)) cursor = cursor.forUpdate().skipLocked()
  const row = await cursor.executeTakeFirst()
  if (!row) return 'held'
  const below = Number(row.below)
  if (below <= 1) return 'done'
  const messages = await records
    .selectFrom('inlay_chat_messages as message')
    .innerJoin('inlay_chat_sessions as session', 'session.id', 'message.session_id')
    .select([
      'message.id',
      'message.session_id',
      'message.parent_id',
      'message.status',
      'session.owner_id',
      'session.name',
    ])
    .select(sql<string>`substr(message.text, 1, ${sql.lit(maxSearchedCharacters)})`.as('text'))
    .where('message.id', '<', below)
    .orderBy('message.id', 'desc')
    .limit(batch)
    .$if(hasRowLocks(records), (query) => query.forShare())
    .execute()
  for (const { id, session_id: sessionId, owner_id: ownerId, parent_id: parentId, status, text, name } of messages) {
    if (parentId === null) await indexText(records, { sessionId, ownerId, text: name })
    else if (status !== 'running') await indexText(records, { sessionId, ownerId, messageId: id, text })
    if (text.length > 10_000) await yieldToEventLoop()
  }
  await records
    .updateTable('inlay_chat_search_fill')
    .set({ below: messages.length < batch ? 0 : (messages.at(-1)?.id ?? 0) })
    .where('kind', '=', 'messages')
    .execute()
  return messages.length < batch ? 'done' : 'added'
}
