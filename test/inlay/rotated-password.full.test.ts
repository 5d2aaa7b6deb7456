import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInlay, readSettings } from 'inlay'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../knowledge/postgres-server.ts'
import { temporaryFolder } from '../life/process.ts'

test('the password of a database changes in its file while the server runs', async () => {
  const cluster = await startPostgres()
  onTestFinished(() => cluster.stop())
  const address = await cluster.takeDatabase()
  const admin = new pg.Client({ connectionString: address })
  await admin.connect()
  onTestFinished(() => admin.end())
  await admin.query(`create role rotated login superuser password 'first p@ss'`)
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const file = join(path, 'url')
  const write = (password: string): void =>
    writeFileSync(file, `${Object.assign(new URL(address), { username: 'rotated', password }).href}\n`)
  write('first p@ss')
  const { options } = readSettings({ INLAY_DATABASE_URL_FILE: file })
  const inlay = createInlay({ ...options, dataFolder: path, apiKey: 'inlay_key-of-rotation', onError: () => {} })
  onTestFinished(() => inlay.close())
  await inlay.start()
  const cut = (): Promise<unknown> =>
    admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'rotated'`)
  const search = async (): Promise<number> => {
    const headers = { authorization: 'Bearer inlay_key-of-rotation' }
    const body = JSON.stringify({ query: 'heron' })
    const answer = await inlay.fetch(new Request('http://host.example/api/search', { method: 'POST', headers, body }))
    return answer.status
  }
  expect(await search()).toBe(200)
  await admin.query(`alter role rotated password 'second p@ss'`)
  await cut()
  await expect.poll(search).toBe(503)
  write('second p@ss')
  await expect.poll(search).toBe(200)
  expect(await inlay.keys.list()).toEqual([])
})
