/**
 * Fills an index in steps and measures it at each: indexing rate, memory, disk, and times of searches by text, by vector
 * and by both, filtered and not, also of 1, 10, 50 and 200 searchers at once. Beyond the first step each time is told as a multiple of
 * the first: the bar is 2.
 *
 *   npm run -w test/rigs bench:million -- [--engine lancedb|opensearch|pgvector] [--sizes 100000,1000000] [--queries 200]
 *                            [--texts <folder>] [--out <file>] [--keep <folder>] [--curves <file>] [--quick]
 *
 * `--out` appends each measured point as a line of JSON, for `npm run -w test/rigs docs:sizes`. `--keep` leaves an index of each size
 * in the folder, and a later run with it and as many queries times the searches alone, all sizes in turn: twice, and the second counts.
 * `--curves` draws the growth as a picture, for example with `--sizes 10000,100000,1000000`.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { IndexQuery, VectorIndex } from '@inlay/knowledge'
import { leaveOut, note } from '../bench/figures.ts'
import { engines, type BareEngine, type Engine } from './million/engines.ts'
import { toCurves, type Grown } from './million/curves.ts'
import { inParallel } from '../bench/ingestion/fixture.ts'
import { createRowSource, dimensions, filters, type RowSource } from './million/rows.ts'
import { percentile, timeEach, timesLine, type Times } from '../bench/timing.ts'

process.env['LANCEDB_LOG'] ??= 'error'

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: 'lancedb' },
    sizes: { type: 'string' },
    queries: { type: 'string' },
    quick: { type: 'boolean', default: false },
    texts: { type: 'string', default: process.env['INLAY_BENCH_TEXTS'] },
    out: { type: 'string' },
    keep: { type: 'string' },
    /** File for a picture of the figures of each size. */
    curves: { type: 'string' },
  },
})
type OpenEngine = (typeof engines)[string]

const bar = 2
const space = { id: `bench@${dimensions}`, dimensions }
const batchRows = 1_000
const sizes = (options.sizes ?? (options.quick ? '2000,4000' : '100000,1000000')).split(',').map(Number)
const searcherCounts = options.quick ? [1, 10] : [1, 10, 50, 200]
const queryCount = Number(options.queries ?? (options.quick ? 20 : 200))
const open = engines[options.engine]
if (open === undefined) throw new Error(`--engine is one of ${Object.keys(engines).join(', ')}`)

const newSource = (): RowSource => createRowSource(queryCount, options.texts)
const first = new Map<string, number>()
const grown: Grown[] = []
if (options.quick) leaveOut('sizes beyond 4,000 rows, and the engines that need a server: OpenSearch and pgvector')
await (options.keep === undefined ? measureGrowing(open) : measureKept(open, options.keep))
if (options.curves) writeFileSync(options.curves, toCurves(grown, titleOfCurves()))

function titleOfCurves(): string {
  const date = new Date().toISOString().slice(0, 10)
  const load = (loadavg()[0] ?? 0).toFixed(1)
  return `An index in ${options.engine} as it grows (${date}, ${availableParallelism()} cores, load ${load})`
}

/** One index, which grows from size to size. */
async function measureGrowing(open: OpenEngine): Promise<void> {
  const source = newSource()
  const engine = await open()
  try {
    await engine.index.open(space)
    let rows = 0
    for (const size of sizes) {
      const filled = await fill(engine, source, size - rows)
      rows = size
      const recall = await recallOf(nearestIn(engine.index), source)
      const times = await timeSearches(engine.index, source)
      const searchers = await timeSearchers(engine.index, source)
      report({ rows, ...filled, recall, times, searchers })
      addGrown({ rows, rate: filled.rate }, times, searchers)
    }
    await timeBare(engine, source)
  } finally {
    await engine.close()
  }
}

/** An index of each size, filled unless an earlier run has left it. */
async function measureKept(open: OpenEngine, folder: string): Promise<void> {
  const kept: { readonly engine: Engine; readonly point: Point }[] = []
  try {
    for (const size of sizes) {
      const engine = await open({ folder, size })
      kept.push({ engine, point: await fillOnce(engine, size, join(folder, `${options.engine}-${size}.json`)) })
    }
    const source = newSource()
    for (const { engine } of kept) await timeSearches(engine.index, source)
    for (const { engine, point } of kept) {
      const times = await timeSearches(engine.index, source)
      const searchers = await timeSearchers(engine.index, source)
      report({ ...point, times, searchers })
      addGrown(point, times, searchers)
    }
  } finally {
    await Promise.all(kept.map(({ engine }) => engine.close()))
  }
}

