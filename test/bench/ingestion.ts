/**
 * Times the way of documents: accepting, indexing beside bare LanceDB on the same rows and beside the embedder alone,
 * freshness, and what many updates leave behind. Ratios count; absolute figures are the machine's.
 *
 *   npm run bench:ingestion [-- --folder <Markdown>] [--documents 2000] [--only accept,…] [--quick]
 *
 * `--quick` takes a twentieth of everything: enough to see that it works, too little to judge by.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { IndexRow, Knowledge } from '@inlay/knowledge'
import { loadEngine } from '@inlay/drivers/internal/lancedb/engine'
import { schemaOf, toArrow } from '@inlay/drivers/internal/lancedb/rows'
import { folderLocation } from '@inlay/drivers/internal/lancedb/folder-location'
import { openTable } from '@inlay/drivers/internal/lancedb/table'
import { leaveOut, note } from './figures.ts'
import { embedding } from './ingestion/embedding.ts'
import { bytesOf, inParallel, openFixture, readDocuments, toRequest } from './ingestion/fixture.ts'
import { percentile, timeEach, timesLine } from './timing.ts'
import { zipfText } from './zipf-text.ts'

process.env['LANCEDB_LOG'] ??= 'error'

const { values: options } = parseArgs({
  options: {
    folder: { type: 'string' },
    documents: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: 'accept,indexing,embedding,flood,freshness,upkeep' },
  },
})

/** Parts of a full run. */
const share = options.quick ? 1 / 20 : 1
const of = (count: number): number => Math.round(count * share)
const documentCount = Number(options.documents ?? of(2000))
const source = zipfText(1)
const small = (at: number): ReturnType<typeof toRequest> => toRequest(`small ${at}`, source.text(100))
const seconds = (begun: number): number => (performance.now() - begun) / 1000

const scenes: Record<string, () => Promise<void>> = {
  accept,
  indexing,
  embedding: () => embedding(readDocuments(options.folder, Math.min(of(100), documentCount)), options.quick ? 2 : 6),
  flood,
  freshness,
  upkeep,
}
for (const name of options.only.split(',')) await scenes[name]?.()

/** Durable acceptance with nothing to index: 50 clients, one, and again what is there already. */
async function accept(): Promise<void> {
  const { knowledge, close } = await openFixture()
  const requests = Array.from({ length: of(20_000) }, (_, at) => small(at))
  for (const [label, clients, entries] of [
    ['accept, 50 clients', 50, requests],
    ['accept, 1 client', 1, Array.from({ length: of(2000) }, (_, at) => small(1e6 + at))],
    ['accept, identical, 50 clients', 50, requests],
  ] as const) {
    const begun = performance.now()
    const times = await inParallel(clients, entries, (request) => knowledge.accept(request))
    const rate = entries.length / seconds(begun)
    console.log(timesLine(`${label}: ${Math.round(rate)} documents/s`, times))
    note(`ingestion, ${label}, documents/s`, rate)
  }
  await close()
}

/** All documents wait already; then the same rows into a bare table. Without vectors, and with vectors that are given. */
async function indexing(): Promise<void> {
  const requests = readDocuments(options.folder, documentCount)
  for (const dimensions of [0, 512]) {
    const { knowledge, rows, close } = await openFixture({ keepRows: true, dimensions })
    await inParallel(50, requests, (request) => knowledge.accept(request))
    // Both find their table made and the engine loaded.
    await knowledge.figures()
    const ours = await spent(async () => {
      await knowledge.start()
      await knowledge.whenIdle()
    })
    await close()
    const bare = await addBare(rows, dimensions)
    const label = `indexing, ${requests.length} documents, ${rows.length} chunks, ${dimensions} dimensions`
    const line = (name: string, { ms, cpuMs }: Spent): string =>
      `${name} ${Math.round((rows.length / ms) * 1000)}/s (${((cpuMs / rows.length) * 1000).toFixed(0)} µs CPU a chunk)`
    console.log(`${label}: ${line('ours', ours)}, ${line('bare', bare)}: ratio ${(bare.ms / ours.ms).toFixed(2)}`)
    note(`ingestion, indexing over bare LanceDB, ${dimensions} dimensions`, bare.ms / ours.ms)
  }
}

interface Spent {
  readonly ms: number
  /** CPU time of all threads. */
  readonly cpuMs: number
}

async function spent(work: () => Promise<void>): Promise<Spent> {
  const [before, begun] = [process.cpuUsage(), performance.now()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - begun, cpuMs: (user + system) / 1000 }
}

