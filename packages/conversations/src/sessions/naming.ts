import type { NewAnswer, Services } from '@inlay/agent'
import { createSharedTransactions, prepared } from '@inlay/records'
import type { ConversationDatabase } from '../tables/database.ts'
import { indexText } from './search-index.ts'
import { findTitle, questionTitle } from './title.ts'

/** How a session gets its name after the first answer: from a model, from its first question, or not at all. */
export type SessionNaming = 'model' | 'question' | 'off'

/** Names sessions; what a model is finding right now is found once. */
export interface Naming {
  /** The name that a session without one gets with its first answer; "" for none. */
  firstName(question: string): string
  /** Notes that a session got its first name, which a model may improve. */
  onNamed(sessionId: string, name: string): void
  /** Lets a model name a session that has just got its first name. */
  afterAnswer(answer: NewAnswer): Promise<void>
  /** The name a session was given after its first answer, or is being given; undefined when that was long ago. */
  recent(sessionId: string): Promise<string> | undefined
  /** Forgets what `recent` would give. */
  forget(sessionId: string): void
}

/** Maximum number of concurrent model calls for names; further sessions are named by their first question. */
const maxConcurrent = 8
const maxRecent = 1_000
const recentMs = 60_000
const namingTimeoutMs = 20_000

const renameFrom = prepared(
  (db: ConversationDatabase, { sessionId, before, name }: Record<'sessionId' | 'before' | 'name', string>) =>
    db
      .updateTable('inlay_chat_sessions')
      .set({ name })
      .where('id', '=', sessionId)
      .where('name', '=', before)
      .returning('owner_id as ownerId'),
)

export function createNaming(db: ConversationDatabase, how: SessionNaming, { now }: Pick<Services, 'now'>): Naming {
  const writes = createSharedTransactions(db)
  const fresh = new Map<string, string>()
  const recent = new Map<string, { readonly name: Promise<string>; until: number }>()
  let running = 0

  /** Writes a name unless somebody has given the session another one meanwhile. */
  const replace = async (sessionId: string, before: string, name: string): Promise<boolean> => {
    return writes.run(async (records) => {
      const [session] = await renameFrom(records, { sessionId, before, name })
      if (session) await indexText(records, { sessionId, ownerId: session.ownerId, text: name })
      return session !== undefined
    })
  }
  const ask = async ({ sessionId, question, text, model, signal }: NewAnswer, before: string): Promise<string> => {
    running++
    try {
      const messages = [
        { role: 'user' as const, text: question },
        { role: 'assistant' as const, text },
      ]
      const limited = AbortSignal.any([signal, AbortSignal.timeout(namingTimeoutMs)])
      const title = await findTitle(messages, await model(), limited)
      return title !== before && (await replace(sessionId, before, title)) ? title : before
    } finally {
      running--
    }
  }
  return {
    firstName: (question) => (how === 'off' ? '' : questionTitle(question)),
    onNamed: (sessionId, name) => {
      if (fresh.size >= maxRecent) fresh.clear()
      if (how === 'model') fresh.set(sessionId, name)
    },
    async afterAnswer(answer) {
      const { sessionId, text } = answer
      const title = fresh.get(sessionId)
      fresh.delete(sessionId)
      if (title === undefined || text === '' || running >= maxConcurrent) return
      if (recent.size >= maxRecent) recent.clear()
      const entry = { name: ask(answer, title).catch(() => title), until: Number.POSITIVE_INFINITY }
      recent.set(sessionId, entry)
      await entry.name
      entry.until = now() + recentMs
    },
    recent: (sessionId) => {
      const entry = recent.get(sessionId)
      return entry && entry.until > now() ? entry.name : undefined
    },
    forget: (sessionId) => void recent.delete(sessionId),
  }
}
