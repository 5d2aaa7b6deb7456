/**
 * Stops one engine at a time under a process in use, then has it fall silent, and shows what callers see:
 * `npm run -w test/rigs check:outages`, or with the names of those to stop. Needs `pip`, Debian's `postgresql` for its user, and `redis-server`; `opensearch` also needs a JDK 17,
 * Maven and `unzip`.
 */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCluster } from '../engines/opensearch-cluster.ts'
import { eventually, temporaryFolder } from '../../life/process.ts'
import { call, find, ingest, send } from './calls.ts'
import { redisServer, vectorPostgres } from './engines.ts'
import { startHole, type Hole } from './hole.ts'
import { apiKey, freePorts, member, type Member } from './processes.ts'

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Result of a call as its caller sees it: `ok`, or status, code and message. */
type Seen = string

const all = ['records', 'index', 'redis', 'blobs', 'opensearch'] as const
const wanted = new Set(process.argv.length > 2 ? process.argv.slice(2) : all)
const [port, secondPort, recordsPort, indexPort, redisPort] = await freePorts(5)
const folder = temporaryFolder()
const records = await vectorPostgres(recordsPort!)
const index = await vectorPostgres(indexPort!)
const redis = redisServer(redisPort!)
await redis.start()
const holes = {
  records: await startHole(recordsPort!),
  index: await startHole(indexPort!),
  redis: await startHole(redisPort!),
}
const through = ({ port: own }: Hole, url: string): string => {
  const address = new URL(url)
  address.port = String(own)
  return address.href
}
const blobsDown = join(folder.path, 'blobs-down')
const blobs = {
  kill: async () => writeFileSync(blobsDown, ''),
  start: async () => rmSync(blobsDown),
}
const engines = { dataFolder: folder.path, redis: through(holes.redis, redis.url), blobsDown }
const onLine = (line: string): void => void (process.env['INLAY_TEST_SHOW'] && say(line))
let base = ''
let count = 0

async function seenOf(response: Response): Promise<Seen> {
  const text = await response.text().catch(() => undefined)
  if (text === undefined) return `fails: ${response.status}, then a broken body`
  if (response.ok) return 'ok'
  const { error_code: code, detail } = JSON.parse(text) as { error_code: string; detail: unknown }
  const after = response.headers.get('retry-after')
  return `${response.status} ${code} "${String(detail)}"${after === null ? '' : `, Retry-After ${after}`}`
}

async function seenOfAnswer(message: string): Promise<Seen> {
  const stream = await send(base, { message }).catch((error: Error) => {
    if (error.cause instanceof Response) return error.cause
    throw error
  })
  if (stream instanceof Response) return seenOf(stream)
  await stream.ended
  const last = stream.lines.at(-1)?.json ?? 'nothing'
  if (last.includes('"type":"stop"')) return 'ok'
  const { error, error_code: code } = JSON.parse(last) as { error: string; error_code: string }
  return `ends with ${code} "${error}"`
}

const accepted = new Map<string, string>()
async function seenOfDocument(): Promise<Seen> {
  const number = ++count
  const id = `note-${number}`
  const text = `The heron${'abcdefghij'.repeat(3).slice(0, number % 29)}q${number} stands here.`
  const seen = await seenOf(await ingest(base, id, text))
  if (seen === 'ok') accepted.set(id, text)
  return seen
}

/** A file that is there before anything is stopped. */
let stored = ''

function upload(): Promise<Response> {
  const form = new FormData()
  form.append('files', new Blob([`Text number ${++count} of a file.`]), `file-${count}.txt`)
  const headers = { authorization: `Bearer ${apiKey}` }
  return fetch(`${base}/user/projects/file/upload`, { method: 'POST', body: form, headers })
}

const calls: Readonly<Record<string, () => Promise<Seen>>> = {
  'GET /health': async () => seenOf(await call(base, '/health')),
  'GET /health/ready': async () => seenOf(await call(base, '/health/ready')),
  ingestion: seenOfDocument,
  search: async () => seenOf(await call(base, '/search', { method: 'POST', body: '{"query":"heron"}' })),
  chat: () => seenOfAnswer('Say 5 words.'),
  'chat that searches': () => seenOfAnswer('Please look up heron and say 5 words.'),
  'list of sessions': async () => seenOf(await call(base, '/chat/get-user-chat-sessions')),
  upload: async () => seenOf(await upload()),
  download: async () => seenOf(await call(base, `/chat/file/${stored}`)),
}

