/**
 * Three processes over one Postgres behind a real nginx and a real HAProxy: `npm run -w test/rigs check:balancers`. Needs both
 * programs, e.g. `apt-get install nginx haproxy`. `-- haproxy --rebuild [--documents 1000000] [--seconds 60]` instead makes
 * calls of each kind while the index of so many documents (default 50,000) is rebuilt.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { startPostgres } from '../../knowledge/postgres-server.ts'
import { eventually, temporaryFolder } from '../../life/process.ts'
import { startBalancer, type BalancerName } from './balancer.ts'
import { call, find, ingest, lastMessage, percentile, resume, send, sessionOf, textOf, words } from './calls.ts'
import { freePorts, member, type Member } from './processes.ts'
import { amidRebuild, recordsWithoutIndex } from './rebuild.ts'

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const after = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs))

/** Streams come as they are made, also when all lines of an answer would fit into the buffer of a proxy. */
async function streams(base: string): Promise<void> {
  const began = performance.now()
  const stream = await send(base, { message: 'Say 60 words.' })
  assert.ok(await stream.ended)
  assert.equal(textOf(stream.lines), words(60))
  const took = performance.now() - began
  const times = new Set(stream.lines.map(({ at }) => Math.round(at))).size
  const first = stream.lines.find(({ json }) => json.includes('word0'))!.at - began
  assert.ok(times > 30 && first < took / 2, `${times} arrivals, the first word after ${first} of ${took} ms`)
  say(`  an answer of 60 words came in ${times} pieces, the first after ${Math.round(first)} of ${Math.round(took)} ms`)
}

/** Every call may reach another process. */
async function resumeAndStop(base: string): Promise<void> {
  const sent = await send(base, { message: 'Say 3000 words.' })
  const session = await sessionOf(sent)
  const resumed = await resume(base, session)
  await eventually('some words', async () => (resumed.lines.length > 20 ? true : undefined))
  const began = performance.now()
  const stopped = await call(base, `/chat/stop-chat-session/${session}`, { method: 'POST' })
  assert.equal(stopped.status, 200)
  const took = performance.now() - began
  assert.ok((await sent.ended) && (await resumed.ended))
  assert.deepEqual(
    resumed.lines.map(({ json }) => json),
    sent.lines.map(({ json }) => json),
  )
  const processes = new Set([sent.process, resumed.process, stopped.headers.get('x-process')])
  assert.equal(processes.size, 3, 'all calls should reach different processes')
  say(`  sent on one process, resumed on a second, stopped from a third in ${Math.round(took)} ms`)
}

/** The text so far is kept, and the client learns of the end from another process. */
async function killInMidAnswer(base: string, members: readonly Member[]): Promise<void> {
  const sent = await send(base, { message: 'Say 3000 words.' })
  const session = await sessionOf(sent)
  await eventually('some words', async () => (sent.lines.length > 50 ? true : undefined))
  const killed = members.find(({ port }) => String(port) === sent.process)!
  const began = performance.now()
  await killed.kill()
  await sent.ended
  const resumed = await resume(base, session, sent.lines.at(-1)!.id)
  assert.ok(await resumed.ended)
  const took = performance.now() - began
  assert.match(resumed.lines.at(-1)!.json, /SERVICE_UNAVAILABLE/)
  const { message, error } = await lastMessage(base, session)
  const said = textOf([...sent.lines, ...resumed.lines])
  const missing = words(3000).startsWith(message) ? said.slice(message.length).split(' ').length - 1 : Infinity
  assert.ok(missing <= 20, `the last ${missing} words were lost`)
  assert.ok(error !== null && took < 10_000, `ended after ${took} ms`)
  say(`  killed in mid-answer: ended as terminated after ${Math.round(took)} ms, without the last ${missing} words`)
  await killed.start()
}

interface Load {
  readonly counts: Record<'answers' | 'documents' | 'searches', number>
  readonly failures: string[]
  /** Milliseconds of each answer. */
  readonly times: number[]
  stop(): Promise<void>
}

