import { postgres } from '@inlay/drivers/postgres'
import { migrateConversations } from '@inlay/conversations'
import { createHolds } from '@inlay/records'
import { Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { ana, codeOf, eventually, newSetting } from '../../agent/setting.ts'
import { startPostgres } from '../../knowledge/postgres-server.ts'
import { after } from './after.ts'

test('a hold waits for the removal that has begun, and those that come later find it', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  const connectionString = await server.takeDatabase()
  const connect = (): Kysely<unknown> => {
    const db = new Kysely<unknown>({ dialect: postgres({ connectionString }) })
    onTestFinished(() => db.destroy())
    return db
  }
  const db = connect()
  await migrateConversations(db)
  const first = await newSetting([['28 days.'], ['30 days.']], { db })
  const [run, otherRun] = [await first.send(), await first.send()]
  await run.whole()
  await otherRun.whole()
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stop = after('inlay_chat_summaries', async () => {
    reached.resolve()
    await gate.promise
  })
  const second = await newSetting([], { db: connect().withPlugin(stop) })
  const removal = second.agent.sessions.remove(run.sessionId, ana, { erase: true })
  await reached.promise
  const order: string[] = []
  const placing = createHolds({ db: connect() })
    .place({ person: ana.id, reason: '' })
    .then(() => order.push('placed'))
  await eventually(async () => {
    const waiting = await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`.execute(db)
    return waiting.rows.length > 0
  })
  order.push('released')
  gate.resolve()
  await Promise.all([removal, placing])
  expect(order).toEqual(['released', 'placed'])
  expect(await codeOf(first.agent.sessions.get(run.sessionId, ana, { includeDeleted: true }))).toBe('SESSION_NOT_FOUND')
  expect(await codeOf(first.agent.sessions.remove(otherRun.sessionId, ana, { erase: true }))).toBe('CONFLICT')
  expect(await codeOf(first.agent.sessions.get(otherRun.sessionId, ana))).toBe('none')
})
