import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Figure } from './figures.ts'

const root = join(import.meta.dirname, '../..')
type Scripts = Readonly<Record<string, string>>
const scripts = scriptsOf('package.json')
const rigs = scriptsOf('test/rigs/package.json')

/** Names of the benchmarks of each pull request, without `bench:`. */
export const benchNames = Object.keys(scripts)
/** Names of those that are run by hand or at night. */
export const rigNames = Object.keys(rigs)

function scriptsOf(file: string): Scripts {
  const manifest = JSON.parse(readFileSync(join(root, file), 'utf8')) as { readonly scripts: Scripts }
  const benches = Object.entries(manifest.scripts).filter(([name]) => name.startsWith('bench:'))
  return Object.fromEntries(benches.map(([name, script]) => [name.slice('bench:'.length), script]))
}

/** How a benchmark ended. */
export interface BenchRun {
  readonly code: number
  readonly output: string
  readonly figures: readonly Figure[]
}

/** Runs the command of the npm script, without its installation step, in a process of its own. */
export async function runBench(name: string, args: readonly string[], timeoutMs: number): Promise<BenchRun> {
  const [, ...command] = (scripts[name] ?? rigs[name]!).split('&&').at(-1)!.trim().split(' ')
  const folder = mkdtempSync(join(tmpdir(), 'inlay-benches-'))
  const file = join(folder, 'figures.jsonl')
  try {
    const child = spawn(process.execPath, [...command, ...args], {
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
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
