/**
 * Makes a release: one version in all packages, a changelog from the commits, all checks, tarballs, commit and tag.
 *
 *   npm run release -- <version> [--dry-run]
 *
 * Nothing is published: push the tag, and .github/workflows/release.yml does that. With --dry-run it writes nothing and
 * prints what it would do.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A release, and the repository it is made in. */
export interface Release {
  readonly root: string
  readonly version: string
  readonly isDryRun?: boolean
  /** Date of the changelog, as `2026-11-23`. */
  readonly date: string
  /** Commands run after the versions are set, in order; the first that fails ends the release. */
  readonly commands: readonly (readonly string[])[]
  readonly print: (line: string) => void
}

type Manifest = Record<string, unknown> & { readonly name: string; version: string }

const manifestFiles = ['package.json', 'packages/*/package.json', 'playground/package.json']
/** Files of deployments that name the version of the image and of the package in it. */
export const deploymentFiles: readonly string[] = ['image/Containerfile', 'chart/Chart.yaml', 'compose*.yaml'].map(
  (file) => `docs/deploy/${file}`,
)
export const deployedVersion: RegExp = /(?<=^ARG VERSION=|^version: |^appVersion: |\/inlay:)\d+\.\d+\.\d+/gm
const dependencyKinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']

/** @throws Error when the version or the repository is not fit for a release, or a command fails */
export function makeRelease({ root, version, isDryRun = false, date, commands, print }: Release): void {
  const run = (command: readonly string[]): string => runIn(root, command, 'pipe')
  const before = readJson(join(root, 'package.json')).version
  const tags = run(['git', 'tag', '--list', 'v*']).split('\n').filter(Boolean)
  checkVersion(version, before, tags)
  if (!isDryRun && run(['git', 'status', '--porcelain']) !== '')
    throw new Error('Commit or remove local changes first.')
  const last = tags.includes(`v${before}`) ? `v${before}` : undefined
  const subjects = last === undefined ? [] : run(['git', 'log', `${last}..HEAD`, '--format=%s']).split('\n')
  const changelog = addVersion(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), { version, date, subjects })
  const manifests = globSync(manifestFiles, { cwd: root }).toSorted()
  if (isDryRun) {
    print(`${before} → ${version} in ${manifests.length} manifests:`)
    for (const line of [...manifests.map((file) => `  ${file}`), '', sectionOf(changelog, version)]) print(line)
    for (const command of commands) print(`would run: ${command.join(' ')}`)
    print(`would commit and tag v${version}`)
    return
  }
  const names = new Set(manifests.map((file) => readJson(join(root, file)).name))
  for (const file of manifests) {
    const manifest = withVersion(readJson(join(root, file)), version, names)
    writeFileSync(join(root, file), `${JSON.stringify(manifest, undefined, 2)}\n`)
  }
  for (const file of globSync(deploymentFiles, { cwd: root }).map((name) => join(root, name)))
    writeFileSync(file, readFileSync(file, 'utf8').replace(deployedVersion, version))
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  for (const command of commands) {
    print(`== ${command.join(' ')}`)
    runIn(root, command, 'inherit')
  }
  run(['git', 'add', '--all'])
  run(['git', 'commit', '--quiet', '--message', `chore: release ${version}`])
  run(['git', 'tag', '--annotate', `v${version}`, '--message', `v${version}`])
  print(`v${version} is ready: git push --follow-tags`)
}

/** A version may stay as it is as long as it has no tag: the first release. */
function checkVersion(version: string, before: string, tags: readonly string[]): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('Name the version as 1.2.3: npm run release -- <version>')
  if (tags.includes(`v${version}`)) throw new Error(`Version ${version} is released already.`)
  if (version.localeCompare(before, 'en', { numeric: true }) < 0)
    throw new Error(`Version ${version} is older than ${before}.`)
}

/** The manifest with the version, also where it depends on a package of this repository. */
function withVersion(manifest: Manifest, version: string, names: ReadonlySet<string>): Manifest {
  const pinned = dependencyKinds.flatMap((kind) => {
    const list = manifest[kind] as Record<string, string> | undefined
    if (list === undefined) return []
    const entries = Object.entries(list).map(([name, range]) => [name, names.has(name) ? version : range])
    return [[kind, Object.fromEntries(entries)]]
  })
  return { ...manifest, version, ...Object.fromEntries(pinned) }
}