/** Plain `table.add` in batches of 1,000, Arrow building included, into a table with the same indexes; none is folded. */
async function addBare(rows: readonly IndexRow[], dimensions: number): Promise<Spent> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-bare-'))
  const engine = await loadEngine()
  const space = dimensions > 0 ? { id: 'bare', dimensions } : undefined
  const schema = schemaOf(engine, space)
  const { connection, table } = await openTable(engine, folderLocation(folder), space)
  const bare = await spent(async () => {
    for (let at = 0; at < rows.length; at += 1000) await table.add(toArrow(engine, schema, rows.slice(at, at + 1000)))
  })
  table.close()
  connection.close()
  rmSync(folder, { recursive: true })
  return bare
}

/** Accepting as fast as 50 clients can while the worker is at it in the same process, then at a steady pace. */
async function flood(): Promise<void> {
  const { knowledge, close } = await openFixture()
  await knowledge.start()
  const begun = performance.now()
  const times = await inParallel(
    50,
    Array.from({ length: of(20_000) }, (_, at) => small(at)),
    (item) => knowledge.accept(item),
  )
  console.log(timesLine(`flood, 50 clients: ${Math.round(times.length / seconds(begun))} documents/s`, times))
  await knowledge.whenIdle()
  note('ingestion, flood, accepted and indexed documents/s', times.length / seconds(begun))
  console.log(`flood, accepted and indexed: ${Math.round(times.length / seconds(begun))} documents/s`)
  const accepted = await timesOfPaced((at) => knowledge.accept(small(1e6 + at)))
  console.log(timesLine('paced, 200 documents/s, acceptance', accepted))
  await close()
}

/** How long after its acceptance a document is found. */
async function freshness(): Promise<void> {
  const { knowledge, close } = await openFixture()
  await knowledge.start()
  await findFresh(knowledge, 0)
  const lone = await timeEach(of(40), (run) => findFresh(knowledge, run + 1))
  note('ingestion, fresh, a lone document, ms', percentile(lone, 0.5))
  console.log(timesLine('fresh, a lone document', lone))
  const busy = await timesOfPaced((at) => findFresh(knowledge, 1000 + at))
  console.log(timesLine('fresh, at 200 documents/s', busy))
  await close()
}

/** Begins a thousand calls, one each 5 ms. @returns how long each took, shortest first */
async function timesOfPaced(work: (at: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  const calls: Promise<unknown>[] = []
  for (let at = 0; at < of(1000); at++) {
    await delay(5)
    const begun = performance.now()
    calls.push(work(at).then(() => times.push(performance.now() - begun)))
  }
  await Promise.all(calls)
  return times.toSorted((left, right) => left - right)
}

async function findFresh(knowledge: Knowledge, at: number): Promise<void> {
  await knowledge.accept(toRequest(`fresh ${at}`, `needle${at}x ${source.text(60)}`), { waitMs: 20_000 })
}

/** Ten thousand updates of a hundred documents: what search and disk pay for it. */
async function upkeep(): Promise<void> {
  const { knowledge, folder, close } = await openFixture()
  await knowledge.start()
  const version = (id: number): ReturnType<typeof toRequest> => toRequest(`document ${id}`, source.text(1500))
  await inParallel(
    50,
    Array.from({ length: 100 }, (_, id) => id),
    (id) => knowledge.accept(version(id)),
  )
  await knowledge.whenIdle()
  await delay(3000 * share)
  const searches = (): Promise<readonly number[]> =>
    timeEach(of(200), () => knowledge.search({ text: `${source.word(4)} ${source.word(4)}`, limit: 10 }))
  await searches()
  const fresh = await searches()
  const live = bytesOf(join(folder, 'index'))
  let peak = live
  const watch = setInterval(() => (peak = Math.max(peak, bytesOf(join(folder, 'index')))), 250)
  const begun = performance.now()
  await inParallel(
    50,
    Array.from({ length: of(10_000) }, (_, at) => at % 100),
    (id) => knowledge.accept(version(id)),
  )
  await knowledge.whenIdle()
  console.log(`upkeep: ${of(10_000)} updates of 100 documents in ${seconds(begun).toFixed(1)} s`)
  const after = await searches()
  clearInterval(watch)
  if (options.quick) leaveOut('the wait of 25 s until superseded versions are cleared away')
  else await delay(25_000)
  const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
  const ratio = percentile(after, 0.95) / percentile(fresh, 0.95)
  note('ingestion, upkeep, search p95 after over before', ratio)
  console.log(timesLine('upkeep, search before', fresh))
  console.log(timesLine(`upkeep, search after: ratio of p95 ${ratio.toFixed(2)}`, after))
  console.log(
    `upkeep, disk: live ${mega(live)}, peak ${mega(peak)}, in the end ${mega(bytesOf(join(folder, 'index')))}`,
  )
  await close()
}