function load(base: string): Load {
  let isOver = false
  const result = { counts: { answers: 0, documents: 0, searches: 0 }, failures: [] as string[], times: [] as number[] }
  const repeat = async (what: keyof Load['counts'], work: (round: number) => Promise<void>): Promise<void> => {
    for (let round = 0; !isOver; round++) {
      try {
        await work(round)
        result.counts[what]++
      } catch (error) {
        const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
        result.failures.push(`${what}: ${error instanceof Error ? error.message : String(error)}${cause}`)
      }
    }
  }
  const chat = async (): Promise<void> => {
    const began = performance.now()
    const stream = await send(base, { message: 'Say 40 words.' })
    assert.ok(await stream.ended, `the stream was cut after ${stream.lines.length} lines by ${stream.process}`)
    assert.equal(textOf(stream.lines), words(40))
    result.times.push(performance.now() - began)
  }
  const several = (count: number, work: (lane: number) => Promise<void>) =>
    Array.from({ length: count }, (_, n) => work(n))
  const lanes = [
    ...several(6, () => repeat('answers', chat)),
    ...several(3, (lane) =>
      repeat('documents', async (round) => {
        const response = await ingest(base, `load-${lane}-${round}`, `The heron number ${round} of pond ${lane}.`)
        assert.equal(response.status, 200, await response.text())
      }),
    ),
    ...several(2, () => repeat('searches', async () => void (await find(base, 'heron')))),
  ]
  return {
    ...result,
    stop: async () => {
      isOver = true
      await Promise.all(lanes)
    },
  }
}

/** Each process is stopped and started again while requests of every kind come; none fails. */
async function rollingRestart(base: string, members: readonly Member[], noticesUp: () => Promise<void>): Promise<void> {
  const work = load(base)
  await after(3_000)
  const began = performance.now()
  for (const each of members) {
    await each.stop()
    await each.start()
    await noticesUp()
  }
  const took = performance.now() - began
  await after(2_000)
  await work.stop()
  const { answers, documents, searches } = work.counts
  say(
    `  rolling restart in ${Math.round(took / 1000)} s: ${answers} answers (p95 ${percentile(work.times, 0.95)} ms), ` +
      `${documents} documents, ${searches} searches, ${work.failures.length} failed`,
  )
  assert.deepEqual(work.failures, [])
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rebuild: { type: 'boolean', default: false },
    documents: { type: 'string', default: '50000' },
    seconds: { type: 'string', default: '60' },
  },
})
const postgres = await startPostgres()
const folder = temporaryFolder()

/** Starts three processes behind a balancer for some checks. */
async function behind(
  name: BalancerName,
  engines: { readonly postgres: string; readonly pgvector: string },
  check: (base: string, members: readonly Member[]) => Promise<void>,
): Promise<void> {
  const [port, ...ports] = await freePorts(4)
  const task = { dataFolder: folder.path, ...engines, telemetry: true, noticeMs: 4_000, drainMs: 20_000 }
  const members = ports.map((each) => member({ ...task, port: each }, say))
  await Promise.all(members.map((each) => each.start()))
  const balancer = await startBalancer(name, { port: port!, ports, folder: folder.path })
  say(`${name}:`)
  try {
    await after(2_000)
    await check(balancer.base, members)
  } finally {
    await Promise.all(members.map((each) => each.kill()))
    await balancer.stop()
  }
}

try {
  for (const name of (positionals.length > 0 ? positionals : ['nginx', 'haproxy']) as BalancerName[]) {
    if (options.rebuild) {
      const [documents, seconds] = [Number(options.documents), Number(options.seconds)]
      const began = performance.now()
      const { records, index } = await recordsWithoutIndex(postgres, documents, folder.path)
      say(`filled with ${documents} documents in ${Math.round((performance.now() - began) / 1000)} s`)
      await behind(name, { postgres: records, pgvector: index }, (base, members) =>
        amidRebuild(base, members, { documents, records, seconds }, say),
      )
      continue
    }
    const database = await postgres.takeDatabase()
    await behind(name, { postgres: database, pgvector: database }, async (base, members) => {
      await streams(base)
      await resumeAndStop(base)
      await killInMidAnswer(base, members)
      // nginx leaves a process out for ten seconds after it did not answer.
      await after(11_000)
      await rollingRestart(base, members, () => after(3_000))
    })
  }
} finally {
  await postgres.stop()
  folder.remove()
}
process.exit()
