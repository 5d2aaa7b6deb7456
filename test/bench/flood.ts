/**
 * Floods an assistant with the key of one caller, and measures what another caller notices: searches, freshness and
 * `/health`, each beside its quiet value, and the memory that is left half a minute later.
 *
 *   npm run bench:flood [-- --documents 2000] [--seconds 10]
 *
 * The flood: large bodies that are slow to chunk, searches whose callers leave at once, and a message of megabytes, all
 * at once and again until the time is over. Everything runs over HTTP, the assistant in a process of its own.
 */
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { inParallel } from './ingestion-fixture.ts'
import { percentile } from './timing.ts'
import { startFixture, type Fixture } from './walk/fixture.ts'
import { zipfText } from './zipf-text.ts'

const { values: options } = parseArgs({
  options: { documents: { type: 'string', default: '2000' }, seconds: { type: 'string', default: '10' } },
})
const phaseMs = Number(options.seconds) * 1000
const { text, word } = zipfText(7, 20_000)
const queries = Array.from({ length: 200 }, () => `${word(5)} ${word(5)}`)
const bodies = [
  ['brackets', '['.repeat(2_000_000)],
  ['prose', text(400_000)],
  ['CJK', '漢字仮名交じり文。'.repeat(100_000)],
] as const

/** What a caller notices, in milliseconds, sorted. */
interface Notice {
  readonly search: readonly number[]
  readonly health: readonly number[]
  readonly fresh: readonly number[]
  readonly failed: number
}

const fixture = await startFixture()
try {
  await fill(fixture)
  const quietBytes = await fixture.residentBytes()
  const quiet = await notice(fixture)
  const flooder = await fixture.newKey(['chat', 'ingest'])
  const statuses = new Map<string, number>()
  let isOver = false
  const flooding = flood(fixture, flooder, statuses, () => isOver)
  const flooded = await notice(fixture)
  const peakBytes = await fixture.residentBytes()
  isOver = true
  await flooding
  await delay(30_000)
  const leftBytes = await fixture.residentBytes()
  print(quiet, flooded, statuses)
  const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`
  const ratio = (leftBytes / quietBytes).toFixed(2)
  console.log(
    `memory: quiet ${megabytes(quietBytes)}, flooded ${megabytes(peakBytes)}, 30 s later ${megabytes(leftBytes)}: × ${ratio} (at most 1.5)`,
  )
} finally {
  await fixture.close()
}

async function fill({ call, settled }: Fixture): Promise<void> {
  const ids = Array.from({ length: Number(options.documents) }, (_, index) => index)
  await inParallel(8, ids, (id) => call('POST', '/service-api/ingestion', toDocument(`filled-${id}`, text(200))))
  await settled()
}

function toDocument(id: string, content: string): object {
  return { document: { id, semantic_identifier: id, metadata: {}, sections: [{ text: content }] } }
}

/** Searches, asks for health and adds documents, one of each after the other, until the phase is over. */
async function notice({ call, base }: Fixture): Promise<Notice> {
  const end = performance.now() + phaseMs
  let failed = 0
  const again = async (work: (count: number) => Promise<unknown>): Promise<number[]> => {
    const times: number[] = []
    for (let count = 0; performance.now() < end; count++) {
      const start = performance.now()
      // What fails after so long counts with the time it took.
      await work(count).catch(() => (failed += 1))
      times.push(performance.now() - start)
      await delay(20)
    }
    return times.toSorted((left, right) => left - right)
  }
  const [search, health, fresh] = await Promise.all([
    again((count) => call('POST', '/search', { query: queries[count % queries.length] })),
    again(() => fetch(`${base}/health`).then((response) => response.text())),
    again(async (count) => {
      const body = toDocument(`fresh-${count}`, text(50))
      await call('POST', '/service-api/ingestion', body, { prefer: 'wait=60' })
    }),
  ])
  return { search, health, fresh, failed }
}

/** Sends everything at once, and again when it has been answered, until it is over. */
async function flood(
  { base }: Fixture,
  key: string,
  statuses: Map<string, number>,
  isOver: () => boolean,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const send = async (name: string, path: string, body: string, signal?: AbortSignal): Promise<void> => {
    const response = await fetch(`${base}${path}`, { method: 'POST', headers, body, signal }).catch(() => undefined)
    await response?.text().catch(() => undefined)
    const label = `${name} ${response?.status ?? 'left'}`
    statuses.set(label, (statuses.get(label) ?? 0) + 1)
  }
  const endless = async (work: (count: number) => Promise<void>): Promise<void> => {
    for (let count = 0; !isOver(); count++) {
      await work(count)
      await delay(5)
    }
  }
  const posts = Array.from({ length: 16 }, (_, lane) =>
    endless((count) => {
      const [name, content] = bodies[(lane + count) % bodies.length] ?? bodies[0]
      const document = toDocument(`flood-${lane}-${count}`, content)
      return send(`document of ${name}:`, '/service-api/ingestion', JSON.stringify(document))
    }),
  )
  const searches = Array.from({ length: 50 }, (_, lane) =>
    endless((count) => {
      const query = JSON.stringify({ query: queries[(lane * 7 + count) % queries.length], limit: 100 })
      return send('search, abandoned:', '/search', query, AbortSignal.timeout(50))
    }),
  )
  const message = JSON.stringify({ message: text(300_000), stream: false })
  const messages = endless(() => send('message of 2 MB:', '/chat/send-chat-message', message))
  await Promise.all([...posts, ...searches, messages])
}

function print(quiet: Notice, flooded: Notice, statuses: ReadonlyMap<string, number>): void {
  const cell = (value: number): string => value.toFixed(0).padStart(7)
  console.log('                    quiet p50     p95   flooded p50     p95     max   × p95')
  for (const [name, bar] of [
    ['search', 'at most 3'],
    ['health', ''],
    ['fresh', 'p95 at most 2,000 ms'],
  ] as const) {
    const [before, during] = [quiet[name], flooded[name]]
    const ratio = percentile(during, 0.95) / percentile(before, 0.95)
    console.log(
      `${name.padEnd(12)} ${String(during.length).padStart(5)} ${cell(percentile(before, 0.5))} ${cell(percentile(before, 0.95))}       ${cell(percentile(during, 0.5))} ${cell(percentile(during, 0.95))} ${cell(during.at(-1) ?? Number.NaN)} ${ratio.toFixed(2).padStart(7)}  ${bar}`,
    )
  }
  console.log(`failed calls of the other caller: quiet ${quiet.failed}, flooded ${flooded.failed}`)
  for (const [label, count] of [...statuses].toSorted()) console.log(`  ${label} × ${count}`)
}
