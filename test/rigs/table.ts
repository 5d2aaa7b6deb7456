/**
 * Fills the table of speed: runs the benchmarks that its rows read, one after the other, each in a process of its own, as
 * often as asked, and says which bars hold.
 *
 *   npm run -w test/rigs bench:table -- [--runs 3] [--only relay,ingestion] [--out docs/4.inside/7.speed.md] [--add] [--quick]
 *
 * With `--out` the figures go to `test/rigs/table/measured.jsonl` as each benchmark ends, and from there into the page,
 * between its marks. Figures of the benchmarks that run now are replaced; `--add` keeps them and counts the runs on.
 * `--runs 0 --out …` writes the page anew from the figures that are there. `--quick` runs each benchmark once with
 * its own `--quick`, to see that it works; nothing is recorded.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { note } from '../bench/figures.ts'
import { runBench } from '../bench/run-bench.ts'
import { stepsOf, type Step } from './table/rows.ts'
import { missingIn, toMarkdown, toText, type Line } from './table/tables.ts'

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string' },
    only: { type: 'string' },
    out: { type: 'string' },
    add: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
const timeoutMs = 15 * 60_000
const root = join(import.meta.dirname, '../..')
const recordFile = join(import.meta.dirname, 'table/measured.jsonl')
const wanted = options.only?.split(',')
const isChosen = ({ bench }: Step): boolean => wanted?.includes(bench) ?? true
const runs = Number(options.runs ?? (options.quick ? 1 : 3))
// Before the first figure is recorded, which changes a file.
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' }).trim()
const page = options.quick ? undefined : options.out
const marks = /(<!-- table -->\n)[^]*?(<!-- end -->)/
if (page !== undefined && !marks.test(readFileSync(page, 'utf8')))
  throw new Error(`No marks for the tables in ${page}.`)

const recorded = page !== undefined && existsSync(recordFile) ? linesOf(recordFile) : []
const measured: Line[] = []
const failures: string[] = []
const before = options.add ? Math.max(0, ...recorded.map(({ run }) => run)) : 0
for (let run = before + 1; run <= before + runs; run++)
  for (const step of stepsOf(run).filter(isChosen)) await measure(step, run)

const lines = allLines()
console.log(toText(lines))
if (page !== undefined) writePage(page, lines)
const missing = wanted === undefined && !options.quick ? missingIn(lines) : []
for (const what of missing) console.log(`no figure: ${what}`)
for (const failure of failures) console.log(`failed: ${failure}`)
note(
  'table, figures',
  lines.reduce((sum, { figures }) => sum + Object.keys(figures).length, 0),
)
process.exitCode = failures.length + missing.length > 0 ? 1 : 0

async function measure({ name, bench, args }: Step, run: number): Promise<void> {
  const given = options.quick ? ['--quick'] : (args?.split(' ') ?? [])
  const busy = await busyShare()
  const load = loadNow()
  const begun = performance.now()
  const date = new Date().toISOString()
  const { code, output, figures } = await runBench(bench, given, timeoutMs)
  const line: Line = {
    run,
    step: name,
    command: ['npm run', `bench:${bench}`, ...(given.length > 0 ? ['--', ...given] : [])].join(' '),
    date,
    commit,
    node: process.version,
    cores: availableParallelism(),
    seconds: Math.round((performance.now() - begun) / 1000),
    load: [load, loadNow()],
    busy,
    figures: Object.fromEntries(figures.map(({ name, value }) => [name, rounded(value)])),
  }
  console.log(
    `run ${run}, ${line.command}: ${figures.length} figures, ${line.seconds} s, load ${line.load.join(' to ')}, ` +
      `${Math.round(busy * 100)} % busy before`,
  )
  if (code !== 0 || figures.length === 0) {
    failures.push(`run ${run}, ${line.command}: ended with ${code}`)
    return console.log(output)
  }
  if (/saturated/.test(output)) console.log('  the machine was saturated under some load of it')
  measured.push(line)
  if (page === undefined) return
  const lines = allLines()
  writeFileSync(recordFile, lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
  // A run that is stopped leaves what it has.
  writePage(page, lines)
}

/** Recorded figures that were not measured again, and those of now. */
function allLines(): readonly Line[] {
  const kept = recorded.filter(({ step }) => options.add || measured.every((line) => line.step !== step))
  return [...kept, ...measured]
}

/** Share of all cores that is in use while this process waits for a second. */
async function busyShare(): Promise<number> {
  const [idleBefore, allBefore] = coreTimes()
  await delay(1000)
  const [idle, all] = coreTimes()
  return rounded(1 - (idle - idleBefore) / Math.max(1, all - allBefore))
}

function coreTimes(): readonly [idle: number, all: number] {
  const times = cpus().map((core) => core.times)
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  return [sum(times.map(({ idle }) => idle)), sum(times.flatMap((each) => Object.values(each)))]
}

function writePage(page: string, lines: readonly Line[]): void {
  const of = (pick: (line: Line) => string | number): string => [...new Set(lines.map(pick))].join(', ')
  const busiest = Math.max(...lines.map(({ busy }) => busy))
  const origin =
    `Measured by \`npm run -w test/rigs bench:table\` on ${of(({ date }) => date.slice(0, 10))}, commit ${of(({ commit }) => commit)}, ` +
    `Node ${of(({ node }) => node)}, ${of(({ cores }) => cores)} cores; others kept at most ${Math.round(busiest * 100)} % of them busy before a benchmark.`
  const text = readFileSync(page, 'utf8')
  const tables = `<!-- table -->\n\n${origin}\n\n${toMarkdown(lines)}\n\n<!-- end -->`
  writeFileSync(
    page,
    text.replace(marks, () => tables),
  )
}

function linesOf(file: string): readonly Line[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
}

function loadNow(): number {
  return rounded(loadavg()[0] ?? 0)
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
