/**
 * Floods an assistant with the key of one caller, and measures what another caller notices: searches, freshness and
 * `/health`, each beside its quiet value, the longest block of the event loop, and the memory half a minute later.
 *
 *   npm run -w test/rigs bench:flood [-- --documents 2000] [--seconds 10] [--quick]
 *   npm run -w test/rigs bench:reads [-- --documents 2000] [--seconds 3] [--quick]
 *
 * Everything runs over HTTP; the assistant and the flood are processes of their own. It takes about 45 seconds and
 * twice the given time, and says what it does meanwhile. With `--reads`, as `bench:reads` runs it, the flood is 20
 * parallel reads of one list at a time, for the given time each.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { note } from '../bench/figures.ts'
import { inParallel } from '../bench/ingestion/fixture.ts'
import { percentile } from '../bench/timing.ts'
import { startFixture, type Fixture } from './walk/fixture.ts'
import { zipfText } from '../bench/zipf-text.ts'

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string' },
    seconds: { type: 'string' },
    reads: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
const documentCount = Number(options.documents ?? (options.quick ? 50 : 2000))
const phaseMs = Number(options.seconds ?? (options.reads ? (options.quick ? 1 : 3) : options.quick ? 2 : 10)) * 1000
const restMs = options.quick ? 1_000 : 30_000
/** Calls without an answer by then count with this time. */
const longestCallMs = 60_000
const { text, word } = zipfText(7, 20_000)
const queries = Array.from({ length: 200 }, () => `${word(5)} ${word(5)}`)

/** Delays that a caller notices, in milliseconds, sorted. */
interface Notice {
  readonly search: readonly number[]
  readonly health: readonly number[]
  readonly fresh: readonly number[]
  readonly failed: ReadonlyMap<string, number>
  /** Longest block of the event loop of the assistant. */
  readonly blockMs: number
}

/** Calls that read lists, each as long as it may be. */
const lists = [
  'GET /service-api/ingestion?limit=1000',
  'GET /chat/get-user-chat-sessions?page_size=100',
  'GET /query/valid-tags?limit=1000',
  'GET /admin/audit?limit=1000',
  'GET /manage/indexing-status',
  'POST /manage/admin/connector/indexing-status',
] as const
const readers = 20

const fixture = await startFixture()
try {
  say(`${documentCount} documents`)
  await fill(fixture)
  if (options.reads) await floodWithReads(fixture)
  else await floodWithWrites(fixture)
} finally {
  await fixture.close()
}

async function floodWithWrites(fixture: Fixture): Promise<void> {
  say('quiet')
  const quiet = await notice(fixture, 'quiet')
  const quietBytes = await fixture.residentBytes()
  say('flooded')
  const flood = await startFlood(fixture)
  const flooded = await notice(fixture, 'flooded')
  const peakBytes = await fixture.residentBytes()
  say('the flood ends')
  const statuses = await flood.end()
  const figures = await fixture.figures()
  say(`${figures.queue_depth} documents wait; ${restMs / 1000} s of rest`)
  await delay(restMs)
  const leftBytes = await fixture.residentBytes()
  note('flood, memory afterwards over before', leftBytes / quietBytes)
  print(quiet, flooded, statuses)
  const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`
  const ratio = (leftBytes / quietBytes).toFixed(2)
  console.log(
    `memory: quiet ${megabytes(quietBytes)}, flooded ${megabytes(peakBytes)}, ${restMs / 1000} s later ${megabytes(leftBytes)}: × ${ratio} (at most 1.5)`,
  )
}

function say(what: string): void {
  console.error(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${what}`)
}

async function fill({ call, whenIdle }: Fixture): Promise<void> {
  const ids = Array.from({ length: documentCount }, (_, index) => index)
  const words = options.reads ? 40 : 200
  await inParallel(8, ids, (id) =>
    call('POST', '/service-api/ingestion', toDocument(`filled-${id}`, text(words), { number: String(id) })),
  )
  await whenIdle()
}

function toDocument(id: string, content: string, metadata: Readonly<Record<string, string>> = {}): object {
  return { document: { id, semantic_identifier: id, metadata, sections: [{ text: content }] } }
}

