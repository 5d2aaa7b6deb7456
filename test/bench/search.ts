/**
 * Times search in the index beside bare LanceDB on the same rows, idle and while rows come in.
 *
 *   node --conditions=@inlay/source test/bench/search.ts [--rows 100000] [--queries 200] [--quick]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import type { IndexFilter, IndexRow, VectorIndex } from '@inlay/knowledge'
import { connect, Index, MatchQuery, type Table } from '@lancedb/lancedb'
import { note } from './figures.ts'
import { percentile, timeEach, timesLine, type Times } from './timing.ts'
import { misspell, seededRandom } from './typos.ts'
import { zipfText } from './zipf-text.ts'

process.env['LANCEDB_LOG'] ??= 'error'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string' },
    queries: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const rowCount = Number(options.rows ?? (options.quick ? 5_000 : 100_000))
const queryCount = Number(options.queries ?? (options.quick ? 50 : 200))
const ingestingMs = options.quick ? 2_000 : 20_000
const source = zipfText(1)
const random = seededRandom(2)
const folder = mkdtempSync(join(tmpdir(), 'inlay-bench-search-'))

let created = 0
function makeRow(): IndexRow {
  const n = created++
  const text = source.text(105)
  return {
    documentId: `document ${n}`,
    generation: `generation ${n}`,
    position: 0,
    text,
    searchText: text,
    source: n % 5 === 0 ? 'web' : 'file',
    tags: [`team=${n % 20}`],
    pairs: [n % 3 === 0 ? 2 : 1],
    updatedAt: 1_700_000_000_000 + n,
    ownUpdatedAt: null,
    createdAt: null,
    chunkMetadata: '{}',
  }
}

const query = (): string => Array.from({ length: 4 }, () => source.word(4)).join(' ')

try {
  const index = lancedbIndex({ folder: join(folder, 'index') })
  await index.open()
  const bare = await fill(index)
  console.log(`${rowCount} rows; words are four to a query`)
  await compareIdle(index, bare)
  await compareIngesting(index)
  await index.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The same rows into both, in batches of 1,000. */
async function fill(index: VectorIndex): Promise<Table> {
  const connection = await connect(join(folder, 'bare'))
  let bare: Table | undefined
  let [ours, theirs] = [0, 0]
  for (let at = 0; at < rowCount; at += 1000) {
    const rows = Array.from({ length: Math.min(1000, rowCount - at) }, makeRow)
    const begun = performance.now()
    await index.append(rows)
    ours += performance.now() - begun
    const plain = rows.map(({ documentId, text, pairs, tags }) => ({
      id: documentId,
      text,
      pairs: [...pairs],
      tags: [...tags],
    }))
    const then = performance.now()
    if (bare) await bare.add(plain)
    else bare = await connection.createTable('rows', plain)
    theirs += performance.now() - then
  }
  const begun = performance.now()
  await index.maintain({ idle: true })
  const folded = performance.now()
  await bare!.createIndex('text', { config: Index.fts({ withPosition: false }) })
  const built = performance.now()
  console.log(
    `append: ${rate(ours)} rows/s (bare, objects: ${rate(theirs)}); fold ${seconds(folded - begun)} s (bare: ${seconds(built - folded)} s)`,
  )
  return bare!
}

async function compareIdle(index: VectorIndex, bare: Table): Promise<void> {
  const search = (filter?: IndexFilter): Promise<unknown> => index.search({ text: query(), filter, limit: 10 })
  const searchBare = (): Promise<unknown> =>
    bare.query().fullTextSearch(new MatchQuery(query(), 'text')).select(['id', 'text', '_score']).limit(10).toArray()
  for (const round of ['first', 'again']) {
    const [theirs, ours] = [await timeEach(queryCount, searchBare), await timeEach(queryCount, () => search())]
    printTimes(`bare LanceDB, ${round}`, theirs)
    printTimes(`index, ${round}`, ours)
    note(`search p50 over bare LanceDB, ${round}`, percentile(ours, 0.5) / percentile(theirs, 0.5))
  }
  printTimes('index, of two thirds (pairs)', await timeEach(queryCount, () => search({ pairs: [1] })))
  printTimes('index, of a twentieth (tags)', await timeEach(queryCount, () => search({ tags: [['team=3']] })))
  const misspelt = (): Promise<unknown> => index.search({ text: misspell(query(), random), limit: 10 })
  printTimes('index, misspelt', await timeEach(queryCount, misspelt))
}

function printTimes(name: string, times: Times): void {
  console.log(timesLine(name, times))
  note(`search, ${name}, p50, ms`, percentile(times, 0.5))
  note(`search, ${name}, p95, ms`, percentile(times, 0.95))
}

/** 200 rows a second in five commits, as a worker makes them at this pace, with the upkeep that they make due. */
async function compareIngesting(index: VectorIndex): Promise<void> {
  const until = performance.now() + ingestingMs
  let appended = 0
  const upkeep: Promise<unknown>[] = []
  const writer = (async () => {
    while (performance.now() < until) {
      await index.append(Array.from({ length: 40 }, makeRow))
      appended += 40
      if (appended % 1000 === 0) upkeep.push(index.maintain())
      await delay(200)
    }
  })()
  const times: number[] = []
  while (performance.now() < until) {
    times.push(...(await timeEach(1, () => index.search({ text: query(), limit: 10 }))))
    await delay(20)
  }
  await Promise.all([writer, ...upkeep])
  times.sort((a, b) => a - b)
  console.log(timesLine(`index, while ${Math.round((appended / ingestingMs) * 1000)} rows a second come in`, times))
  note('search p50 while rows come in, ms', percentile(times, 0.5))
  note('search while rows come in, slowest, ms', percentile(times, 1))
  console.log(`slowest ${percentile(times, 1).toFixed(0)} ms; ${JSON.stringify(await index.figures())}`)
}

function rate(milliseconds: number): number {
  return Math.round((rowCount / milliseconds) * 1000)
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1)
}
