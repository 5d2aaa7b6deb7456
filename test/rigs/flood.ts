/**
 * Floods an assistant with the key of one caller, and measures what another caller notices: searches, freshness and
 * `/health`, each beside its quiet value, the longest block of the event loop, and the memory half a minute later.
 * With `--tenants`, the flood comes to one of ten tenants in one process, and another one notices it, in turns of
 * quiet and flood; then many tenants are opened, used and closed in turn, after which nothing may have grown.
 *
 *   npm run -w test/rigs bench:flood [-- --documents 2000] [--seconds 10] [--quick]
 *   npm run -w test/rigs bench:reads [-- --documents 2000] [--seconds 3] [--quick]
 *   npm run -w test/rigs bench:tenants [-- --documents 200] [--seconds 10] [--opened 1000] [--quick]
 *
 * Everything runs over HTTP; the assistant and the flood are processes of their own. It takes about 45 seconds and
 * twice the given time, and says what it does meanwhile. With `--reads`, as `bench:reads` runs it, the flood is 20
 * parallel reads of one list at a time, for the given time each.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { note } from '../bench/figures.ts'
import { inParallel } from '../bench/ingestion/fixture.ts'
import { percentile } from '../bench/timing.ts'
import { startFixture, type Fixture, type TenantsFixture } from './walk/fixture.ts'
import { zipfText } from '../bench/zipf-text.ts'

const { values: options } = parseArgs({
  options: {
    documents: { type: 'string' },
    seconds: { type: 'string' },
    reads: { type: 'boolean', default: false },
    tenants: { type: 'boolean', default: false },
    /** What the flood consists of: `documents`, `searches`, `messages`. */
    kinds: { type: 'string' },
    /** Tenants opened and closed in turn. */
    opened: { type: 'string' },
    /** Turns of quiet and flood. */
    turns: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const documentCount = Number(options.documents ?? (options.quick ? 50 : options.tenants ? 200 : 2000))
const openedCount = Number(options.opened ?? (options.quick ? 20 : 1000))
const turns = Number(options.turns ?? (options.quick ? 1 : 3))
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

const names = ['quiet', 'flooding', ...Array.from({ length: 8 }, (_, at) => `other-${at}`)]

if (options.tenants) {
  await withFixture({ first: 'quiet', maxOpen: names.length }, floodTenant)
  if (openedCount > 0) await withFixture({ first: 'tenant-0', maxOpen: 1 }, openInTurn)
} else
  await withFixture(undefined, async (fixture) => {
    say(`${documentCount} documents`)
    await fill(fixture)
    if (options.reads) await floodWithReads(fixture)
    else await floodWithWrites(fixture)
  })

async function withFixture(
  tenants: TenantsFixture | undefined,
  work: (fixture: Fixture) => Promise<void>,
): Promise<void> {
  const fixture = await startFixture(tenants)
  try {
    await work(fixture)
  } finally {
    await fixture.close()
  }
}

/** Floods one tenant while another one searches. */
async function floodTenant(fixture: Fixture): Promise<void> {
  say(`${documentCount} documents in each of ${names.length} tenants`)
  for (const name of names) await fill(fixture, fixture.keyOf(name))
  const ratios: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    say('quiet')
    const quiet = await notice(fixture, `quiet-${turn}`)
    say('flooded')
    const flood = await startFlood(fixture, fixture.keyOf('flooding'))
    const flooded = await notice(fixture, `flooded-${turn}`)
    const statuses = await flood.end()
    await fixture.whenIdle({ authorization: `Bearer ${fixture.keyOf('flooding')}` })
    print(quiet, flooded, statuses)
    ratios.push(percentile(flooded.search, 0.95) / percentile(quiet.search, 0.95))
    console.log(`load average ${loadavg()[0]!.toFixed(1)}`)
    // The next quiet must not hold what this flood has left to do.
    await delay(restMs / 3)
  }
  const median = ratios.toSorted((left, right) => left - right)[Math.floor(ratios.length / 2)]!
  note('flood of a tenant, search of another one, p95 over quiet', median)
  console.log(
    `search of another tenant, p95 over quiet: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')} (at most 3)`,
  )
}

/** Opens a tenant, adds a document, searches, and goes to the next one, which closes it. */
async function openInTurn({ call, keyOf, held, residentBytes }: Fixture): Promise<void> {
  const mega = (bytes: number): string => (bytes / 2 ** 20).toFixed(0).padStart(6)
  console.log('tenants   RSS MB  heap MB  external MB  files  threads  timers  listeners  ms a tenant')
  let begun = performance.now()
  const every = openedCount / 10
  const memory: number[] = []
  for (let at = 0; at <= openedCount; at++) {
    const headers = { authorization: `Bearer ${keyOf(`tenant-${at}`)}` }
    const body = toDocument('only', text(50))
    await call('POST', '/service-api/ingestion', body, { headers: { ...headers, prefer: 'wait=60' } })
    await call('POST', '/search', { query: queries[at % queries.length] }, { headers })
    if (at % every !== 0) continue
    const ms = (performance.now() - begun) / (at === 0 ? 1 : every)
    const now = await held()
    const resident = await residentBytes()
    memory.push(resident)
    const cells = [now.files, now.threads, now.timers, now.listeners].map((count) => String(count).padStart(8)).join('')
    console.log(
      `${String(at).padStart(7)} ${mega(resident)}   ${mega(now.heapBytes)}       ${mega(now.externalBytes)} ${cells}  ${ms.toFixed(0)}`,
    )
    begun = performance.now()
  }
  const third = Math.ceil(memory.length / 3)
  // An idle process returns memory, so the maximum of each third counts; the first tenant loads the code.
  const ratio = Math.max(...memory.slice(-third)) / Math.max(...memory.slice(1, third + 1))
  note('tenants in turn, memory of the last third over the first', ratio)
  console.log(`memory, maximum of the last third over that of the first: × ${ratio.toFixed(2)}`)
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

async function fill({ call, whenIdle }: Fixture, key?: string): Promise<void> {
  const headers = key === undefined ? undefined : { authorization: `Bearer ${key}` }
  const ids = Array.from({ length: documentCount }, (_, index) => index)
  const words = options.reads ? 40 : 200
  await inParallel(8, ids, (id) =>
    call('POST', '/service-api/ingestion', toDocument(`filled-${id}`, text(words), { number: String(id) }), {
      headers,
    }),
  )
  await whenIdle(headers)
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

async function startFlood({ base, newKey }: Fixture, ofTenant?: string): Promise<{ end(): Promise<Statuses> }> {
  const key = ofTenant ?? (await newKey(['chat', 'ingest']))
  const child = fork(join(import.meta.dirname, 'flood/flooder.ts'), [
    base,
    key,
    ...(options.kinds ? [options.kinds] : []),
  ])
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
