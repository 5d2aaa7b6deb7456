import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { watchSilence, type SilenceLimits } from '@inlay/drivers/internal/sql/silent-postgres'
import { Client, Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'

const message = (kind: string, body: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(5)
  head.write(kind)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const ready = message('Z', Buffer.from('I'))
const welcome = Buffer.concat([message('R', Buffer.alloc(4)), ready])
const done = Buffer.concat([message('C', Buffer.from('SELECT 0\0')), ready])
const refusal = message('E', Buffer.from('SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0'))

/** Speaks as much of PostgreSQL's protocol as `select` without rows needs. */
async function startServer(): Promise<{
  readonly port: number
  /** How the server treats new connections. */
  newcomers: 'welcome' | 'refused' | 'silence'
  /** Whether queries are answered. A pooler answers none as long as all its connections to the server are taken. */
  answers: boolean
  /** Answers those that wait. */
  release(): void
  readonly connections: number
}> {
  const waiting: Socket[] = []
  const state = { port: 0, newcomers: 'welcome' as const, answers: true, connections: 0, release }
  function release(): void {
    for (const socket of waiting.splice(0)) socket.write(done)
  }
  const server = createServer((socket) => {
    const server: { newcomers: string; answers: boolean; connections: number } = state
    server.connections++
    socket.on('error', () => {})
    let isIn = false
    socket.on('data', (part) => {
      if (isIn && part[0] === 'X'.charCodeAt(0)) return socket.end()
      if (!isIn && server.newcomers === 'refused') return socket.end(refusal)
      if (!isIn && server.newcomers === 'silence') return undefined
      if (!isIn) {
        isIn = true
        return socket.write(welcome)
      }
      return server.answers ? socket.write(done) : waiting.push(socket)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  state.port = (server.address() as AddressInfo).port
  return state
}

const connectLimits = { connectMs: 2_000, silentConnectMs: 50, nextConnectMs: 5 }

function poolOf(port: number, limits: Pick<SilenceLimits, 'queryMs' | 'answerMs'>): Pool {
  const pool = new Pool({ connectionString: `postgres://inlay:word@127.0.0.1:${port}/inlay`, ssl: false, max: 2 })
  pool.on('error', () => {})
  watchSilence(pool as Parameters<typeof watchSilence>[0], { ...limits, ...connectLimits })
  onTestFinished(() => pool.end())
  return pool
}

test('a query whose server has gone silent is rejected, and the next one connects anew', async () => {
  const server = await startServer()
  const pool = poolOf(server.port, { queryMs: 30, answerMs: 500 })
  await pool.query('select')
  Object.assign(server, { newcomers: 'silence', answers: false })
  await expect(pool.query('select')).rejects.toThrow(/^Connection terminated: the server is silent/)
  // Known as silent, it is not waited for as long as `pg` would, which is for ever.
  await expect(pool.query('select')).rejects.toThrow(/^(Connection terminated|timeout e)/)
  Object.assign(server, { newcomers: 'welcome', answers: true })
  await expect.poll(() => pool.query('select').then(({ rows }) => rows, String)).toEqual([])
})

test.each(['welcome', 'refused'] as const)(
  'a slow query goes on while new connections meet a %s',
  async (newcomers) => {
    const server = await startServer()
    const pool = poolOf(server.port, { queryMs: 30, answerMs: 500 })
    await pool.query('select')
    Object.assign(server, { newcomers, answers: false })
    const slow = pool.query('select')
    slow.catch(() => {})
    // Asked about more than once while the query waits.
    await expect.poll(() => server.connections).toBeGreaterThan(3)
    server.release()
    expect(await slow).toMatchObject({ rows: [] })
    expect(pool.totalCount).toBe(1)
  },
)

test('callers who find the server silent at their first connection are all rejected, not one after the other', async () => {
  const server = await startServer()
  Object.assign(server, { newcomers: 'silence' })
  const waitMs = 60_000
  const pool = new Pool({ host: '127.0.0.1', port: server.port, ssl: false, max: 2, connectionTimeoutMillis: waitMs })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  const limits = { queryMs: 30, answerMs: 500, connectMs: 400, silentConnectMs: 30_000, nextConnectMs: 5 }
  watchSilence(pool as Parameters<typeof watchSilence>[0], limits)
  const began = performance.now()
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => pool.query('select')))
  expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 'rejected'))
  // Each of the long bounds alone takes longer.
  expect(performance.now() - began).toBeLessThan(30_000)
  Object.assign(server, { newcomers: 'welcome' })
  await expect.poll(() => pool.query('select').then(({ rows }) => rows, String)).toEqual([])
})

test('a connection at rest stays, and nobody is asked about it', async () => {
  const server = await startServer()
  const pool = poolOf(server.port, { queryMs: 5, answerMs: 60_000 })
  const client = await pool.connect()
  let quietTimes = 0
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.on('timeout', () => quietTimes++)
  await expect.poll(() => quietTimes).toBeGreaterThan(3)
  expect(server.connections).toBe(1)
  expect(await client.query('select')).toMatchObject({ rows: [] })
  expect(pool.totalCount).toBe(1)
  client.release()
})

test('a query goes on where no new connection can be tried from here', async () => {
  const server = await startServer()
  let tries = 0
  let isExhausted = false
  class Limited extends Client {
    override connect(...given: []): never {
      if (!isExhausted) return super.connect(...given) as never
      tries++
      return Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' })) as never
    }
  }
  const connectionString = `postgres://inlay:word@127.0.0.1:${server.port}/inlay`
  const pool = new Pool({ connectionString, ssl: false, Client: Limited as never })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  const limits = { queryMs: 30, answerMs: 60_000, ...connectLimits }
  watchSilence(pool as Parameters<typeof watchSilence>[0], limits)
  const client = await pool.connect()
  Object.assign(server, { answers: false })
  isExhausted = true
  const slow = client.query('select')
  slow.catch(() => {})
  await expect.poll(() => tries).toBeGreaterThan(2)
  server.release()
  expect(await slow).toMatchObject({ rows: [] })
  client.release()
})
