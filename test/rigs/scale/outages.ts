/**
 * Puts each engine and service under `inlay serve` through its faults, one at a time, and prints what callers see in a
 * table beside the bounds of the docs: `npm run -w test/rigs check:outages`, or with names of rows (`redis`,
 * `files:full`). Linux, as root for full disks. Needs `pip`, Debian's `postgresql` for its user, `redis-server` and Go;
 * `opensearch` also a JDK 17, Maven and `unzip`. The rights in PostgreSQL, Redis and the bucket are those of
 * docs/10.security.md.
 */
import { sampleWaitMs } from '@inlay/knowledge/internal/figures/figures-sample'
import { probeWaitMs } from '@inlay/knowledge/internal/figures/readiness'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../../life/process.ts'
import { call, find, ingest, send } from './calls.ts'
import type { Call, Engine, Fault } from './engine-faults.ts'
import { sets, type Served } from './faulty-engines.ts'
import { apiKey } from './processes.ts'

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const isShown = process.env['INLAY_TEST_SHOW'] !== undefined
const mostMs = 90_000

let served: Served
let count = 0
/** Ids of documents that were accepted, with a word that only they have. */
const accepted = new Map<string, string>()
/** A file that is there before anything happens. */
let stored = ''

/** What a caller sees: a status, or how the stream of an answer ends. */
interface Seen {
  readonly text: string
  readonly ms: number
}

async function textOf(response: Response): Promise<string> {
  const body = await response.text().catch(() => undefined)
  if (body === undefined) return `${response.status}, cut`
  if (response.ok) return 'ok'
  if (isShown) say(`  ${response.url} ${response.status} ${body}`)
  const leaks = /ECONN|127\.0\.0\.1|postgres|at .*\.ts/i.test(body) ? ' leaks' : ''
  const isLasting = response.status === 503 && response.headers.get('retry-after') === null
  return `${response.status}${leaks}${isLasting ? ' without Retry-After' : ''}`
}

async function answer(message: string): Promise<string> {
  const stream = await send(served.base, { message }).catch((error: Error) => {
    if (error.cause instanceof Response) return error.cause
    throw error
  })
  if (stream instanceof Response) return textOf(stream)
  await stream.ended
  const last = stream.lines.at(-1)?.json ?? '{}'
  if (isShown && !last.includes('"type":"stop"')) say(`  ${last}`)
  return last.includes('"type":"stop"') ? 'ok' : String((JSON.parse(last) as { error_code?: string }).error_code)
}

async function handIn(): Promise<string> {
  const [id, word] = [`note-${++count}`, `heron${'abcdefghij'.repeat(3).slice(0, count % 29)}q${count}`]
  const seen = await textOf(await ingest(served.base, id, `The ${word} stands here.`))
  if (seen === 'ok') accepted.set(id, word)
  return seen
}

function upload(): Promise<Response> {
  const form = new FormData()
  form.append('files', new Blob([`Text number ${++count} of a file.`]), `file-${count}.txt`)
  const headers = { authorization: `Bearer ${apiKey}` }
  return fetch(`${served.base}/user/projects/file/upload`, { method: 'POST', body: form, headers })
}

const get = async (path: string, init?: RequestInit): Promise<string> => textOf(await call(served.base, path, init))
const signIn = (): Promise<string> => get('/me', { headers: { authorization: `Bearer ${served.key}` } })

const calls: Readonly<Record<Call, (toolMessage: string) => Promise<string>>> = {
  health: () => get('/health'),
  ready: () => get('/health/ready'),
  metrics: () => get('/metrics'),
  'sign-in': signIn,
  search: () => get('/search', { method: 'POST', body: '{"query":"heron"}' }),
  chat: () => answer('Say something.'),
  'chat, tool': (message) => answer(message),
  ingest: handIn,
  list: () => get('/service-api/ingestion?limit=20'),
  upload: async () => textOf(await upload()),
  download: () => get(`/chat/file/${stored}`),
}
const callNames = Object.keys(calls) as Call[]

type Look = Readonly<Record<Call, Seen>>

/** Each call once, all at the same time; with the longest time that this process itself was kept from running. */
async function look(toolMessage = 'Please look up heron.'): Promise<{ readonly seen: Look; readonly lagMs: number }> {
  let [lagMs, ticked] = [0, performance.now()]
  const timer = setInterval(() => {
    const now = performance.now()
    lagMs = Math.max(lagMs, now - ticked - 20)
    ticked = now
  }, 20)
  const timed = async (name: Call): Promise<[Call, Seen]> => {
    const began = performance.now()
    const late = delay(mostMs, 'no answer', { ref: false })
    const text = await Promise.race([calls[name](toolMessage).catch((error: Error) => `fails: ${error.message}`), late])
    return [name, { text, ms: performance.now() - began }]
  }
  const seen = Object.fromEntries(await Promise.all(callNames.map(timed))) as Look
  clearInterval(timer)
  return { seen, lagMs }
}

