import { answer } from '@inlay/conformance/internal/stores/store-fixture'
import { migrateConversations } from '@inlay/conversations'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import { finishAnswer } from '@inlay/conversations/internal/sessions/store-answer'
import { createHolds } from '@inlay/records'
import { sql, type Kysely, type Transaction } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newGate } from '../../gate.ts'
import { ana, codeOf, eventually, newSetting } from '../../agent/setting.ts'
import { connectTo } from '../../knowledge/connect-to.ts'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'
import { after } from './after.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

const tables = [
  'inlay_chat_sessions',
  'inlay_chat_messages',
  'inlay_chat_tool_calls',
  'inlay_chat_search',
  'inlay_chat_send_keys',
] as const

/** A session in a database of several processes, and how one of them is held up in the middle of its work. */
async function openSession() {
  const address = await server.takeDatabase()
  const connect = (): Kysely<unknown> => connectTo(address)
  const db = connect()
  await migrateConversations(db)
  const first = await newSetting([['28 days.']], { db })
  const run = await first.send()
  await run.whole()
  const gate = newGate()
  return {
    sessionId: run.sessionId,
    connect,
    heldAfter: (named: string): Kysely<unknown> => connect().withPlugin(after(named, gate.pass)),
    reached: gate.reached,
    release: gate.open,
    /** Resolves once some work has ended, or waits for what another process holds. */
    stuckOrOver: async (work: Promise<unknown>): Promise<void> => {
      let isOver = false
      void work.finally(() => (isOver = true))
      await eventually(async () => {
        const waiting = await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`.execute(db)
        return isOver || waiting.rows.length > 0
      })
    },
    left: async (): Promise<number> => {
      let count = 0
      for (const table of tables)
        count += (await db.withTables<ConversationTables>().selectFrom(table).selectAll().execute()).length
      return count
    },
  }
}

test('a message that is being stored when its session is erased goes with it', async () => {
  const { sessionId, connect, heldAfter, reached, release, stuckOrOver, left } = await openSession()
  const sender = await newSetting([['Thirty.']], { db: heldAfter('And herons?') })
  const eraser = await newSetting([], { db: connect() })
  const sent = sender.send({ chat_session_id: sessionId, message: 'And herons?' }, { idempotencyKey: 'k' })
  await reached
  const erased = eraser.agent.sessions.remove(sessionId, ana, { erase: true })
  await stuckOrOver(erased)
  release()
  await erased
  await (await sent).whole().catch(() => {})
  await sender.agent.close()
  expect(await left()).toBe(0)
})

test('a message that comes in the last step of erasing its session is refused, and nothing of it is left', async () => {
  const { sessionId, connect, heldAfter, reached, release, stuckOrOver, left } = await openSession()
  const eraser = await newSetting([], {
    db: heldAfter(
      '"DeleteQueryNode","from":{"kind":"FromNode","froms":[{"kind":"TableNode","table":{"kind":"SchemableIdentifierNode","identifier":{"kind":"IdentifierNode","name":"inlay_chat_messages"',
    ),
  })
  const sender = await newSetting([['Thirty.']], { db: connect() })
  const erased = eraser.agent.sessions.remove(sessionId, ana, { erase: true })
  await reached
  const sent = codeOf(sender.send({ chat_session_id: sessionId, message: 'And herons?' }, { idempotencyKey: 'k' }))
  await stuckOrOver(sent)
  release()
  await erased
  expect(await sent).toBe('SESSION_NOT_FOUND')
  await sender.agent.close()
  expect(await left()).toBe(0)
})

test('an answer that is being stored when its session is erased goes with it', async () => {
  const { sessionId, connect, heldAfter, reached, release, stuckOrOver, left } = await openSession()
  const sender = await newSetting([['Thirty herons.']], { db: heldAfter('"Thirty herons."') })
  const eraser = await newSetting([], { db: connect() })
  const sent = await sender.send({ chat_session_id: sessionId, message: 'And herons?' })
  await reached
  const erased = eraser.agent.sessions.remove(sessionId, ana, { erase: true })
  await stuckOrOver(erased)
  release()
  await erased
  await sent.whole().catch(() => {})
  await sender.agent.close()
  expect(await left()).toBe(0)
})

test('a session that gets a message while it is erased for its age stays', async () => {
  const { sessionId, connect, stuckOrOver } = await openSession()
  const eraser = await newSetting([], { db: connect() })
  const before = Date.UTC(2100, 0)
  const erased = await connect()
    .withTables<ConversationTables>()
    .transaction()
    .execute(async (records) => {
      await records.updateTable('inlay_chat_sessions').set({ updated_at: before }).where('id', '=', sessionId).execute()
      const erasing = eraser.agent.eraseExpired({ unchangedSince: before, limit: 10 })
      await stuckOrOver(erasing)
      return { erasing }
    })
  expect(await erased.erasing).toBe(0)
  expect(await codeOf(eraser.agent.sessions.get(sessionId, ana))).toBe('none')
})

test('an answer that two processes end at once is in the search once', async () => {
  const { sessionId, connect, stuckOrOver } = await openSession()
  const db = connect().withTables<ConversationTables>()
  const { id } = await db
    .selectFrom('inlay_chat_messages')
    .select('id')
    .where('session_id', '=', sessionId)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  await db.deleteFrom('inlay_chat_search').where('message_id', '=', id).execute()
  await db.updateTable('inlay_chat_messages').set({ status: 'running' }).where('id', '=', id).execute()
  const finish = (records: Transaction<ConversationTables>) =>
    finishAnswer(records, id, { ...answer, durationMs: 5 }, { time: Date.now(), nameOf: undefined })
  const other = connect().withTables<ConversationTables>()
  const late = await db.transaction().execute(async (records) => {
    await finish(records)
    const waiting = other.transaction().execute(finish)
    await stuckOrOver(waiting)
    return { waiting }
  })
  await late.waiting
  const indexed = await db.selectFrom('inlay_chat_search').select('id').where('message_id', '=', id).execute()
  expect(indexed).toHaveLength(1)
})

test('a hold waits for the removal that has begun, and those that come later find it', async () => {
  const { sessionId, connect, heldAfter, reached, release, stuckOrOver } = await openSession()
  const { agent, send } = await newSetting([['30 days.']], { db: connect() })
  const other = await send()
  await other.whole()
  const remover = await newSetting([], { db: heldAfter('inlay_chat_summaries') })
  const removal = remover.agent.sessions.remove(sessionId, ana, { erase: true })
  await reached
  const order: string[] = []
  const placing = createHolds({ db: connect() })
    .place({ person: ana.id, reason: '' })
    .then(() => order.push('placed'))
  await stuckOrOver(placing)
  order.push('released')
  release()
  await Promise.all([removal, placing])
  expect(order).toEqual(['released', 'placed'])
  expect(await codeOf(agent.sessions.get(sessionId, ana, { includeDeleted: true }))).toBe('SESSION_NOT_FOUND')
  expect(await codeOf(agent.sessions.remove(other.sessionId, ana, { erase: true }))).toBe('CONFLICT')
  expect(await codeOf(agent.sessions.get(other.sessionId, ana))).toBe('none')
})
