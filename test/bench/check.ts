/**
 * Runs every benchmark of `test/bench` with `--quick`, one after the other: each has to end with its figures, all of them numbers above
 * 0. Then prints the ratios of relay, ingestion and search beside those of the baseline, and names those that are more
 * than 10 % worse. Speed fails nothing: quick runs differ by more than that on a busy machine.
 *
 *   npm run check:benches [-- --only relay,search | --rigs] [--write-baseline]
 *
 * `--rigs` runs those of `test/rigs` instead, but the table, which runs others.
 * `--write-baseline` keeps the ratios of this run as the baseline: on a quiet machine, after a change that was meant to
 * move them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { note, type Figure } from './figures.ts'
import { benchNames, rigNames, runBench } from './run-bench.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rigs: { type: 'boolean', default: false },
    'write-baseline': { type: 'boolean', default: false },
  },
})
const root = join(import.meta.dirname, '../..')
const baselineFile = join(root, 'docs/4.inside/bench-baseline.json')
/** Whatever hangs is ended. */
const timeoutMs = 120_000
/** Benchmarks whose ratios have a baseline. */
const compared = ['relay', 'ingestion', 'search']

/** Benchmarks whose figures `npm run check:figures` prints. */
const weighed = ['hops', 'tokens']

/** A ratio that is worse by more than this is named. */
const worseFactor = 1.1

interface Baseline {
  readonly command: string
  readonly date: string
  readonly cores: number
  /** Processes that wanted a core when the run began; below 1 on a quiet machine. */
  readonly load: number
  readonly ratios: Readonly<Record<string, number>>
}

const load = loadavg()[0] ?? 0
const wanted = options.only?.split(',')
const offered = options.rigs ? rigNames.filter((name) => name !== 'table') : benchNames
const benches = wanted ? [...benchNames, ...rigNames].filter((name) => wanted.includes(name)) : offered
const ratios: Record<string, number> = {}
let failures = 0
for (const name of benches) {
  const begun = performance.now()
  const { code, output, figures } = await runBench(name, ['--quick'], timeoutMs)
  const faults = faultsOf(code, output, figures)
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  console.log(`bench:${name}: ${faults.length === 0 ? `${figures.length} figures` : faults.join('; ')} (${seconds} s)`)
  for (const line of output.match(/^left out by --quick: .*$/gm) ?? []) console.log(`  ${line}`)
  if (faults.length > 0) {
    failures++
    console.log(output)
  }
  if (weighed.includes(name)) for (const figure of figures) note(figure.name, figure.value)
  if (compared.includes(name)) for (const figure of figures) if (isRatio(figure)) ratios[figure.name] = figure.value
}
printBeside()
if (options['write-baseline'] && failures === 0) writeBaseline()
console.log(`${benches.length - failures} of ${benches.length} benchmarks ended with their figures`)
process.exitCode = failures > 0 || benches.length === 0 ? 1 : 0

function faultsOf(code: number, output: string, figures: readonly Figure[]): string[] {
  // Nothing may block for a whole millisecond; every other figure is above 0.
  const isFigure = ({ name, value }: Figure): boolean =>
    typeof value === 'number' && (value > 0 || (value === 0 && name.includes('longest block')))
  const wrong = figures.filter((figure) => !isFigure(figure))
  return [
    ...(code === 0 ? [] : [`ended with ${code}`]),
    ...(figures.length > 0 ? [] : ['told no figure']),
    ...wrong.map(({ name, value }) => `${name} is ${value}`),
    ...(/\b(?:NaN|Infinity|undefined)\b/.test(output) ? ['printed something that is no number'] : []),
  ]
}

function isRatio({ name }: Figure): boolean {
  return /\bover\b/.test(name)
}

function printBeside(): void {
  const baseline = existsSync(baselineFile) ? (JSON.parse(readFileSync(baselineFile, 'utf8')) as Baseline) : undefined
  const names = Object.keys(ratios)
  if (names.length === 0) return
  const width = Math.max(...names.map((name) => name.length))
  const cell = (value: number | undefined): string => (value === undefined ? '-' : value.toFixed(2)).padStart(9)
  const origin = baseline ? `${baseline.date}, ${baseline.cores} cores, load ${baseline.load}` : 'there is none'
  console.log(`\n${'ratio'.padEnd(width)}       now  baseline   (baseline: ${origin}; load now ${load.toFixed(2)})`)
  const worse: string[] = []
  for (const name of names) {
    const before = baseline?.ratios[name]
    const factor = before === undefined || isOfPeer(name) ? 1 : worseBy(name, ratios[name]!, before)
    const percent = Math.round((factor - 1) * 100)
    if (factor > worseFactor) worse.push(`${name}: ${percent} % worse than the baseline`)
    console.log(
      `${name.padEnd(width)} ${cell(ratios[name])} ${cell(before)}${factor > worseFactor ? `   ${percent} % worse` : ''}`,
    )
  }
  console.log()
  if (!baseline) return
  if (worse.length === 0) return console.log('no ratio is more than 10 % worse than its baseline\n')
  const isBusy = Math.max(load, loadavg()[0] ?? 0) > 1
  console.log(`MORE THAN 10 % WORSE, ${isBusy ? 'on a busy machine, where these say little' : 'on a quiet machine'}:`)
  console.log(`${worse.map((line) => `  ${line}`).join('\n')}`)
  console.log('  Repeat with --only; if it stays, the commit that did it says why.\n')
}

/** Above 1 when a ratio is worse than it was. Rates are better when they are higher, times when they are lower. */
function worseBy(name: string, now: number, before: number): number {
  return isRate(name) ? before / now : now / before
}

function isRate(name: string): boolean {
  return /^ingestion, (?:indexing|embedding) over/.test(name)
}

/** Whether a ratio is that of another library, which no change here makes worse. */
function isOfPeer(name: string): boolean {
  return /^relay, (?:mastra|ai):/.test(name)
}

function writeBaseline(): void {
  const baseline: Baseline = {
    command: 'npm run check:benches -- --write-baseline',
    date: new Date().toISOString().slice(0, 10),
    cores: availableParallelism(),
    load: Number(load.toFixed(2)),
    ratios: Object.fromEntries(Object.entries(ratios).map(([name, value]) => [name, Number(value.toFixed(3))])),
  }
  writeFileSync(baselineFile, `${JSON.stringify(baseline, undefined, 2)}\n`)
}
