/**
 * Three processes over PostgreSQL with pgvector, Redis and a bucket, their clocks some milliseconds apart: limits,
 * uploads, kills and readers: `npm run -w test/rigs check:set`. Needs `pip`, `python3` with `venv`, Debian's
 * `postgresql` for its user, and `redis-server`.
 */
import assert from 'node:assert/strict'
import { eventually, temporaryFolder } from '../../life/process.ts'
import { startS3 } from '../engines/s3-server.ts'
import { apiKey, freePorts, member, type Member } from './processes.ts'
import { call, find, ingest, lastMessage, percentile, resume, send, sessionOf } from './calls.ts'
import { redisServer, vectorPostgres } from './engines.ts'

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

async function keyOf(base: string, scopes: readonly string[]): Promise<string> {
  const body = JSON.stringify({ name: 'check', scopes })
  const created = await call(base, '/admin/api-key', { method: 'POST', body })
  assert.equal(created.status, 200, await created.clone().text())
  return ((await created.json()) as { api_key: string }).api_key
}

/** Six people upload at once, each to one process after the other; every file is readable at once and from all of them. */
async function uploads(members: readonly Member[]): Promise<void> {
  const ms: number[] = []
  const failed: string[] = []
  const ids: { id: string; words: string }[] = []
  const person = async (number: number): Promise<void> => {
    for (const at of range(120)) {
      const form = new FormData()
      const words = `Note ${at} of person ${number}: the kettle is blue. `.repeat(1 + (at % 40) * 20)
      form.set('files', new Blob([words], { type: 'text/plain' }), `note-${number}-${at}.txt`)
      const began = performance.now()
      const { base } = members[(number + at) % members.length]!
      const headers = { authorization: `Bearer ${apiKey}` }
      const sent = await fetch(`${base}/user/projects/file/upload`, { method: 'POST', body: form, headers })
      ms.push(performance.now() - began)
      const body = (await sent.json()) as { user_files?: { id: string }[] }
      const id = body.user_files?.[0]?.id
      if (sent.status === 200 && id !== undefined) ids.push({ id, words })
      else failed.push(`${sent.status} ${JSON.stringify(body)}`)
    }
  }
  await Promise.all(range(6).map(person))
  assert.deepEqual(failed, [])
  for (const [at, { id, words }] of ids.entries())
    if (at % 7 === 0)
      for (const { base } of members) {
        const read = await call(base, `/chat/file/${id}`)
        assert.equal(await read.text(), words, `file ${id}: ${read.status}`)
      }
  say(`  ${ids.length} uploads of six people, none failed: p50 ${percentile(ms, 0.5)} ms, max ${percentile(ms, 1)} ms`)
}

/** Of 90 requests at once on three processes as many pass as one would let through. */
async function limits(members: readonly Member[]): Promise<void> {
  const key = await keyOf(members[0]!.base, ['chat'])
  const headers = { authorization: `Bearer ${key}` }
  // Not at the turn of a minute, when a new allowance begins.
  await eventually('a minute that lasts', async () => (new Date().getSeconds() < 45 ? true : undefined))
  const statuses = await Promise.all(
    range(3 * limit).map(async (at) => (await fetch(`${members[at % 3]!.base}/me`, { headers })).status),
  )
  assert.equal(statuses.filter((status) => status === 200).length, limit)
  assert.equal(statuses.filter((status) => status === 429).length, 2 * limit)
  say(`  ${limit} of ${3 * limit} requests at once passed on three processes`)
}

/** Long lists of one person do not hold up another's. */
async function readers(members: readonly Member[]): Promise<void> {
  const base = members[0]!.base
  const ownMs = async (): Promise<number> => {
    const began = performance.now()
    assert.equal((await call(base, '/chat/get-user-chat-sessions')).status, 200)
    return performance.now() - began
  }
  const quiet: number[] = []
  for (const _ of range(40)) quiet.push(await ownMs())
  const flooder = await keyOf(base, ['chat', 'search'])
  let isOver = false
  const headers = { authorization: `Bearer ${flooder}`, 'content-type': 'application/json' }
  const flood = range(40).map(async () => {
    while (!isOver)
      await (await fetch(`${base}/search`, { method: 'POST', headers, body: '{"query":"heron kettle pond"}' })).text()
  })
  const busy: number[] = []
  for (const _ of range(40)) busy.push(await ownMs())
  isOver = true
  await Promise.all(flood)
  say(`  a list takes p50 ${percentile(quiet, 0.5)} ms, beside 40 searches of another ${percentile(busy, 0.5)} ms`)
}

/** What a killed process was answering is ended by another, what it took in is indexed, and a key sent again is known. */
async function kills(members: readonly Member[]): Promise<void> {
  for (const [at, killed] of members.entries()) {
    const other = members[(at + 1) % members.length]!.base
    const body = { message: 'Say 3000 words.' }
    const sent = await send(killed.base, body, `key-${at}`)
    const session = await sessionOf(sent)
    for (const number of range(20)) await ingest(killed.base, `pond-${at}-${number}`, `The heron of pond ${number}.`)
    await eventually('some words', async () => (sent.lines.length > 20 ? true : undefined))
    const began = performance.now()
    await killed.kill()
    const resumed = await resume(other, session, sent.lines.at(-1)!.id)
    assert.ok(await resumed.ended)
    const took = Math.round(performance.now() - began)
    assert.notEqual((await lastMessage(other, session)).error, null)
    const again = await send(other, body, `key-${at}`)
    assert.ok(await again.ended)
    assert.equal(await sessionOf(again), session, 'the same key is the same message')
    await eventually('what was accepted is found', async () => {
      const herons = await find(other, 'heron')
      const list = await call(other, '/service-api/ingestion?limit=1000')
      const states = (await list.json()) as { document_id: string; state: string }[]
      const own = states.filter(({ document_id: id }) => id.startsWith(`pond-${at}-`))
      return (herons.length > 0 && own.length === 20 && own.every(({ state }) => state === 'indexed')) || undefined
    })
    say(`  process ${at} was killed: its answer was ended after ${took} ms, all it had accepted was found`)
    await killed.start()
  }
}

const limit = 30
const [port, redisPort, ...ports] = await freePorts(5)
const postgres = await vectorPostgres(port!)
const redis = redisServer(redisPort!)
await redis.start()
const s3 = await startS3()
const folders = ports.map(() => temporaryFolder())
const access = { ...s3.credentials, endpoint: s3.endpoint }
const bucket = { address: `s3://${s3.bucket}/files`, access }
const engines = { postgres: postgres.url, pgvector: postgres.url, redis: redis.url, bucket, hasVectors: true }
const started = (requestsPerMinute?: number): Member[] =>
  [0, 5, -5].map((clockMs, at) =>
    member(
      {
        ...engines,
        clockMs,
        port: ports[at]!,
        dataFolder: folders[at]!.path,
        ...(requestsPerMinute && { requestsPerMinute }),
      },
      say,
    ),
  )
let members = started()
try {
  await Promise.all(members.map((each) => each.start()))
  for (const scene of [uploads, readers, kills]) await scene(members)
  await Promise.all(members.map((each) => each.stop()))
  members = started(limit)
  await Promise.all(members.map((each) => each.start()))
  await limits(members)
} finally {
  await Promise.all(members.map((each) => each.kill()))
  await s3.stop()
  await redis.remove()
  await postgres.remove()
  for (const folder of folders) folder.remove()
}
process.exit()
