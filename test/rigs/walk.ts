/**
 * Takes a folder of real pages in over HTTP, one by one and in a batch, then sends all of them again, changes and
 * deletes a thousand; prints rates, disk, memory and search times, and says whether every count is exact.
 *
 *   npm run -w test/rigs bench:walk -- --archive pages.tar.gz [--clients 8]
 *   npm run -w test/rigs bench:walk -- --quick      made-up pages, and no wait until the index is tidy
 */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { leaveOut, note } from '../bench/figures.ts'
import { inParallel } from '../bench/ingestion/fixture.ts'
import { timesLine } from '../bench/timing.ts'
import { readArchive } from './walk/archive.ts'
import { startFixture, type Fixture } from './walk/fixture.ts'
import { zipfText } from '../bench/zipf-text.ts'

const { values: options } = parseArgs({
  options: {
    archive: { type: 'string' },
    clients: { type: 'string', default: '8' },
    quick: { type: 'boolean', default: false },
  },
})
interface Page {
  readonly id: string
  readonly text: string
}

const pages = options.quick ? madePages() : archivedPages(options.archive)
const clients = Number(options.clients)
const entries = Math.min(1000, Math.floor(pages.length / 3))
/** Search queries. */
const words = pages.flatMap(({ text }) => text.match(/[A-Za-z]{5,}/g)?.slice(3, 8) ?? [])
let wrong = 0

if (options.quick) leaveOut('an archive of real pages; 60 made-up ones stand for them')
await oneByOne()
await inBatch()
process.exitCode = wrong > 0 ? 1 : 0

function madePages(): Page[] {
  const { text } = zipfText(4, 20_000)
  return Array.from({ length: 60 }, (_, at) => ({ id: `made/page-${at}`, text: `# Page ${at}\n\n${text(150)}\n` }))
}

function archivedPages(archive: string | undefined): Page[] {
  if (archive !== undefined && existsSync(archive))
    return readArchive(archive).map(({ path, text }) => ({ id: path.replace(/\.md$/, ''), text }))
  console.error('Name an archive with Markdown files, --archive pages.tar.gz; --quick makes its own pages up.')
  process.exit(2)
}

function toBody({ id, text }: Page): object {
  const title = /^# (.+)$/m.exec(text)?.[1] ?? id
  const metadata = { folder: id.split('/').at(-2) ?? '' }
  const sections = [{ text, link: `https://pages.example/${id}` }]
  return { document: { id, semantic_identifier: title, sections, metadata, source: 'web' } }
}

async function oneByOne(): Promise<void> {
  const fixture = await startFixture()
  const begun = performance.now()
  const searching = searchUntil(fixture, () => false)
  const times = await inParallel(clients, pages, (page) => fixture.call('POST', '/service-api/ingestion', toBody(page)))
  console.log(timesLine(`one by one, ${clients} clients: accepted ${rate(pages.length, begun)} documents/s`, times))
  await tellIndexed(fixture, begun, searching)
  await fixture.close()
}

async function inBatch(): Promise<void> {
  const fixture = await startFixture()
  const begun = performance.now()
  const searching = searchUntil(fixture, () => false)
  const first = await post(fixture, pages)
  console.log(`in one batch: accepted ${rate(pages.length, begun)} documents/s`)
  check('documents that were there before', first.filter((line) => line.already_existed).length, 0)
  await tellIndexed(fixture, begun, searching)
  const rows = (await fixture.figures()).index.rows
  const disk = await tellSize(fixture, 'filled')
  await again(fixture, rows)
  await change(fixture)
  await remove(fixture)
  const left = await tellSize(fixture, 'in the end')
  note('walk, index in the end over filled', left / disk)
  console.log(`index in the end / filled: ${(left / disk).toFixed(2)}`)
  await fixture.close()
}

/** All of them once more: nothing is to be done. */
async function again(fixture: Fixture, rows: number): Promise<void> {
  const begun = performance.now()
  const lines = await post(fixture, pages)
  console.log(`all again: ${rate(pages.length, begun)} documents/s`)
  check('documents that were there before', lines.filter((line) => line.already_existed).length, pages.length)
  const { queue_depth, index } = await fixture.figures()
  check('documents to be indexed again', queue_depth, 0)
  check('rows of the index', index.rows, rows)
}

