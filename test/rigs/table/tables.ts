/** The rows of the table with the figures of the runs, for the terminal and for the page. */
import { parts, type Part, type Read, type Row, type Shown } from './rows.ts'

/** What one benchmark gave in one run, as a line of `measured.jsonl`. */
export interface Line {
  readonly run: number
  readonly step: string
  readonly command: string
  /** Of its beginning, in UTC. */
  readonly date: string
  readonly commit: string
  readonly node: string
  readonly cores: number
  readonly seconds: number
  /** Processes that wanted a core in the last minute, before and after. */
  readonly load: readonly [number, number]
  /** Share of the cores that others kept busy in the second before. */
  readonly busy: number
  readonly figures: Readonly<Record<string, number>>
}

/** A row with its values. */
interface FilledRow {
  readonly row: Row
  /** In order of the runs; those without the figure are left out. */
  readonly values: readonly number[]
  readonly median: number
  readonly verdict: string
  readonly beside: string
}

/** The tables as Markdown, one for each part. */
export function toMarkdown(lines: readonly Line[]): string {
  const reads = readsOf(lines)
  const head = '| what | least it could cost | each run | median | bar | beside it |\n|---|---|---|---|---|---|'
  return parts
    .map((part) => ({ part, filled: filledRowsOf(part, reads) }))
    .filter(({ filled }) => filled.length > 0)
    .map(({ part, filled }) =>
      [
        `### ${part.title}\n\n${part.size}.\n\n${head}`,
        ...filled.map((each) => `| ${cellsOf(each).join(' | ')} |`),
      ].join('\n'),
    )
    .join('\n\n')
}

/** The tables for the terminal. */
export function toText(lines: readonly Line[]): string {
  const reads = readsOf(lines)
  return parts
    .flatMap((part) => {
      const filled = filledRowsOf(part, reads)
      if (filled.length === 0) return []
      const rows = filled.map(({ row, values, median, verdict, beside }) => {
        const runs = values.map((value) => shown(value, row.unit)).join(', ')
        return `  ${row.what.padEnd(58)} ${shown(median, row.unit).padStart(9)}  ${verdict.padEnd(18)} (${runs}) ${beside}`
      })
      return [`\n${part.title}`, ...rows]
    })
    .join('\n')
}

/** Figures that the benchmarks of these lines should have given, and did not. */
export function missingIn(lines: readonly Line[]): readonly string[] {
  const reads = readsOf(lines)
  return parts.flatMap(({ rows }) =>
    rows.filter((row) => !reads.some((read) => Number.isFinite(row.of(read)))).map(({ what }) => what),
  )
}

function cellsOf({ row, values, median, verdict, beside }: FilledRow): readonly string[] {
  const runs = values.map((value) => shown(value, row.unit)).join(', ')
  return [row.what, row.limit, runs, `**${shown(median, row.unit)}**`, verdict, beside]
}

function readsOf(lines: readonly Line[]): readonly Read[] {
  return [...Map.groupBy(lines, ({ run }) => run).entries()]
    .toSorted(([a], [b]) => a - b)
    .map(([, ofRun]) => {
      const figures = Object.assign({}, ...ofRun.map((line) => line.figures)) as Readonly<Record<string, number>>
      return (name) => figures[name] ?? Number.NaN
    })
}

function filledRowsOf({ rows }: Part, reads: readonly Read[]): readonly FilledRow[] {
  return rows.flatMap((row) => {
    const values = valuesOf(row, reads)
    if (values.length === 0) return []
    const beside = Object.entries(row.beside ?? {}).flatMap(([name, each]) => {
      const others = valuesOf(each, reads)
      return others.length === 0 ? [] : [`${name} ${shown(medianOf(others), each.unit)}`]
    })
    const median = medianOf(values)
    return [{ row, values, median, verdict: verdictOf(row, median), beside: beside.join(', ') }]
  })
}

function valuesOf({ of }: Shown, reads: readonly Read[]): readonly number[] {
  return reads.map(of).filter(Number.isFinite)
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

function verdictOf({ bar, unit }: Row, median: number): string {
  if (!bar) return '-'
  const [sign, limit, holds] =
    'atMost' in bar ? ['≤', bar.atMost, median <= bar.atMost] : ['≥', bar.atLeast, median >= bar.atLeast]
  return `${sign} ${limit.toLocaleString('en')}${unit === '×' ? '' : unitOf(unit)}: ${holds ? 'holds' : 'misses'}`
}

function shown(value: number, unit: string): string {
  const rounded =
    Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(unit === '×' && value >= 1 ? 3 : 2))
  return `${rounded.toLocaleString('en')}${unitOf(unit)}`
}

function unitOf(unit: string): string {
  return unit.startsWith('/') ? unit : ` ${unit}`
}
