/**
 * Derives the tables of docs/8.sizes.md from measured points, and holds the model against the largest measured
 * point of each engine, which it has not seen: `npm run -w test/rigs docs:sizes`.
 *
 * `test/rigs/million/measured.jsonl` has a line for each point, as `npm run -w test/rigs bench:million -- --out` writes them,
 * and `records.jsonl` beside it those of `bench:records`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Point {
  readonly engine: string
  readonly rows: number
  readonly rate: number
  readonly memory: number
  readonly disk: number
  /** By kind and filter. */
  readonly searches: Searches
  /** Many searches at once. */
  readonly searchers?: readonly { kind: string; count: number; rate: number; p50: number; p95: number }[]
}

/** Records of so many messages, and of as many documents and audit events. */
interface RecordPoint {
  readonly on: 'sqlite' | 'postgres'
  readonly size: number
  readonly rate: number
  readonly bytes: Readonly<Record<'documents' | 'conversations' | 'audit', number>>
  readonly turnRate: number
  readonly turnBytes: number
  readonly times: Searches
}

/** In milliseconds. */
type Searches = Readonly<Record<string, { readonly p50: number; readonly p95: number }>>

/** Figures of one size. */
interface Need {
  readonly memory: number
  readonly disk: number
  readonly text: number
  readonly hybrid: number
}

const quantities = ['memory', 'disk', 'text', 'hybrid'] as const
const sizes = [1e5, 1e6, 1e7, 1e8, 1e9]
/** Sizes at which each kind of search is shown. */
const filterSizes = [1e5, 1e6]
const searcherCounts = [1, 10, 50, 200]
/** What people do: turns of each on a working day, the share of the busiest hour, and how long an answer takes. */
const [dailyTurns, busiestHour, workingDays, answerSeconds, answerTokens] = [10, 0.2, 250, 15, 300]
/** Of docs/4.inside/7.speed.md: processor time of a token among 200 answers, and memory of an answer and of a process. */
const [tokenSeconds, answerBytes, processBytes] = [48e-6, 1e6, 300e6]
/** Chunks of a document, and bytes of one in the graph of its vectors. */
const [documentChunks, graphBytes] = [3, 1_800]
const buyers = [
  { people: 100, chunks: 1e5, engine: 'LanceDB', on: 'sqlite', least: 1 },
  { people: 5_000, chunks: 1e6, engine: 'pgvector', on: 'postgres', least: 2 },
  { people: 100_000, chunks: 1e7, engine: 'OpenSearch', on: 'postgres', least: 3 },
] as const
/** The model may be wrong by this factor at the largest measured size. */
const tolerance = 2.5
const page = 'docs/8.sizes.md'

const linesOf = (file: string): string[] =>
  readFileSync(join(import.meta.dirname, 'million', file), 'utf8')
    .trim()
    .split('\n')
