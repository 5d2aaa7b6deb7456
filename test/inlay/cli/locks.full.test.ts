import { spawn } from 'node:child_process'
import { createInlay } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'
import { temporaryFolder } from '../../life/process.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
  const admin = new pg.Client({ connectionString: await server.takeDatabase() })
  await admin.connect()
  // It sees little of the sessions of others.
  await admin.query(`create role server login password 'password'`)
  await admin.end()
})
afterAll(() => server.stop())

/** A database that all versions of the tables are in, and a session of somebody else in a transaction. */
async function setting(isEmpty = false) {
  const address = await server.takeDatabase()
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const inlay = createInlay({ database: address, dataFolder: path, apiKey, telemetry: true, onError: () => {} })
  onTestFinished(() => inlay.close())
  if (!isEmpty) await inlay.start()
  const other = new pg.Client({ connectionString: address, application_name: 'a report' })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query('grant create on schema public to server; grant all on all tables in schema public to server')
  await other.query('begin')
  const ask = (path: string): Promise<Response> =>
    inlay.fetch(new Request(`http://host.example/api${path}`, { headers: { authorization: `Bearer ${apiKey}` } }))
  const env = { INLAY_DATABASE_URL: address, INLAY_DATA: path, PORT: '0', INLAY_MODEL: 'extractive' }
  const run = async (...words: string[]): Promise<[code: number, text: string]> => {
    const url = Object.assign(new URL(address), { username: 'server' }).href
    let text = ''
    const stream = { write: (part: string) => void (text += part), isTTY: false, columns: 200 }
    const { signal } = new AbortController()
    const code = await runCommandLine(words, {
      env: () => ({ ...env, INLAY_DATABASE_URL: url }),
      stdout: stream,
      stderr: stream,
      signal,
    } as never)
    return [code, text]
  }
  return { other, ask, env, run }
}
const apiKey = 'inlay_key-of-locks'

test('a request that waits for the lock of somebody else is seen in the metrics', async () => {
  const { other, ask } = await setting()
  await other.query('lock table inlay_chat_sessions')
  const listing = ask('/chat/get-user-chat-sessions')
  const ages = async (): Promise<number[]> => {
    const text = await (await ask('/metrics')).text()
    return ['records', 'request'].map((call) =>
      Number(new RegExp(`^inlay_oldest_call_seconds\\{inlay_call="${call}"\\} (.*)$`, 'm').exec(text)?.[1]),
    )
  }
  await expect.poll(async () => Math.min(...(await ages()))).toBeGreaterThan(2)
  await other.query('rollback')
  expect((await listing).status).toBe(200)
  expect(Math.max(...(await ages()))).toBeLessThan(2)
})

test('doctor names a table that somebody else has locked and who, in place of waiting for it', async () => {
  const { other, run } = await setting()
  await other.query('lock table inlay_documents')
  const { rows } = await other.query('select pg_backend_pid() as pid')
  // Younger locks may end by themselves.
  await other.query('select pg_sleep(2)')
  const [code, text] = await run('doctor', '--offline')
  expect(text).toContain(`inlay_documents is locked by process ${rows[0].pid} (postgres, a report)`)
  expect(text).toContain(`select pg_terminate_backend(${rows[0].pid})`)
  expect(code).toBe(1)
  const [tablesCode, tablesText] = await run('doctor', '--tables')
  expect(tablesText).toContain('pg_blocking_pids()')
  expect(tablesCode).toBe(1)
  await other.query('rollback')
  expect(await run('doctor', '--offline')).toEqual([0, expect.not.stringContaining('Locks')])
})

test('the first signal ends a doctor that waits for a database', async () => {
  const { other, env } = await setting(true)
  // Of a process that changes the tables.
  await other.query('select pg_advisory_xact_lock(3853314791062309107)')
  const words = ['--conditions=@inlay/source', 'packages/inlay/src/cli.ts', 'doctor', '--offline']
  const child = spawn(process.execPath, words, { env: { ...process.env, ...env }, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
  await expect
    .poll(async () => (await other.query('select from pg_locks where not granted')).rowCount)
    .toBeGreaterThan(0)
  child.kill('SIGTERM')
  expect(await ended).toBe(130)
})
