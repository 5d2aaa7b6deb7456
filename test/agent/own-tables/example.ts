import type { DatabaseSync } from 'node:sqlite'
import { createAgent, placeMessage, toMainline, toPath } from '@inlay/agent'
import type { Agent, ConversationStore, ModelProvider, PastMessage, RunningAnswer, TreeNode } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'

type Row = TreeNode & Pick<PastMessage, 'status' | 'text'> & { calls: string | null }

/** Answers in the tables of the shop: `chats` and `messages`. */
export function shopAssistant(db: DatabaseSync, models: ModelProvider): Agent {
  db.exec(`create table if not exists chats (id text primary key, customer text);
    create table if not exists messages
    (id integer primary key, chat text, parent integer, role text, status text, text text, calls text)`)
  const run = (sql: string, ...values: (string | number | null)[]) => db.prepare(sql).run(...values)
  const add = (...values: (string | number | null)[]) =>
    Number(run('insert into messages values (null, ?, ?, ?, ?, ?, null)', ...values).lastInsertRowid)
  const read = (chat: string) =>
    db.prepare('select *, parent as parentId from messages where chat = ? order by id').all(chat) as unknown as Row[]
  const toHistory = (rows: readonly Row[], ids: readonly number[]) => {
    const messages = rows.flatMap(({ id, role, status, text, calls }): PastMessage[] => {
      if (role === 'system' || !ids.includes(id)) return []
      const toolCalls = JSON.parse(calls ?? '[]') as PastMessage['toolCalls']
      return [{ id, role, status, text, files: [], toolCalls, callCount: toolCalls.length, params: null }]
    })
    return { summary: null, summaryFiles: [], messages }
  }
  const conversationStore: ConversationStore = {
    async session(id, ownerId) {
      const chat = db.prepare('select id from chats where id = ? and customer = ?').get(id, ownerId)
      if (!chat) throw new InlayError('SESSION_NOT_FOUND')
      return { id, ownerId }
    },
    async open({ session, ownerId, parentId, text, models }) {
      const sessionId = session?.id ?? crypto.randomUUID()
      if (!session) run('insert into chats values (?, ?)', sessionId, ownerId)
      if (!session) add(sessionId, null, 'system', 'done', '')
      const rows = read(sessionId)
      const { parent, isRepeat, before } = placeMessage(rows, parentId)
      const userMessageId = isRepeat ? parent.id : add(sessionId, parent.id, 'user', 'done', text)
      const answerIds = models.map(() => add(sessionId, userMessageId, 'assistant', 'running', ''))
      const { text: userText = text } = rows.find(({ id }) => id === userMessageId) ?? {}
      const opened = { sessionId, isNewSession: !session, userMessageId, userText, files: [], answerIds }
      return { ...opened, ...toHistory(rows, before) }
    },
    async finish(id, { status, text, toolCalls }) {
      const calls = JSON.stringify(toolCalls)
      run('update messages set status = ?, text = ?, calls = ? where id = ?', status, text, calls, id)
    },
    async running() {
      const columns = 'id as answerId, chat as sessionId, parent as parentId, 0 as openedAt'
      const rows = db.prepare(`select ${columns} from messages where status = 'running'`).all()
      return rows as unknown as RunningAnswer[]
    },
    async branch(sessionId, id) {
      const rows = read(sessionId)
      return toHistory(rows, id === null ? toMainline(rows) : toPath(rows, id))
    },
  }
  return createAgent({ models, conversationStore })
}