const points = Map.groupBy(
  linesOf('measured.jsonl').map((line): Point => JSON.parse(line)),
  ({ engine }) => engine,
)
const records = Map.groupBy(
  linesOf('records.jsonl').map((line): RecordPoint => JSON.parse(line)),
  ({ on }) => on,
)
const names = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const
const rows = [...points].flatMap(([engine, measured]) => {
  const sorted = measured.toSorted((a, b) => a.rows - b.rows)
  check(engine, sorted)
  return sizes.map((size) => rowOf(engine, sorted, size))
})
const head = ['engine', 'chunks', 'memory', 'disk', 'chunks/s', 'text p50', 'hybrid p50']
const tables: Readonly<Record<string, string>> = {
  sizes: tableOf(head, rows),
  filters: tableOf(
    ['engine', 'search', ...filterSizes.map((size) => size.toLocaleString('en')), 'factor'],
    [...points].flatMap(([engine, measured]) => filterRows(engine, measured)),
  ),
  searchers: tableOf(
    ['engine', 'search', ...searcherCounts.map((count) => `${count} at once`)],
    [...points].flatMap(([engine, measured]) => searcherRows(engine, measured)),
  ),
  records: tableOf(
    ['database', 'of each', 'documents', 'audit events', 'turns', 'filled, records/s'],
    [...records.values()].flatMap(recordRows),
  ),
  calls: tableOf(
    [
      'call',
      ...[...records].flatMap(([on]) => [
        ...filterSizes.map((size) => `${names[on]}, ${size.toLocaleString('en')}`),
        'factor',
      ]),
    ],
    callRows(),
  ),
  machines: tableOf(
    [
      'people',
      'chunks',
      'turns/s',
      'answers at once',
      'cores busy',
      'vCPU',
      'memory',
      'disk',
      'more each year',
      'connections',
    ],
    buyers.map(machineRow),
  ),
}
let text = readFileSync(page, 'utf8')
for (const [name, table] of Object.entries(tables))
  text = text.replace(new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`), `$1\n${table}\n\n$2`)
writeFileSync(page, text)

function tableOf(columns: readonly string[], cells: readonly (readonly string[])[]): string {
  return [columns, columns.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** Median and 95th percentile of each kind of search at both sizes. */
function filterRows(engine: string, measured: readonly Point[]): string[][] {
  const both = filterSizes.map((size) => measured.find((point) => point.rows === size)?.searches ?? {})
  const [small = {}, large = {}] = both
  return Object.keys({ ...small, ...large }).map((search) => {
    const times = both.map(({ [search]: time }) => timeOf(time))
    return [engine, search, ...times, factorOf(small[search], large[search])]
  })
}

function timeOf(time: Searches[string] | undefined): string {
  return time ? `${rounded(time.p50)} / ${rounded(time.p95)} ms` : '-'
}

function factorOf(small: Searches[string] | undefined, large: Searches[string] | undefined): string {
  return small && large ? (large.p50 / small.p50).toFixed(1) : '-'
}

function searcherRows(engine: string, measured: readonly Point[]): string[][] {
  const all = measured.find(({ rows, searchers }) => rows === 1e5 && searchers)?.searchers ?? []
  return ['text', 'hybrid'].flatMap((kind) => {
    const own = all.filter((searchers) => searchers.kind === kind)
    return own.length === 0 ? [] : [[engine, kind, ...own.map((each) => `${rounded(each.rate)}/s, ${timeOf(each)}`)]]
  })
}

/** Disk grows with the rows; what one takes at the largest size is held against what it took at the smallest. */
function recordRows(measured: readonly RecordPoint[]): string[][] {
  const [small, large] = [measured[0]!, measured.at(-1)!]
  for (const kind of ['documents', 'conversations', 'audit'] as const) {
    const factor = large.bytes[kind] / large.size / (small.bytes[kind] / small.size)
    console.log(
      `${names[large.on]}, bytes of ${kind} at ${large.size}: off by × ${Math.max(factor, 1 / factor).toFixed(2)}`,
    )
    if (Math.max(factor, 1 / factor) > tolerance) process.exitCode = 1
  }
  return sizes.map((size) => {
    const point = measured.find((each) => each.size === size)
    const of = (kind: 'documents' | 'audit'): string =>
      point ? `**${bytes(point.bytes[kind])}**` : bytes((large.bytes[kind] / large.size) * size)
    const [turns, rate] = [bytes(large.turnBytes * size), point ? `**${rounded(point.rate)}**` : '-']
    return [names[large.on], size.toLocaleString('en'), of('documents'), of('audit'), turns, rate]
  })
}

function callRows(): string[][] {
  const both = [...records.values()].map((measured) =>
    filterSizes.map((size) => measured.find((each) => each.size === size)?.times ?? {}),
  )
  return Object.keys(both[0]?.[0] ?? {}).map((call) => {
    const times = both.map((of) => of.map(({ [call]: time }) => time))
    return [call, ...times.flatMap(([small, large]) => [timeOf(small), timeOf(large), factorOf(small, large)])]
  })
}

/** What a buyer needs, by the figures above and the assumptions that stand above the table. */
function machineRow({ people, chunks, engine, on, least }: (typeof buyers)[number]): string[] {
  const [index, record] = [points.get(engine)!, records.get(on)!.at(-1)!]
  const { memory, disk, hybrid } = modelOf(index)(chunks)
  const atOnce = index
    .flatMap(({ searchers = [] }) => searchers)
    .findLast(({ kind, count }) => kind === 'hybrid' && count === 50)
  // Both cores were busy meanwhile; of one search at a time at most both.
  const turnSeconds =
    2 / record.turnRate + 2 * (atOnce ? 1 / atOnce.rate : hybrid / 1_000) + tokenSeconds * answerTokens
  const turns = (people * dailyTurns * busiestHour) / 3_600
  const busy = turns * turnSeconds
  const answers = turns * answerSeconds
  const processes = Math.max(least, Math.ceil(busy))
  // Of pgvector the graph is in the measured memory.
  const graph = engine === 'OpenSearch' ? chunks * graphBytes : 0
  const held = memory + graph + processes * processBytes + answers * answerBytes
  const yearly = people * dailyTurns * workingDays * record.turnBytes
  const documents = (chunks / documentChunks) * (record.bytes.documents / record.size + documentChunks * 600)
  const connections = on === 'postgres' ? processes * 10 * (engine === 'pgvector' ? 2 : 1) : 0
  const bought = [Math.max(2, 2 * processes), 2 ** Math.ceil(Math.log2((1.5 * held) / 1e9))]
  const figures = [rounded(turns), rounded(answers), rounded(busy), String(bought[0]), `${bought[1]} GB`]
  return [
    people.toLocaleString('en'),
    `${chunks.toLocaleString('en')} in ${engine}`,
    ...figures,
    bytes(disk + documents),
    bytes(yearly),
    String(connections),
  ]
}

function needOf(point: Point): Need {
  const { memory, disk, searches } = point
  return { memory, disk, text: searches['text, no filter']!.p50, hybrid: searches['hybrid, no filter']!.p50 }
}

/**
 * Each quantity grows with a power of the chunks between the two largest points given; disk, and all of a lone point, with
 * the chunks themselves.
 */
function modelOf(measured: readonly Point[]): (size: number) => Need {
  const last = measured.at(-1)!
  const before = measured.at(-2) ?? last
  const [small, large] = [needOf(before), needOf(last)]
  return (size) => {
    const grown = (name: keyof Need): number => {
      const exponent =
        name === 'disk' || before === last ? 1 : Math.log(large[name] / small[name]) / Math.log(last.rows / before.rows)
      return large[name] * (size / last.rows) ** Math.min(1, Math.max(0, exponent))
    }
    return { memory: grown('memory'), disk: grown('disk'), text: grown('text'), hybrid: grown('hybrid') }
  }
}

function check(engine: string, measured: readonly Point[]): void {
  const largest = measured.at(-1)!
  if (measured.length < 3) return console.log(`${engine}: too few points to hold the model against`)
  const [expected, seen] = [modelOf(measured.slice(0, -1))(largest.rows), needOf(largest)]
  for (const name of quantities) {
    const factor = Math.max(expected[name] / seen[name], seen[name] / expected[name])
    console.log(`${engine}, ${name} at ${largest.rows}: off by × ${factor.toFixed(2)}`)
    if (factor > tolerance) process.exitCode = 1
  }
}

function rowOf(engine: string, measured: readonly Point[], size: number): string[] {
  const point = measured.find((each) => each.rows === size)
  const { memory, disk, text, hybrid } = point ? needOf(point) : modelOf(measured)(size)
  const shown = (value: string): string => (point ? `**${value}**` : value)
  const rate = (point ?? measured.at(-1)!).rate
  // Ten times the largest measured size is as far as growth between two points can be followed.
  if (size > 10 * measured.at(-1)!.rows || (!point && measured.length < 2))
    return [engine, size.toLocaleString('en'), 'not calculated', bytes(disk), 'not calculated', '-', '-']
  const figures = [bytes(memory), bytes(disk), rounded(rate), `${rounded(text)} ms`, `${rounded(hybrid)} ms`]
  return [engine, size.toLocaleString('en'), ...figures.map(shown)]
}

function rounded(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString('en')
}

function bytes(value: number): string {
  if (value >= 1e12) return `${rounded(value / 1e12)} TB`
  return value >= 1e9 ? `${rounded(value / 1e9)} GB` : `${rounded(value / 1e6)} MB`
}