/** Each call at once; none may hang. */
async function look(): Promise<Map<string, { seen: Seen; tookMs: number }>> {
  const look = async ([name, work]: [string, () => Promise<Seen>]) => {
    const began = performance.now()
    const late = new Promise<Seen>((resolve) => setTimeout(resolve, 60_000, 'no answer in 60 s').unref())
    const seen = await Promise.race([work().catch((error: Error) => `fails: ${error.message}`), late])
    return [name, { seen, tookMs: Math.round(performance.now() - began) }] as const
  }
  return new Map(await Promise.all(Object.entries(calls).map(look)))
}

interface Stoppable {
  kill(): Promise<void>
  start(): Promise<void>
}

/** @param how what has happened to it, for the report */
async function outage(name: string, engine: Stoppable, how = 'stopped'): Promise<void> {
  await engine.kill()
  say(`${name} ${how}:`)
  const during = await look()
  for (const [call, { seen, tookMs }] of during) say(`  ${call}: ${seen} (${tookMs} ms)`)
  await engine.start()
  const began = performance.now()
  await eventually(
    `all goes well again after ${name}`,
    async () => {
      const again = await look()
      const bad = [...again].filter(([, { seen }]) => seen !== 'ok')
      if (bad.length > 0 && process.env['INLAY_TEST_SHOW']) say(JSON.stringify(bad))
      return bad.length === 0 || undefined
    },
    180_000,
  )
  say(`  all well again ${Math.round(performance.now() - began)} ms after its start`)
  await eventually('what was accepted is found', async () => {
    for (const [id, text] of accepted) {
      const word = /heron\w+/.exec(text)![0]
      if (!(await find(base, word)).includes(id)) return undefined
    }
    return true
  })
  say(`  all ${accepted.size} accepted documents are found`)
  if (process.env['INLAY_TEST_SHOW']) return
  for (const [call, { seen }] of during) {
    assert.doesNotMatch(seen, /^500|no answer|^fails/, `${call} without ${name}`)
    if (seen.startsWith('503')) assert.match(seen, /Retry-After/, `${call} without ${name}`)
    assert.doesNotMatch(seen, /ECONN|127\.0\.0\.1|postgres|at .*\.ts/i, `${call} without ${name} tells internals`)
  }
}

/** Stops engines one after the other under a separate process. */
async function outages(
  served: Member,
  stopped: readonly (readonly [string, Stoppable])[],
  silent: readonly (readonly [string, Hole])[] = [],
): Promise<void> {
  base = served.base
  accepted.clear()
  await served.start()
  try {
    const { user_files: files } = (await (await upload()).json()) as { user_files: { file_id: string }[] }
    stored = files[0]!.file_id
    for (const [name, { seen }] of await look()) assert.equal(seen, 'ok', name)
    for (const [name, engine] of stopped) await outage(name, engine)
    for (const [name, { open, close }] of silent) await outage(name, { kill: open, start: close }, 'silent')
    // Pools close what they do not use for ten seconds: then each call has to connect first.
    for (const [name, { open, close }] of silent) {
      await new Promise((resolve) => setTimeout(resolve, 12_000))
      await outage(name, { kill: open, start: close }, 'silent after a rest')
    }
  } finally {
    await served.kill()
  }
}

/** All three nodes at once, by SIGKILL. */
async function clusterOutage(): Promise<void> {
  const cluster = await startCluster()
  const numbers = [1, 2, 3]
  const whole: Stoppable = {
    kill: async () => void (await Promise.all(numbers.map(cluster.killNode))),
    start: async () => void (await Promise.all(numbers.map(cluster.startNode))),
  }
  const task = { ...engines, port: secondPort!, dataFolder: join(folder.path, 'second'), opensearch: cluster.nodes }
  await outages(member({ ...task, hasVectors: true }, onLine), [['opensearch', whole]]).finally(cluster.stop)
}

try {
  const stopped = Object.entries({ records, index, redis, blobs }).filter(([name]) => wanted.has(name))
  const task = {
    ...engines,
    port: port!,
    postgres: through(holes.records, records.url),
    pgvector: through(holes.index, index.url),
  }
  const silent = Object.entries(holes).filter(([name]) => wanted.has(name))
  if (stopped.length > 0) await outages(member(task, onLine), stopped, silent)
  if (wanted.has('opensearch')) await clusterOutage()
} finally {
  for (const server of [...Object.values(holes), records, index, redis]) await server.remove()
  folder.remove()
}
process.exit()
