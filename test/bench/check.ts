/**
 * Runs every benchmark with `--quick`, one after the other: each has to end with its figures, all of them numbers above
 * 0. Then prints the ratios of relay, ingestion and search beside those of the baseline, and names those that are more
 * than 10 % worse. Speed fails nothing: quick runs differ by more than that on a busy machine.
 *
 *   npm run check:benches [-- --only relay,search] [--write-baseline]
 *
 * `--write-baseline` keeps the ratios of this run as the baseline: on a quiet machine, after a change that was meant to
 * move them.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Figure } from './figures.ts'

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, 'write-baseline': { type: 'boolean', default: false } },
})
const root = join(import.meta.dirname, '../..')
const baselineFile = join(root, 'docs/4.inside/bench-baseline.json')
/** Whatever hangs is ended. */
const timeoutMs = 120_000
/** Benchmarks whose ratios have a baseline. */
const compared = ['relay', 'ingestion', 'search']

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

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const load = loadavg()[0] ?? 0
const wanted = options.only?.split(',')
const benches = Object.keys(scripts)
  .filter((name) => name.startsWith('bench:'))
  .map((name) => name.slice('bench:'.length))
  .filter((name) => wanted?.includes(name) ?? true)
const folder = mkdtempSync(join(tmpdir(), 'inlay-benches-'))
const ratios: Record<string, number> = {}
let failures = 0
try {
  for (const name of benches) {
    const begun = performance.now()
    const { code, output, figures } = await run(name)
    const faults = faultsOf(code, output, figures)
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    console.log(
      `bench:${name}: ${faults.length === 0 ? `${figures.length} figures` : faults.join('; ')} (${seconds} s)`,
    )
    for (const line of output.match(/^left out by --quick: .*$/gm) ?? []) console.log(`  ${line}`)
    if (faults.length > 0) {
      failures++
      console.log(output)
    }
    if (compared.includes(name)) for (const figure of figures) if (isRatio(figure)) ratios[figure.name] = figure.value
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
printBeside()
if (options['write-baseline'] && failures === 0) writeBaseline()
console.log(`${benches.length - failures} of ${benches.length} benchmarks ended with their figures`)
process.exitCode = failures > 0 || benches.length === 0 ? 1 : 0

/** Runs the command of the npm script, without its installation step. */
async function run(name: string): Promise<{ code: number; output: string; figures: Figure[] }> {
  const [, ...args] = scripts[`bench:${name}`]!.split('&&').at(-1)!.trim().split(' ')
  const file = join(folder, `${name}.jsonl`)
  const child = spawn(process.execPath, [...args, '--quick'], {
    cwd: root,
    env: { ...process.env, INLAY_BENCH_FIGURES: file },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const timer = setTimeout(() => {
    output += `\nended after ${timeoutMs / 1000} s`
    child.kill('SIGKILL')
  }, timeoutMs)
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? 1)))
  clearTimeout(timer)
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return { code, output, figures: lines.map((line) => JSON.parse(line) as Figure) }
}

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