async function change(fixture: Fixture): Promise<void> {
  const begun = performance.now()
  const changed = pages
    .slice(0, entries)
    .map(({ id, text }, at) => ({ id, text: `${text}\n- Revised as revision${at}x.\n` }))
  await post(fixture, changed)
  await fixture.whenIdle()
  console.log(`${entries} changed: ${rate(entries, begun)} documents/s, searchable`)
  check('documents', (await fixture.figures()).documents.indexed, pages.length)
  const results = await Promise.all(
    [0, Math.floor(entries / 2), entries - 1].map((at) => fixture.call('POST', '/search', { query: `revision${at}x` })),
  )
  check('changed pages found by their new word', results.filter((text) => text.includes('Revised as')).length, 3)
}

async function remove(fixture: Fixture): Promise<void> {
  const begun = performance.now()
  const gone = pages.slice(-entries)
  await inParallel(clients, gone, ({ id }) =>
    fixture.call('DELETE', `/service-api/ingestion/${encodeURIComponent(id)}`),
  )
  console.log(`${entries} deleted: ${rate(entries, begun)} documents/s`)
  await (options.quick ? fixture.whenIdle() : fixture.tidied())
  const { documents, index } = await fixture.figures()
  check('documents', documents.indexed, pages.length - entries)
  check('failed', documents.failed + documents.pending + documents.indexing, 0)
  // The index must contain exactly the chunks in the listing of the first pair.
  const listing: unknown = JSON.parse(await fixture.call('GET', '/service-api/connector-docs/1'))
  check('documents listed', Array.isArray(listing) ? listing.length : -1, pages.length - entries)
  console.log(`rows of the index: ${index.rows}`)
}

interface BatchLine {
  readonly status: number
  readonly already_existed?: boolean
}

async function post(fixture: Fixture, entries: readonly Page[]): Promise<BatchLine[]> {
  const body = entries.map((page) => `${JSON.stringify(toBody(page))}\n`).join('')
  const lines = (await fixture.call('POST', '/service-api/ingestion/batch', body)).trim().split('\n')
  // The server has just started.
  const answers = lines.map((line) => JSON.parse(line) as BatchLine)
  check('lines accepted', answers.filter((line) => line.status === 200).length, entries.length)
  return answers
}

/** Waits until all is searchable; returns how long that took, and the times of searches meanwhile and afterwards. */
async function tellIndexed(fixture: Fixture, begun: number, searching: Searching): Promise<void> {
  await fixture.whenIdle()
  const { documents, index } = await fixture.figures()
  const seconds = (performance.now() - begun) / 1000
  note('walk, searchable documents/s', pages.length / seconds)
  console.log(
    `  searchable: ${Math.round(pages.length / seconds)} documents/s, ${Math.round(index.rows / seconds)} chunks/s ` +
      `(${index.rows} chunks in ${seconds.toFixed(1)} s)`,
  )
  check('documents indexed', documents.indexed, pages.length)
  console.log(timesLine('  search meanwhile', await searching.end()))
  if (!options.quick) await fixture.tidied()
  const after: number[] = []
  const quiet = searchUntil(fixture, () => after.push(0) > (options.quick ? 10 : 200))
  console.log(timesLine('  search after', await quiet.done))
}

interface Searching {
  /** Times of all searches, sorted. */
  readonly done: Promise<readonly number[]>
  end(): Promise<readonly number[]>
}

/** Searches one after the other, at most ten per second, until stopped. */
function searchUntil(fixture: Fixture, isOver: () => boolean): Searching {
  let isEnding = false
  const run = async (): Promise<readonly number[]> => {
    const times: number[] = []
    for (let at = 0; !isEnding && !isOver(); at++) {
      const query = [7919, 104_729, 1_299_709].map((step) => words[(at * step) % words.length]).join(' ')
      const begun = performance.now()
      await fixture.call('POST', '/search', { query })
      times.push(performance.now() - begun)
      await delay(50)
    }
    // The first one loads the engine.
    return times.slice(1).toSorted((left, right) => left - right)
  }
  const done = run()
  return {
    done,
    end: () => {
      isEnding = true
      return done
    },
  }
}

async function tellSize(fixture: Fixture, when: string): Promise<number> {
  const [disk, resident] = [fixture.diskBytes(), await fixture.residentBytes()]
  console.log(`${when}: ${mega(disk.all)} on disk, ${mega(disk.index)} of it the index; ${mega(resident)} resident`)
  return disk.index
}

function check(what: string, is: number, should: number): void {
  if (is !== should) wrong++
  console.log(`  ${is === should ? 'exact' : 'WRONG'}: ${what}: ${is}${is === should ? '' : `, not ${should}`}`)
}

function rate(count: number, begun: number): string {
  return String(Math.round((count / (performance.now() - begun)) * 1000))
}

function mega(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}
