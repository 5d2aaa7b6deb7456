/**
 * Compares the answers of the built-in model with those of the last release, on the same questions:
 *
 *   INLAY_BENCH_CORPORA=<folder> npm run -w test/rigs check:release-quality [-- --release <tag or commit>] [<set> …]
 *
 * Runs `bench:answers` here and in a checkout of the release. Ends with 1 if a figure of an untuned set is lower by more
 * than .02. Without the folder of corpora, both answer the made-up questions of `--quick`, which find only gross faults.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Figure } from '../bench/figures.ts'

/** A figure may fall by this much without a failure: one question of fifty. */
const tolerance = 0.02
const { values: options, positionals: sets } = parseArgs({
  allowPositionals: true,
  options: { release: { type: 'string' } },
})
const root = join(import.meta.dirname, '../..')
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

const release = options.release ?? lastRelease()
if (release === undefined) {
  console.log('There is no release yet (no tag that begins with v), so there is nothing to compare with.')
  process.exit(0)
}
const folder = mkdtempSync(join(tmpdir(), 'inlay-release-'))
const checkout = join(folder, 'checkout')
try {
  git('worktree', 'add', '--detach', checkout, release)
  run(checkout, 'npm', ['ci', '--silent', '--ignore-scripts'])
  const before = measure(checkout, 'before')
  const after = measure(root, 'after')
  const lower = after.filter(({ name, value }) => value < (valueIn(before, name) ?? 0) - tolerance)
  console.log(`\n| figure | ${release} | now |\n|---|---|---|`)
  for (const { name, value } of after)
    console.log(`| ${name} | ${valueIn(before, name)?.toFixed(3) ?? '-'} | ${value.toFixed(3)} |`)
  for (const { name } of lower) console.log(`Lower than in ${release}: ${name}`)
  if (after.length === 0) console.error('The benchmark gave no figures.')
  process.exitCode = lower.length > 0 || after.length === 0 ? 1 : 0
} finally {
  if (existsSync(checkout)) git('worktree', 'remove', '--force', checkout)
  rmSync(folder, { recursive: true, force: true })
}

function lastRelease(): string | undefined {
  return git('tag', '--list', 'v*', '--sort=-version:refname').split('\n')[0] || undefined
}

function run(cwd: string, command: string, args: readonly string[], env: Record<string, string> = {}): void {
  const { status, error } = spawnSync(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status} in ${cwd}`)
}

/** The figures of untuned sets. */
function measure(cwd: string, name: string): readonly Figure[] {
  const file = join(folder, `${name}.jsonl`)
  const quick = process.env['INLAY_BENCH_CORPORA'] ? [] : ['--quick']
  run(
    cwd,
    process.execPath,
    ['--conditions=@inlay/source', 'test/bench/answers.ts', ...(sets.length > 0 ? sets : untunedSets()), ...quick],
    { INLAY_BENCH_FIGURES: file },
  )
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return lines.map((line) => JSON.parse(line) as Figure)
}

/** Sets that no rule was made with; [] for the made-up one. */
function untunedSets(): readonly string[] {
  return process.env['INLAY_BENCH_CORPORA'] ? ['code-chunks', 'stackfaq'] : []
}

function valueIn(figures: readonly Figure[], name: string): number | undefined {
  return figures.find((figure) => figure.name === name)?.value
}