/** @param record file with the figures of filling it, present once it is filled */
async function fillOnce(engine: Engine, rows: number, record: string): Promise<Point> {
  await engine.index.open(space)
  if (existsSync(record)) return JSON.parse(readFileSync(record, 'utf8')) as Point
  if ((await engine.index.figures()).rows > 0) throw new Error(`half filled: remove the index of ${record} first`)
  const source = newSource()
  const filled = await fill(engine, source, rows)
  const point: Point = { rows, ...filled, recall: await recallOf(nearestIn(engine.index), source) }
  writeFileSync(record, JSON.stringify(point))
  return point
}

/** Figures from filling an index to a size. */
interface Point extends Filled {
  readonly rows: number
  readonly recall: number
}

interface Filled {
  /** Rows a second, upkeep and the making of the rows included. */
  readonly rate: number
  /** Until upkeep has nothing left to do, in seconds. */
  readonly lastUpkeep: number
  readonly cpu: number
  readonly memory: number
  readonly peakMemory: number
  readonly disk: number
}

/** Appends in batches of 1,000, with upkeep beside it as it runs beside a worker, then once more when idle. */
async function fill({ index, memory, disk }: Engine, source: RowSource, count: number): Promise<Filled> {
  const begun = performance.now()
  const cpu = process.cpuUsage()
  let peakMemory = 0
  let upkeep: Promise<unknown> | undefined
  for (let done = 0; done < count; done += batchRows) {
    await index.append(source.rows(Math.min(batchRows, count - done)))
    if (done % 10_000 === 0) {
      peakMemory = Math.max(peakMemory, memory())
      process.stderr.write(`\r${done} rows, ${Math.round((performance.now() - begun) / 1000)} s `)
      upkeep ??= index.maintain().finally(() => (upkeep = undefined))
    }
  }
  await upkeep
  const appended = performance.now()
  const watch = setInterval(() => (peakMemory = Math.max(peakMemory, memory())), 500)
  await index.maintain({ idle: true })
  clearInterval(watch)
  process.stderr.write('\r')
  const ended = performance.now()
  const { user, system } = process.cpuUsage(cpu)
  return {
    rate: count / ((ended - begun) / 1000),
    lastUpkeep: (ended - appended) / 1000,
    cpu: (user + system) / 1e6,
    memory: memory(),
    peakMemory: Math.max(peakMemory, memory()),
    // Versions that upkeep has replaced stay for a while.
    disk: await disk(),
  }
}

/** The share of the ten truly nearest rows that a search by vector finds. */
async function recallOf(search: BareEngine['nearest'], { questions, nearest }: RowSource): Promise<number> {
  let hitCount = 0
  const exact = nearest()
  for (const [at, ids] of exact.entries()) {
    const documentIds = await search(questions[at]!.vector)
    hitCount += documentIds.filter((id) => ids.includes(id)).length
  }
  return hitCount / exact.flat().length
}

function nearestIn(index: VectorIndex): BareEngine['nearest'] {
  return async (vector) => (await index.search({ vector, limit: 10 })).map(({ documentId }) => documentId)
}

/** Each kind once to warm up, then timed. */
async function timeSearches(index: VectorIndex, { questions }: RowSource): Promise<Map<string, Times>> {
  const times = new Map<string, Times>()
  for (const kind of ['text', 'vector', 'hybrid'] as const)
    for (const [name, filter] of Object.entries(filters)) {
      const search = (at: number): Promise<unknown> => {
        const { text, vector } = questions[at % questions.length]!
        const query: IndexQuery = {
          limit: 10,
          ...(filter && { filter }),
          ...(kind !== 'vector' && { text }),
          ...(kind !== 'text' && { vector }),
        }
        return index.search(query)
      }
      await timeEach(Math.min(20, questions.length), search)
      times.set(`${kind}, ${name}`, await timeEach(questions.length, search))
    }
  return times
}

function addGrown(
  { rows, rate }: { readonly rows: number; readonly rate: number },
  times: ReadonlyMap<string, Times>,
  searchers: readonly Searchers[],
): void {
  const medians = new Map([...times].map(([name, measured]) => [name, percentile(measured, 0.5)]))
  const byWords = searchers.filter(({ kind }) => kind === 'text')
  grown.push({ rows, rate, medians, searchers: new Map(byWords.map(({ count, rate }) => [count, rate])) })
  // Of the largest size, which comes last.
  for (const [name, median] of rows === sizes.at(-1) ? medians : [])
    note(`million, ${options.engine}, ${name}, p50, ms`, median)
}

