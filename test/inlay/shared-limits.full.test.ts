import { postgres } from '@inlay/drivers/postgres'
import { createInlay, type Inlay } from 'inlay'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../knowledge/postgres-server.ts'
import { temporaryFolder } from '../life/process.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server.stop())

describe.each(['SQLite', 'Postgres'] as const)('three assistants on one database: %s', (kind) => {
  async function open(callerLimits: object) {
    const folder = temporaryFolder()
    const connectionString = kind === 'Postgres' ? await server.takeDatabase() : undefined
    const start = (): Inlay =>
      createInlay({
        dataFolder: folder.path,
        callerLimits,
        ...(connectionString && { database: postgres({ connectionString, maxConnections: 4 }) }),
      })
    const inlays = [start(), start(), start()]
    onTestFinished(async () => {
      for (const inlay of inlays) await inlay.close()
      folder.remove()
    })
    const { key } = await inlays[0]!.keys.create({ scopes: ['chat'] })
    const admin = await inlays[0]!.keys.create({ scopes: ['admin'] })
    const call = async (at: number, path: string, body?: object, bearer = key) => {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
      const method = body ? 'POST' : 'GET'
      const request = new Request(`http://host.example/api${path}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
      })
      const response = await inlays[at % 3]!.fetch(request)
      return { status: response.status, body: await response.json() }
    }
    const used = async (): Promise<number[]> => {
      const { body } = await call(0, '/admin/limits', undefined, admin.key)
      return body.used.map((row: { used: number }) => row.used)
    }
    return { call, used }
  }

  test('let through what one would, of 90 requests at once', async () => {
    const { call, used } = await open({ requestsPerMinute: 30 })
    const answers = await Promise.all(Array.from({ length: 90 }, (_, at) => call(at, '/me')))
    const passed = answers.filter(({ status }) => status === 200).length
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(90 - passed)
    // At the turn of a minute there are two of them.
    expect(passed).toBeLessThanOrEqual(30 * (await used()).length)
    expect(passed).toBeGreaterThanOrEqual(30)
    expect(Math.max(...(await used()))).toBe(30)
  })

  test('make the sessions of a day that one would', async () => {
    const { call, used } = await open({ sessionsPerDay: 5 })
    const answers = await Promise.all(Array.from({ length: 15 }, (_, at) => call(at, '/chat/create-chat-session', {})))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5 * (await used()).length)
  })

  test('know at once which tokens the others have used', async () => {
    const { call } = await open({ tokensPerDay: 1 })
    const send = (at: number) => call(at, '/chat/send-chat-message', { message: 'Hello', stream: false })
    expect((await send(0)).status).toBe(200)
    expect((await send(1)).status).toBe(429)
    expect((await send(2)).status).toBe(429)
  })
})
