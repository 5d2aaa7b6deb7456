/**
 * Three processes over one Postgres, the clocks of two of which are five minutes ahead and behind: `npm run -w test/rigs check:clocks`.
 * Needs `pip` and Debian's `postgresql` for its user; with `redis` as a word also `redis-server`.
 */
import assert from 'node:assert/strict'
import { eventually, temporaryFolder } from '../../life/process.ts'
import { call, find, ingest, lastMessage, resume, send, sessionOf, textOf, words, type AnswerStream } from './calls.ts'
import { redisServer, vectorPostgres } from './engines.ts'
import { freePorts, member, type Member } from './processes.ts'

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Answers longer than any lease end whole, read on the process that makes them and on the next one. */
async function longAnswers(members: readonly Member[]): Promise<void> {
  const sent = await Promise.all(members.map(({ base }) => send(base, { message: 'Say 600 words.' })))
  await Promise.all(
    sent.map(async (stream, at) => {
      const other = await resume(members[(at + 1) % members.length]!.base, await sessionOf(stream))
      assert.ok((await stream.ended) && (await other.ended), `the answer of process ${at} was cut`)
      for (const { lines } of [stream, other]) assert.equal(textOf(lines), words(600), `the answer of process ${at}`)
    }),
  )
  say('  answers of 12 s ended whole on each process, and where they were resumed')
}

async function stops(members: readonly Member[]): Promise<void> {
  for (const [at, { base }] of members.entries()) {
    const sent = await send(base, { message: 'Say 3000 words.' })
    const session = await sessionOf(sent)
    const began = performance.now()
    await call(members[(at + 1) % members.length]!.base, `/chat/stop-chat-session/${session}`, { method: 'POST' })
    assert.ok(await sent.ended)
    say(`  an answer of process ${at} was stopped from another one in ${Math.round(performance.now() - began)} ms`)
  }
}

/** Each document is indexed once, whichever process takes it in or indexes it. */
async function documents(members: readonly Member[]): Promise<void> {
  const began = performance.now()
  const ids = Array.from({ length: 60 }, (_, at) => `d${at}`)
  for (const [at, id] of ids.entries())
    assert.equal((await ingest(members[at % 3]!.base, id, `The heron of pond number ${at}.`)).status, 200)
  for (const { base } of members)
    await eventually('all documents are indexed', async () => {
      const states = (await (await call(base, '/service-api/ingestion?limit=100')).json()) as { state: string }[]
      return states.filter(({ state }) => state === 'indexed').length === ids.length || undefined
    })
  assert.equal(new Set(await find(members[0]!.base, 'heron')).size, (await find(members[0]!.base, 'heron')).length)
  say(`  60 documents were searchable after ${Math.round(performance.now() - began)} ms`)
}

/** If one process dies, the others end its answer. */
async function kills(members: readonly Member[]): Promise<void> {
  for (const [at, killed] of members.entries()) {
    const sent: AnswerStream = await send(killed.base, { message: 'Say 3000 words.' })
    const session = await sessionOf(sent)
    await eventually('some words', async () => (sent.lines.length > 20 ? true : undefined))
    const began = performance.now()
    await killed.kill()
    const { base } = members[(at + 1) % members.length]!
    const resumed = await resume(base, session, sent.lines.at(-1)!.id)
    assert.ok(await resumed.ended)
    assert.notEqual((await lastMessage(base, session)).error, null)
    const took = performance.now() - began
    assert.ok(took < 10_000, `ended after ${took} ms`)
    say(`  the answer of process ${at}, which was killed, was ended after ${Math.round(took)} ms`)
    await killed.start()
  }
}

const [port, redisPort, ...ports] = await freePorts(5)
const postgres = await vectorPostgres(port!)
const redis = redisServer(redisPort!)
const folder = temporaryFolder()
const isShared = process.argv[2] === 'redis'
if (isShared) await redis.start()
const engines = { dataFolder: folder.path, postgres: postgres.url, pgvector: postgres.url }
const members = [0, 300_000, -300_000].map((clockMs, at) =>
  member({ ...engines, clockMs, port: ports[at]!, ...(isShared && { redis: redis.url }) }, say),
)
try {
  await Promise.all(members.map((each) => each.start()))
  for (const scene of [longAnswers, stops, documents, kills]) await scene(members)
} finally {
  await Promise.all(members.map((each) => each.kill()))
  await redis.remove()
  await postgres.remove()
  folder.remove()
}
process.exit()