/** People who search at once. */
interface Searchers {
  readonly kind: 'text' | 'hybrid'
  readonly count: number
  /** Searches a second. */
  readonly rate: number
  readonly p50: number
  readonly p95: number
}

/** Ever more people at once, each of whom searches again after each answer. */
async function timeSearchers(index: VectorIndex, { questions }: RowSource): Promise<Searchers[]> {
  const measured: Searchers[] = []
  for (const kind of ['text', 'hybrid'] as const)
    for (const count of searcherCounts) {
      const queries = Array.from(
        { length: Math.max(questions.length, 2 * count) },
        (_, at) => questions[at % questions.length]!,
      )
      const begun = performance.now()
      const times = await inParallel(count, queries, ({ text, vector }) =>
        index.search({ text, limit: 10, ...(kind === 'hybrid' && { vector }) }),
      )
      const rate = queries.length / ((performance.now() - begun) / 1000)
      console.log(timesLine(`  ${kind}, ${count} at once: ${Math.round(rate)} searches/s`, times))
      note(`million, ${options.engine}, ${kind === 'text' ? '' : `${kind}, `}${count} at once, searches/s`, rate)
      measured.push({ kind, count, rate, p50: percentile(times, 0.5), p95: percentile(times, 0.95) })
    }
  return measured
}

/** Hybrid searches and those of the engine itself on the same table, in turn; and how many of the nearest rows it finds. */
async function timeBare({ index, openBare }: Engine, source: RowSource): Promise<void> {
  if (!openBare) return
  const bare = await openBare()
  const { questions } = source
  const searches: Readonly<Record<string, (at: number) => Promise<unknown>>> = {
    [options.engine]: (at) => index.search({ ...questions[at]!, limit: 10 }),
    [`${options.engine} alone`]: (at) => bare.hybrid(questions[at]!),
  }
  const times = new Map(Object.keys(searches).map((name) => [name, [] as number[]]))
  for (const at of questions.keys())
    for (const [name, search] of Object.entries(searches))
      times.get(name)!.push(...(await timeEach(1, () => search(at))))
  for (const [name, measured] of times) {
    const sorted = measured.toSorted((a, b) => a - b)
    console.log(timesLine(`  hybrid, in turn, ${name}`, sorted))
    note(`million, ${name}, hybrid in turn, p50, ms`, percentile(sorted, 0.5))
  }
  const recall = await recallOf(bare.nearest, source)
  console.log(`  ${options.engine} alone: recall@10 ${recall.toFixed(3)}`)
  note(`million, ${options.engine} alone, recall@10`, recall)
  bare.close()
}

function report({
  times,
  ...point
}: Point & { readonly times: ReadonlyMap<string, Times>; readonly searchers: readonly Searchers[] }): void {
  const mega = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`
  console.log(
    `${options.engine}, ${point.rows} rows: ${Math.round(point.rate)} rows/s (${point.cpu.toFixed(0)} s CPU, last upkeep ${point.lastUpkeep.toFixed(1)} s),`,
    `memory ${mega(point.memory)}, peak ${mega(point.peakMemory)}, disk ${mega(point.disk)}, recall@10 ${point.recall.toFixed(3)}`,
  )
  note(`million, ${options.engine}, recall@10`, point.recall)
  const figures: Record<string, { p50: number; p95: number }> = {}
  for (const [name, measured] of times) {
    const [p50, p95] = [percentile(measured, 0.5), percentile(measured, 0.95)]
    figures[name] = { p50, p95 }
    const base = first.get(name)
    if (base === undefined) first.set(name, p50)
    if (base !== undefined) note(`million, ${name}, p50 over the smaller size`, p50 / base)
    const ratio = base === undefined ? '' : `  × ${(p50 / base).toFixed(2)}${p50 > bar * base ? ` (bar ${bar})` : ''}`
    console.log(timesLine(`  ${name}`, measured) + ratio)
  }
  if (options.out !== undefined)
    appendFileSync(
      options.out,
      `${JSON.stringify({ engine: options.engine, dimensions, ...point, searches: figures })}\n`,
    )
}
