/**
 * Derives the table of docs/8.sizes.md from measured points, and holds the model against the largest measured
 * point of each engine, which it has not seen: `npm run -w test/rigs docs:sizes`.
 *
 * `test/rigs/million/measured.jsonl` has a line for each point, as `npm run -w test/rigs bench:million -- --out` writes them.
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
}

/** In milliseconds; `cpu` is the median of the processor time, where it was measured. */
type Searches = Readonly<Record<string, { readonly p50: number; readonly p95: number; readonly cpu?: number }>>

/** Figures of one size. */
interface Need {
  readonly memory: number
  readonly disk: number
  readonly text: number
  readonly hybrid: number
}

const quantities = ['memory', 'disk', 'text', 'hybrid'] as const
const sizes = [1e5, 1e6, 1e7, 1e9]
/** Sizes at which each kind of search is shown. */
const filterSizes = [1e5, 1e6]
/** The model may be wrong by this factor at the largest measured size. */
const tolerance = 2.5
const page = 'docs/8.sizes.md'

const lines = readFileSync(join(import.meta.dirname, 'million/measured.jsonl'), 'utf8')
  .trim()
  .split('\n')
const points = Map.groupBy(
  lines.map((line): Point => JSON.parse(line)),
  ({ engine }) => engine,
)
const rows = [...points].flatMap(([engine, measured]) => {
  const sorted = measured.toSorted((a, b) => a.rows - b.rows)
  check(engine, sorted)
  return sizes.map((size) => rowOf(engine, sorted, size))
})
const head = ['engine', 'chunks', 'memory', 'disk', 'chunks/s', 'text p50', 'hybrid p50']
const tables: Readonly<Record<string, string>> = {
  sizes: tableOf(head, rows),
  filters: tableOf(
    ['engine', 'search', ...filterSizes.map((size) => size.toLocaleString('en')), 'factor', 'processor time'],
    [...points].flatMap(([engine, measured]) => filterRows(engine, measured)),
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
  return Object.keys(large).map((search) => {
    const times = both.map(({ [search]: time }) => (time ? `${rounded(time.p50)} / ${rounded(time.p95)} ms` : '-'))
    const [before, after] = [small[search], large[search]!]
    const factor = (after.p50 / (before?.p50 ?? NaN)).toFixed(1)
    const cpu = before?.cpu && after.cpu ? `${rounded(before.cpu)}, ${rounded(after.cpu)} ms` : '-'
    return [engine, search, ...times, factor, cpu]
  })
}

function needOf(point: Point): Need {
  const { memory, disk, searches } = point
  return { memory, disk, text: searches['text, no filter']!.p50, hybrid: searches['hybrid, no filter']!.p50 }
}

/** Each quantity grows with a power of the chunks between the two largest points given; disk with the chunks themselves. */
function modelOf(measured: readonly Point[]): (size: number) => Need {
  const [before, last] = measured.slice(-2)
  if (!before || !last) throw new Error('a model needs two points')
  const [small, large] = [needOf(before), needOf(last)]
  return (size) => {
    const grown = (name: keyof Need): number => {
      const exponent = name === 'disk' ? 1 : Math.log(large[name] / small[name]) / Math.log(last.rows / before.rows)
      return large[name] * (size / last.rows) ** Math.min(1, Math.max(0, exponent))
    }
    return { memory: grown('memory'), disk: grown('disk'), text: grown('text'), hybrid: grown('hybrid') }
  }
}

function check(engine: string, measured: readonly Point[]): void {
  const largest = measured.at(-1)!
  if (measured.length < 3) return console.log(`${engine}: two points, so nothing to hold the model against`)
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
  if (size > 10 * measured.at(-1)!.rows)
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