const isWell = (seen: Look): boolean => callNames.every((name) => seen[name].text === 'ok')

/** Times of calls while all is well: `as ever` means three of them and a second. */
let quiet: Look
const asEver = (name: Call): number => 3 * quiet[name].ms + 1_000

/** The longest that the docs let a call take during a fault; undefined where they name none. */
function boundOf(name: Call, engine: Engine, fault: Fault | 'still frozen'): number | undefined {
  // A probe, and what the machine adds to the quickest call.
  if (name === 'ready') return probeWaitMs + quiet.health.ms
  if (name === 'metrics') return sampleWaitMs + asEver('metrics')
  if (name === 'health') return asEver(name)
  const held = engine.heldMs?.[name]
  if (fault === 'slow') return undefined
  return asEver(name) + (/frozen/.test(fault) ? (held ?? 0) : (engine.atOnceMs?.[name] ?? 0))
}

const seconds = (ms: number): string =>
  ms < 950 ? (ms / 1000).toFixed(1).slice(1) : (ms / 1000).toFixed(ms < 9_950 ? 1 : 0)

interface Row {
  readonly line: string
  readonly isGood: boolean
}

function rowOf(
  engine: Engine,
  fault: Fault | 'still frozen',
  { seen, lagMs }: Awaited<ReturnType<typeof look>>,
  well: string,
): Row {
  let isGood = true
  const cells = callNames.map((name) => {
    const { text, ms } = seen[name]
    const bound = boundOf(name, engine, fault)
    const isLate = bound !== undefined && ms > bound
    // Within what this machine was kept from running it says nothing about the bound.
    const isBusy = isLate && ms <= bound + lagMs
    const mayFail = engine.fails.includes(name) || (fault === 'full' && engine.failsFull?.includes(name))
    const isWrong = text !== 'ok' && (!mayFail || /^500|no answer|^fails|leaks|without|cut/.test(text))
    isGood &&= !isWrong && (!isLate || isBusy)
    return `${text} ${seconds(ms)}${bound === undefined ? '' : `/${seconds(bound)}`}${isLate && !isBusy ? ' LATE' : isBusy ? ' ~' : ''}${isWrong ? ' WRONG' : ''}`
  })
  return { line: `| ${engine.name} | ${fault} | ${cells.join(' | ')} | ${seconds(lagMs)} | ${well} |`, isGood }
}

/** Brings a fault about, looks, undoes it, and waits until all goes well. */
async function row(engine: Engine, fault: Fault): Promise<readonly Row[]> {
  // Pools close what they have not used for ten seconds: then each call has to connect first.
  if (fault === 'frozen after a rest') await delay(12_000)
  await engine.faults[fault]!()
  const looks = [await look(engine.toolMessage)]
  if (fault === 'frozen') looks.push(await look(engine.toolMessage))
  await engine.heal(fault)
  const began = performance.now()
  await eventually(
    `all goes well again after ${engine.name} ${fault}`,
    async () => isWell((await look()).seen) || undefined,
    240_000,
  )
  const well = seconds(performance.now() - began)
  await eventually('what was accepted is found', async () => {
    for (const [id, word] of accepted) {
      if (!(await find(served.base, word)).includes(id)) return undefined
      accepted.delete(id)
    }
    return true
  })
  return looks.map((each, at) =>
    rowOf(engine, at === 0 ? fault : 'still frozen', each, at < looks.length - 1 ? '' : well),
  )
}

const wanted = process.argv.slice(2)
const isWanted = (name: string, fault?: string): boolean =>
  wanted.length === 0 ||
  wanted.some((word) => (fault === undefined ? word.split(':')[0] : word) === name || word === `${name}:${fault}`)

const head = ['engine', 'fault', ...callNames, 'machine', 'well again']
say(`| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`)
let isGood = true
for (const [names, open] of sets) {
  if (!names.some((name) => isWanted(name))) continue
  const installation = await open()
  ;({ served } = installation)
  try {
    const { user_files: files } = (await (await upload()).json()) as { user_files: { file_id: string }[] }
    stored = files[0]!.file_id
    await eventually('all goes well', async () => isWell((await look()).seen) || undefined)
    quiet = (await look()).seen
    say(`| ${names.join(', ')} | none | ${callNames.map((name) => seconds(quiet[name].ms)).join(' | ')} | | |`)
    for (const engine of installation.engines.filter(({ name }) => isWanted(name)))
      for (const fault of Object.keys(engine.faults) as Fault[]) {
        if (!isWanted(engine.name, fault)) continue
        let rows = await row(engine, fault)
        for (const { line } of rows) say(line)
        // What this machine does beside may have been in the way.
        if (!rows.every((each) => each.isGood)) {
          rows = await row(engine, fault)
          for (const { line } of rows) say(line.replace(' |', ', again |'))
        }
        isGood &&= rows.every((each) => each.isGood)
      }
    await installation.end?.(say)
  } finally {
    await installation.remove()
  }
}
process.exit(isGood ? 0 : 1)
