/** Runs the conformance tests of shared runs against a real Redis: `npm run -w test/rigs check:redis`, with `redis-server` installed. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { sharedRunsConformance } from '@inlay/conformance'
import { redisRuns } from '@inlay/drivers/redis'
import { eventually } from '../../life/process.ts'
import { runAll } from './run-all.ts'

const port = 20_000 + (process.pid % 20_000)
const password = 'a-password-of-the-check'
const words = ['--port', String(port), '--save', '', '--appendonly', 'no', '--requirepass', password]
const url = `redis://:${password}@127.0.0.1:${port}/3`
const start = () => spawn('redis-server', words, { stdio: 'ignore' })
let server = start()
let count = 0
try {
  await reachable()
  await runAll(
    'Redis',
    sharedRunsConformance(() => {
      let time = 1_000
      const prefix = `test-${++count}`
      return {
        process: () => {
          const runs = redisRuns({ url, prefix, now: () => time })
          return runs
        },
        advance: (milliseconds) => void (time += milliseconds),
      }
    }),
  )
  await runAll('Redis with processes that are known', [['a run of one that has ended is taken at once', takeover]])
  await runAll('Redis, stopped for a while', [['calls fail at once, and go well again by themselves', outage]])
  await runAll('Redis that loses what it holds', [['runs are known as forgotten, removed ones are not', loss]])
} finally {
  server.kill('SIGKILL')
}
process.exit()

async function takeover(): Promise<void> {
  const gone = new Set<string>()
  const as = (owner: string) =>
    redisRuns({ url, prefix: 'takeover', processes: { owner, isGone: (other) => gone.has(other) } })
  await as('first').open({ sessionId: 's', messageId: 1, runId: 1, openedAt: 0 })
  const second = as('second')
  assert.deepEqual(await second.takeAbandoned(60_000), [])
  gone.add('first')
  assert.deepEqual(
    (await second.takeAbandoned(60_000)).map(({ messageId }) => messageId),
    [1],
  )
}

async function outage(): Promise<void> {
  const runs = redisRuns({ url, prefix: 'outage' })
  let changes = 0
  await runs.subscribe(() => void changes++)
  await runs.ofSession('s')
  server.kill('SIGKILL')
  await new Promise((resolve) => server.once('exit', resolve))
  const began = Date.now()
  const refused = await runs.ofSession('s').then(
    () => undefined,
    (error: Error) => error,
  )
  if (refused === undefined || Date.now() - began > 2_000)
    throw new Error('a call without a server did not fail at once')
  server = start()
  await reachable()
  const before = changes
  await eventually('calls go well', async () =>
    changes > before ? runs.ofSession('s').catch(() => undefined) : undefined,
  )
  const other = redisRuns({ url, prefix: 'outage' })
  await other.open({ sessionId: 's', messageId: 1, runId: 1, openedAt: 0 })
  const known = changes
  await other.append([{ messageId: 1, entries: [{ sequence: 1, json: '{}' }], finished: true }])
  await eventually('a change is told', async () => changes > known || undefined)
}

async function loss(): Promise<void> {
  const runs = redisRuns({ url, prefix: 'loss' })
  const line = { sequence: 1, json: '{}' }
  for (const [messageId, sessionId] of [[1, 'kept'] as const, [2, 'removed'] as const])
    await runs.open({ sessionId, messageId, runId: messageId, openedAt: 0 })
  const command = (...given: string[]): string =>
    execFileSync('redis-cli', ['-p', String(port), '-a', password, '-n', '3', '--no-auth-warning', ...given], {
      encoding: 'utf8',
    })
  command('del', '{loss}:run:1', '{loss}:lines:1')
  await runs.append([{ messageId: 2, entries: [line], finished: false }])
  await runs.remove(['removed'])
  assert.deepEqual(command('keys', '{loss}:*').trim().split('\n').toSorted(), [
    '{loss}:run:2',
    '{loss}:running',
    '{loss}:session:kept',
  ])
  const lost = await runs.append([1, 2].map((messageId) => ({ messageId, entries: [line], finished: false })))
  assert.deepEqual(lost, [1, 2])
  assert.deepEqual(await runs.forgotten?.([1, 2]), [1])
  await runs.close()
}

async function reachable(): Promise<void> {
  await eventually('redis-server answers', async () => {
    const runs = redisRuns({ url, prefix: 'reach' })
    const known = await runs.ofSession('s').catch(() => undefined)
    await runs.close()
    return known
  })
}
