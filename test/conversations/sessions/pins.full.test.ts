import { migrateConversations } from '@inlay/conversations'
import { expect, onTestFinished, test } from 'vitest'
import { ana, newSetting } from '../../agent/setting.ts'
import { connectTo } from '../../knowledge/connect-to.ts'
import { startPostgres } from '../../knowledge/postgres-server.ts'

test('requests at once to two processes pin no more than a hundred sessions together', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  const address = await server.takeDatabase()
  const databases = [connectTo(address, 10), connectTo(address, 10)]
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
