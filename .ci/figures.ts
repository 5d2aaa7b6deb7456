/**
 * Prints the weight of the sources beside that of the last release: raw lines by package, and what the checks of this run
 * noted in INLAY_BENCH_FIGURES (files and functions of a message and a document, tokens of questions, packed sizes).
 *
 *   npm run check:figures [-- --write]
 *
 * `--write` keeps them as those of the last release: `npm run release` does it. A figure fails nothing; whoever makes one
 * worse says in the commit what it pays for.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure } from '../test/bench/figures.ts'

interface Release {
  readonly version: string
  readonly figures: Readonly<Record<string, number>>
}

const root = join(import.meta.dirname, '..')
const releaseFile = join(import.meta.dirname, 'figures.json')

const figures = { ...linesByPackage(), ...notedFigures() }
if (process.argv.includes('--write')) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }
  const release: Release = { version, figures }
  writeFileSync(releaseFile, `${JSON.stringify(release, undefined, 2)}\n`)
}
print(figures)

/** Raw lines of sources, blank ones and comments included. */
function linesByPackage(): Record<string, number> {
  const lines: Record<string, number> = {}
  for (const file of globSync('packages/*/src/**/*.{ts,tsx,css}', { cwd: root }).toSorted()) {
    const name = `lines, ${file.split(/[\\/]/)[1]}`
    lines[name] = (lines[name] ?? 0) + readFileSync(join(root, file), 'utf8').split('\n').length - 1
  }
  return { 'lines, all packages': Object.values(lines).reduce((sum, count) => sum + count, 0), ...lines }
}

function notedFigures(): Record<string, number> {
  const file = process.env['INLAY_BENCH_FIGURES']
  if (!file || !existsSync(file)) return {}
  const noted = readFileSync(file, 'utf8').trim().split('\n').filter(Boolean)
  return Object.fromEntries(noted.map((line) => JSON.parse(line) as Figure).map(({ name, value }) => [name, value]))
}

function print(now: Readonly<Record<string, number>>): void {
  const release = existsSync(releaseFile) ? (JSON.parse(readFileSync(releaseFile, 'utf8')) as Release) : undefined
  const width = Math.max(...Object.keys(now).map((name) => name.length))
  const cell = (text: string): string => text.padStart(12)
  console.log(`${''.padEnd(width)}${cell('now')}${cell(release?.version ?? 'no release')}`)
  for (const [name, value] of Object.entries(now)) {
    const before = release?.figures[name]
    const change = before === undefined || before === value ? '' : `${value > before ? '+' : ''}${value - before}`
    console.log(
      `${name.padEnd(width)}${cell(String(value))}${cell(String(before ?? '-'))}${change && cell(change)}`.trimEnd(),
    )
  }
}
