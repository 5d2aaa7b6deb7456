import { postgres } from '@inlay/drivers/postgres'
import { migrateConversations } from '@inlay/conversations'
import { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ana, newSetting } from '../../agent/setting.ts'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

test('requests at once to two processes pin no more than a hundred sessions together', async () => {
  const connectionString = await server.takeDatabase()
  const connect = (): Kysely<unknown> => {
    const db = new Kysely<unknown>({ dialect: postgres({ connectionString, maxConnections: 10 }) })
    onTestFinished(() => db.destroy())
    return db
  }
  const databases = [connect(), connect()]
  await migrateConversations(databases[0]!)
  const settings = await Promise.all(databases.map((db) => newSetting([], { db })))
  const { agent } = settings[0]!
  const ids: string[] = []
  for (let count = 0; count < 104; count++) ids.push((await agent.sessions.create({}, ana)).id)
  const outcomes = await Promise.allSettled(
    ids.map((id, at) => settings[at % 2]!.agent.sessions.setPinned(id, true, ana)),
  )
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(4)
  expect(await agent.sessions.listPinned(ana)).toHaveLength(100)
})
