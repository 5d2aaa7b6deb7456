/**
 * Times the way of documents: accepting, indexing beside bare LanceDB on the same rows and beside the embedder alone,
 * freshness, and what many updates leave behind. Ratios count; absolute figures are the machine's.
 *
 *   npm run bench:ingestion [-- --folder <Markdown>] [--documents 2000] [--only accept,…] [--skip-rest] [--quick]
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
import { measureDisk } from './ingestion/disk.ts'
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
    /** Leaves out the wait until superseded versions are cleared away, and with it the disk in the end. */
    'skip-rest': { type: 'boolean', default: false },
    only: { type: 'string', default: 'accept,indexing,embedding,flood,freshness,upkeep' },
  },
})

/** Parts of a full run. */
const share = options.quick ? 1 / 20 : 1
const of = (count: number): number => Math.round(count * share)
const documentCount = Number(options.documents ?? of(2000))
/** Fewer documents are indexed as one claim with one commit, whose parts cannot overlap. */
const fewestIndexed = 400
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

/** Durable acceptance with nothing to index: 50 clients, one, and again what is there already; and what the disk allows. */
async function accept(): Promise<void> {
  measureDisk(Array.from({ length: of(20_000) }, (_, at) => JSON.stringify(small(at))))
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

/**
 * All documents wait already; then the same rows into a bare table. Without vectors, and with vectors that are given. Both
 * in turns, since a busy machine changes from second to second.
 */
async function indexing(): Promise<void> {
  const requests = readDocuments(options.folder, Math.max(documentCount, fewestIndexed))
  // Compiles the code.
  await indexBoth(requests, 0)
  for (const dimensions of [0, 512]) {
    const label = `indexing, ${requests.length} documents, ${dimensions} dimensions`
    const rounds: { readonly ratio: number; readonly cpu: number; readonly us: number }[] = []
    for (let round = 1; round <= (options.quick ? 1 : 3); round++) {
      const { ours, bare, chunks } = await indexBoth(requests, dimensions)
      rounds.push({
        ratio: bare.ms / ours.ms,
        cpu: ours.cpuMs / bare.cpuMs,
        us: (ours.cpuMs / chunks) * 1000,
      })
      const line = (name: string, { ms, cpuMs }: Spent): string =>
        `${name} ${Math.round((chunks / ms) * 1000)}/s (${((cpuMs / chunks) * 1000).toFixed(0)} µs CPU a chunk)`
      const ratio = (bare.ms / ours.ms).toFixed(2)
      console.log(
        `${label}, round ${round}, ${chunks} chunks: ${line('ours', ours)}, ${line('bare', bare)}: ratio ${ratio}`,
      )
    }
    const medianOf = (values: readonly number[]): number =>
      percentile(
        values.toSorted((a, b) => a - b),
        0.5,
      )
    const [ratio, cpu] = [medianOf(rounds.map((round) => round.ratio)), medianOf(rounds.map((round) => round.cpu))]
    console.log(`${label}: ratio ${ratio.toFixed(2)}, CPU of a chunk over bare ${cpu.toFixed(2)}`)
    note(`ingestion, indexing over bare LanceDB, median, ${dimensions} dimensions`, ratio)
    note(`ingestion, CPU of an indexed chunk over bare LanceDB, median, ${dimensions} dimensions`, cpu)
    note(`ingestion, µs CPU of an indexed chunk, ${dimensions} dimensions`, medianOf(rounds.map(({ us }) => us)))
  }
}

async function indexBoth(
  requests: ReturnType<typeof readDocuments>,
  dimensions: number,
): Promise<{ readonly ours: Spent; readonly bare: Spent; readonly chunks: number }> {
  const { knowledge, rows, close } = await openFixture({ keepRows: true, dimensions })
  await inParallel(50, requests, (request) => knowledge.accept(request))
  // Both find their table made and the engine loaded.
  await knowledge.figures()
  const ours = await spent(async () => {
    await knowledge.start()
    await knowledge.whenIdle()
  })
  await close()
  return { ours, bare: await addBare(rows, dimensions), chunks: rows.length }
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
  note('ingestion, flood, accepted documents/s', times.length / seconds(begun))
  note('ingestion, flood, acceptance p95, ms', percentile(times, 0.95))
  console.log(timesLine(`flood, 50 clients: ${Math.round(times.length / seconds(begun))} documents/s`, times))
  await knowledge.whenIdle()
  note('ingestion, flood, accepted and indexed documents/s', times.length / seconds(begun))
  console.log(`flood, accepted and indexed: ${Math.round(times.length / seconds(begun))} documents/s`)
  const accepted = await timesOfPaced((at) => knowledge.accept(small(1e6 + at)))
  console.log(timesLine('paced, 200 documents/s, acceptance', accepted))
  note('ingestion, paced, acceptance p95, ms', percentile(accepted, 0.95))
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

/**
 * Ten thousand updates of a hundred documents: what search and disk pay for it. Searches are compared with those before,
 * and, in turns, with those of an index of the same documents that were never updated: what else the machine does then
 * weighs on both.
 */
async function upkeep(): Promise<void> {
  const { knowledge, folder, close } = await openFixture()
  const untouched = await openFixture()
  const version = (id: number): ReturnType<typeof toRequest> => toRequest(`document ${id}`, source.text(1500))
  const documents = Array.from({ length: 100 }, (_, id) => version(id))
  for (const each of [untouched.knowledge, knowledge]) {
    await each.start()
    await inParallel(50, documents, (document) => each.accept(document))
    await each.whenIdle()
  }
  // Until the upkeep after the first documents is over, which would weigh on the searches before alone.
  await delay(3000)
  const count = options.quick ? 60 : 200
  await timesOfSearches(20, [knowledge, untouched.knowledge])
  const [before] = (await timesOfSearches(count, [knowledge])) as [number[]]
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
  const [after, beside] = (await timesOfSearches(count, [knowledge, untouched.knowledge])) as [number[], number[]]
  clearInterval(watch)
  if (options.quick) leaveOut('the wait of 25 s until superseded versions are cleared away')
  else if (!options['skip-rest']) await delay(25_000)
  note('ingestion, upkeep, search p95, ms', percentile(after, 0.95))
  const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
  const ratioOf = (others: readonly number[], share = 0.95): number =>
    percentile(after, share) / percentile(others, share)
  note('ingestion, upkeep, search p50 over that of an index never updated', ratioOf(beside, 0.5))
  // Of the few searches of a quick run, the three slowest would be all that is compared.
  if (!options.quick) note('ingestion, upkeep, search p95 over that of an index never updated', ratioOf(beside))
  console.log(timesLine('upkeep, search before', before))
  console.log(timesLine(`upkeep, search after: ratio of p95 ${ratioOf(before).toFixed(2)}`, after))
  console.log(
    timesLine(
      `upkeep, never updated: ratio of p50 ${ratioOf(beside, 0.5).toFixed(2)}, of p95 ${ratioOf(beside).toFixed(2)}`,
      beside,
    ),
  )
  console.log(
    `upkeep, disk: live ${mega(live)}, peak ${mega(peak)}, in the end ${mega(bytesOf(join(folder, 'index')))}`,
  )
  await untouched.close()
  await close()
}

/** Searches each in turn. @returns the times of each, shortest first */
async function timesOfSearches(runs: number, searched: readonly Knowledge[]): Promise<number[][]> {
  const times = searched.map((): number[] => [])
  for (let run = 0; run < runs; run++) {
    const query = { text: `${source.word(4)} ${source.word(4)}`, limit: 10 }
    for (const [at, each] of searched.entries()) times[at]!.push(...(await timeEach(1, () => each.search(query))))
  }
  return times.map((each) => each.toSorted((left, right) => left - right))
}