/** Puts the unreleased part and the commits of a version under its heading, and leaves an empty unreleased part. */
export function addVersion(
  changelog: string,
  {
    version,
    date,
    subjects,
  }: { readonly version: string; readonly date: string; readonly subjects: readonly string[] },
): string {
  const [, before, unreleased, rest] = /^([^]*?)^## Unreleased\n([^]*?)(^## [^]*)?$(?![^])/m.exec(changelog) ?? []
  if (before === undefined || unreleased === undefined) throw new Error('CHANGELOG.md has no part "## Unreleased".')
  const parts = [`## ${version} (${date})`, unreleased.trim(), ...listsOf(subjects)].filter((part) => part !== '')
  return `${[`${before}## Unreleased`, ...parts, rest?.trim() ?? ''].join('\n\n').trimEnd()}\n`
}

/** Commits by what they mean for readers; of other types, only breaking ones. */
function listsOf(subjects: readonly string[]): string[] {
  const commits = subjects.flatMap((subject) => {
    const [, type, scope, breaking, text] = /^(\w+)(?:\(([^)]*)\))?(!)?: (.*)$/.exec(subject) ?? []
    return type === undefined ? [] : [{ type: breaking ? '!' : type, line: `- ${scope ? `${scope}: ` : ''}${text}` }]
  })
  const titles = { '!': 'Breaking changes', feat: 'Added', fix: 'Fixed', perf: 'Faster' }
  return Object.entries(titles).flatMap(([type, title]) => {
    const lines = commits.filter((commit) => commit.type === type).map(({ line }) => line)
    return lines.length === 0 ? [] : [`### ${title}`, lines.join('\n')]
  })
}

/** The part of one version, up to the heading of the next. */
const sectionOf = (changelog: string, version: string): string =>
  changelog
    .split(/^(?=## )/m)
    .find((part) => part.startsWith(`## ${version} `))
    ?.trimEnd() ?? ''

const readJson = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest

function runIn(cwd: string, [command = '', ...args]: readonly string[], output: 'inherit' | 'pipe'): string {
  const done = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', output, output],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (done.status !== 0) throw new Error(`${[command, ...args].join(' ')} failed. ${done.stderr ?? ''}`.trim())
  return done.stdout?.trimEnd() ?? ''
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const words = process.argv.slice(2)
  const [version = ''] = words.filter((word) => !word.startsWith('--'))
  const data = `test/life/upgrade/data-${version}.zip`
  const tarballs = join(root, 'dist/tarballs')
  const packages = globSync('packages/*/package.json', { cwd: root })
    .filter((file) => readJson(join(root, file))['private'] !== true)
    .flatMap((file) => ['--workspace', dirname(file)])
  const commands = [
    ['npm', 'install', '--package-lock-only', '--ignore-scripts'],
    // The data folder of this version, which every later one has to open.
    ...(existsSync(join(root, data))
      ? []
      : [['node', '--conditions=@inlay/source', 'test/life/upgrade/write-data.ts']]),
    ['npm', 'run', 'check'],
    ['npm', 'test'],
    ['npm', 'run', 'build'],
    ['npm', 'run', 'check:packages'],
    ['npm', 'run', 'check:benches', '--', '--only', 'hops,tokens'],
    ['node', '.ci/figures.ts', '--write'],
    ['npm', 'pack', ...packages, '--pack-destination', tarballs],
  ]
  try {
    const isDryRun = words.includes('--dry-run')
    if (!isDryRun) mkdirSync(tarballs, { recursive: true })
    // Where the commands note the figures that the last of them keeps.
    process.env['INLAY_BENCH_FIGURES'] ??= join(mkdtempSync(join(tmpdir(), 'inlay-release-')), 'figures.jsonl')
    const date = new Date().toISOString().slice(0, 10)
    makeRelease({ root, version, isDryRun, date, commands, print: console.log })
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}
