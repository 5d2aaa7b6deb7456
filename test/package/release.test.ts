import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addVersion, deployedVersion, deploymentFiles, makeRelease, type Release } from '../../.ci/release.ts'

const changelog = '# Changelog\n\n## Unreleased\n\nNames that changed.\n\n## 0.1.0 (2026-01-01)\n\nThe first version.\n'

/** A repository with two packages, of which 0.1.0 is released, and two commits since. */
function newRepository(): { readonly root: string; readonly git: (...args: string[]) => string } {
  const root = mkdtempSync(join(tmpdir(), 'inlay-release-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }))
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  const write = (folder: string, manifest: object): void => {
    mkdirSync(join(root, folder), { recursive: true })
    writeFileSync(join(root, folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  }
  write('.', { name: 'workspace', version: '0.1.0' })
  write('packages/wire', { name: '@own/wire', version: '0.1.0', dependencies: { uuid: '0.1.0' } })
  write('packages/main', { name: 'main', version: '0.1.0', dependencies: { '@own/wire': '0.1.0' } })
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  mkdirSync(join(root, 'docs/deploy'), { recursive: true })
  writeFileSync(join(root, 'docs/deploy/compose.yaml'), 'image: ghcr.io/inlay/inlay:0.1.0\nengine: valkey:0.1.0\n')
  git('init', '--quiet')
  git('config', 'user.name', 'Ana')
  git('config', 'user.email', 'ana@example.com')
  git('config', 'commit.gpgsign', 'false')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'feat: start')
  git('tag', 'v0.1.0')
  for (const subject of ['feat(main): add a door', 'fix!: close the window'])
    git('commit', '--quiet', '--allow-empty', '--message', subject)
  return { root, git }
}

const releaseOf = (root: string, more: Partial<Release> = {}): Release => ({
  root,
  version: '0.2.0',
  date: '2026-11-23',
  commands: [],
  print: () => {},
  ...more,
})

test('a release sets the version everywhere, lists the commits, and is committed with a tag', () => {
  const { root, git } = newRepository()
  makeRelease(releaseOf(root, { commands: [['node', '-e', "require('fs').writeFileSync('ran', '')"]] }))
  const manifest = (folder: string): object => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  expect(manifest('.')).toMatchObject({ version: '0.2.0' })
  expect(manifest('packages/wire')).toMatchObject({ version: '0.2.0', dependencies: { uuid: '0.1.0' } })
  expect(manifest('packages/main')).toMatchObject({ version: '0.2.0', dependencies: { '@own/wire': '0.2.0' } })
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toBe(
    '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-23)\n\nNames that changed.\n\n' +
      '### Breaking changes\n\n- close the window\n\n### Added\n\n- main: add a door\n\n' +
      '## 0.1.0 (2026-01-01)\n\nThe first version.\n',
  )
  expect(readFileSync(join(root, 'docs/deploy/compose.yaml'), 'utf8')).toBe(
    'image: ghcr.io/inlay/inlay:0.2.0\nengine: valkey:0.1.0\n',
  )
  expect(git('status', '--porcelain')).toBe('')
  expect(git('describe').trim()).toBe('v0.2.0')
  expect(git('show', '--stat', '--format=%s')).toMatch(/^chore: release 0\.2\.0[^]* ran /)
})

test('image, chart and compose files are of the version of the packages', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  const versions = globSync([...deploymentFiles]).map((file) => readFileSync(file, 'utf8').match(deployedVersion))
  expect(versions.map((list) => [...new Set(list)])).toEqual(Array(4).fill([version]))
})

test('a dry run writes nothing and prints the manifests, the changelog and the commands', () => {
  const { root, git } = newRepository()
  const before = git('rev-parse', 'HEAD')
  const lines: string[] = []
  const print = (line: string): void => void lines.push(line)
  makeRelease(releaseOf(root, { isDryRun: true, commands: [['npm', 'test']], print }))
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag').trim()]).toEqual([before, '', 'v0.1.0'])
  expect(lines.join('\n')).toMatch(
    /0\.1\.0 → 0\.2\.0 in 3 manifests[^]*packages\/wire[^]*## 0\.2\.0[^]*- main: add a door[^]*would run: npm test/,
  )
  expect(lines.join('\n')).not.toContain('The first version.')
})

test('it refuses a version that is released, older or no version, and local changes', () => {
  const { root } = newRepository()
  for (const [version, reason] of [
    ['0.1.0', 'released already'],
    ['0.0.9', 'older than'],
    ['next', 'as 1.2.3'],
  ] as const)
    expect(() => makeRelease(releaseOf(root, { version }))).toThrow(reason)
  writeFileSync(join(root, 'draft.md'), '')
  expect(() => makeRelease(releaseOf(root))).toThrow('local changes')
})

test('a check that fails ends it before anything is committed', () => {
  const { root, git } = newRepository()
  expect(() => makeRelease(releaseOf(root, { commands: [['node', '-e', 'process.exit(1)']] }))).toThrow('failed')
  expect(git('log', '-1', '--format=%s').trim()).toBe('fix!: close the window')
  expect(git('tag').trim()).toBe('v0.1.0')
})

test('the changelog of this repository takes a version', () => {
  const added = addVersion(readFileSync('CHANGELOG.md', 'utf8'), { version: '9.9.9', date: '2030-01-01', subjects: [] })
  expect(added).toMatch(/^## Unreleased\n\n## 9\.9\.9 \(2030-01-01\)\n\n\S/m)
})