/** Measures searches of another caller beside a flood of each list. */
async function floodWithReads({ call, base, newKey }: Fixture): Promise<void> {
  const key = await newKey(['chat', 'ingest', 'admin'])
  const headers = { authorization: `Bearer ${key}` }
  const numbers = Array.from({ length: Math.ceil(documentCount / 4) }, (_, index) => index)
  await inParallel(8, numbers, (id) => call('POST', '/manage/admin/cc-pair', { name: `Pair ${id}` }, { headers }))
  await inParallel(8, numbers, () => call('POST', '/chat/create-chat-session', {}, { headers }))
  const search = async (): Promise<number[]> => {
    const end = performance.now() + phaseMs
    const times: number[] = []
    for (let count = 0; performance.now() < end; count++) {
      const start = performance.now()
      await call('POST', '/search', { query: queries[count % queries.length] })
      times.push(performance.now() - start)
      await delay(20)
    }
    return times.toSorted((left, right) => left - right)
  }
  await search()
  const cell = (value: number): string => value.toFixed(1).padStart(7)
  console.log(
    `${'search of another caller, ms'.padEnd(36)}  quiet p50     p95   flooded p50     p95   × p95 (at most 3)  reads`,
  )
  for (const list of lists) {
    say(list)
    // Beside each other: what else the machine does would count as the flood's doing.
    const quiet = await search()
    const flood = fork(join(import.meta.dirname, 'flood/reader.ts'), [base, key, list, String(readers)])
    await once(flood, 'message')
    const flooded = await search()
    flood.send('end')
    const [{ statuses }] = (await once(flood, 'message')) as [{ statuses: Statuses }]
    flood.disconnect()
    const ratio = percentile(flooded, 0.95) / percentile(quiet, 0.95)
    note(`flood of ${list}, search, p95 over quiet`, ratio)
    const [quietTimes, floodedTimes] = [quiet, flooded].map((times) =>
      [0.5, 0.95].map((share) => cell(percentile(times, share))).join(' '),
    )
    const reads = statuses.map(([status, count]) => `${status} × ${count}`).join(', ')
    const name = list.replace(/\?.*/, '').slice(-36).padEnd(36)
    console.log(`${name}    ${quietTimes}       ${floodedTimes} ${ratio.toFixed(2).padStart(7)}             ${reads}`)
  }
}

/**
 * Searches, asks for health and adds documents, one of each after the other, until the phase is over. Each phase adds
 * documents of its own: searches beside updates cost more, and the flood is what they are to be compared by.
 */
async function notice({ call, base, longestBlockMs }: Fixture, phase: string): Promise<Notice> {
  await longestBlockMs()
  const end = performance.now() + phaseMs
  const failed = new Map<string, number>()
  const again = async (work: (count: number, signal: AbortSignal) => Promise<unknown>): Promise<number[]> => {
    const times: number[] = []
    for (let count = 0; performance.now() < end; count++) {
      const start = performance.now()
      await work(count, AbortSignal.timeout(longestCallMs)).catch((error: Error) =>
        failed.set(error.message, (failed.get(error.message) ?? 0) + 1),
      )
      times.push(performance.now() - start)
      await delay(20)
    }
    return times.toSorted((left, right) => left - right)
  }
  const [search, health, fresh] = await Promise.all([
    again((count, signal) => call('POST', '/search', { query: queries[count % queries.length] }, { signal })),
    again((_, signal) => fetch(`${base}/health`, { signal }).then((response) => response.text())),
    again((count, signal) => {
      const body = toDocument(`fresh-${phase}-${count}`, text(50))
      return call('POST', '/service-api/ingestion', body, { headers: { prefer: 'wait=60' }, signal })
    }),
  ])
  return { search, health, fresh, failed, blockMs: await longestBlockMs() }
}

/** Statuses of what was sent, with how often each came. */
type Statuses = readonly (readonly [string, number])[]

async function startFlood({ base, newKey }: Fixture): Promise<{ end(): Promise<Statuses> }> {
  const key = await newKey(['chat', 'ingest'])
  const child = fork(join(import.meta.dirname, 'flood/flooder.ts'), [base, key])
  return {
    end: async () => {
      child.send('end')
      const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(longestCallMs) })) as [
        { statuses: Statuses },
      ]
      child.disconnect()
      return message.statuses
    },
  }
}

function print(quiet: Notice, flooded: Notice, statuses: Statuses): void {
  const cell = (value: number): string => value.toFixed(0).padStart(7)
  console.log('                    quiet p50     p95   flooded p50     p95     max   × p95')
  for (const [name, bar] of [
    ['search', 'at most 3'],
    ['health', ''],
    ['fresh', 'p95 at most 2,000 ms'],
  ] as const) {
    const [before, during] = [quiet[name], flooded[name]]
    const ratio = percentile(during, 0.95) / percentile(before, 0.95)
    note(`flood, ${name}, p95 over quiet`, ratio)
    console.log(
      `${name.padEnd(12)} ${String(during.length).padStart(5)} ${cell(percentile(before, 0.5))} ${cell(percentile(before, 0.95))}       ${cell(percentile(during, 0.5))} ${cell(percentile(during, 0.95))} ${cell(during.at(-1) ?? Number.NaN)} ${ratio.toFixed(2).padStart(7)}  ${bar}`,
    )
  }
  console.log(`longest block: quiet ${cell(quiet.blockMs).trim()} ms, flooded ${cell(flooded.blockMs).trim()} ms`)
  for (const [phase, { failed }] of Object.entries({ quiet, flooded }))
    for (const [message, count] of failed) console.log(`  the other caller, ${phase}: ${message} × ${count}`)
  for (const [label, count] of statuses) console.log(`  flood, ${label} × ${count}`)
}
