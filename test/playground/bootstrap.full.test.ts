import { spawn } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, link, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

/** Stands in for npm: makes the folders an install makes, notes how it was called, and fails on request. */
const fakeNpm = `
const fs = require('fs'), path = require('path')
const args = process.argv.slice(2), mode = process.env.FAKE_NPM || 'works'
fs.appendFileSync('calls.txt', args.join(' ') + '\\n')
const fail = (text) => { console.error(text); process.exit(1) }
if (mode === 'offline') fail('npm error code ENOTFOUND\\nnpm error request to https://registry.example failed')
if (mode === 'full') fail('npm error code ENOSPC')
if (mode === 'out-of-step' && args[0] === 'ci') fail('npm error code EUSAGE\\nnpm error not in sync')
if (mode === 'odd') fail('npm error something nobody foresaw')
const scripts = !args.includes('--ignore-scripts')
if (mode === 'no-binary' && scripts) fail('npm error 404 the binary package is not there')
if (fs.existsSync('installing')) fail('npm error two installs at once')
fs.writeFileSync('installing', '')
if (args[0] === 'ci') fs.rmSync('node_modules', { recursive: true, force: true })
fs.mkdirSync('node_modules/left', { recursive: true })
fs.writeFileSync('node_modules/left/package.json', '{"version":"1.0.0"}')
if (mode === 'killed') { fs.rmSync('installing'); fail('npm error signal SIGKILL') }
fs.mkdirSync('node_modules/.bin', { recursive: true })
if (scripts) { fs.rmSync('node_modules/.bin/node', { force: true }); fs.symlinkSync(process.env.FAKE_NODE || process.execPath, 'node_modules/.bin/node') }
fs.writeFileSync('node_modules/.package-lock.json', fs.readFileSync('package-lock.json'))
let stdin = 'open'
try { stdin = fs.readFileSync(0, 'utf8') === '' ? 'empty' : 'typed' } catch {}
fs.appendFileSync('stdin.txt', stdin)
setTimeout(() => fs.rmSync('installing'), 100)
`

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function project(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-bootstrap-'))
  folders.push(folder)
  await mkdir(join(folder, 'playground'))
  await mkdir(join(folder, 'packages', 'one'), { recursive: true })
  for (const file of ['bootstrap.mjs', 'run-npm.mjs'])
    await cp(join('playground', file), join(folder, 'playground', file))
  await writeFile(join(folder, 'npm-cli.cjs'), fakeNpm)
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ workspaces: ['packages/*'], dependencies: { left: '1.0.0' } }),
  )
  await writeFile(join(folder, 'packages', 'one', 'package.json'), JSON.stringify({ name: 'one' }))
  await writeLock(folder, '1.0.0')
  return folder
}

const writeLock = (folder: string, version: string): Promise<void> =>
  writeFile(
    join(folder, 'package-lock.json'),
    JSON.stringify({
      packages: {
        '': { dependencies: { left: '1.0.0' } },
        'packages/one': {},
        'node_modules/left': { version },
      },
    }),
  )

interface Ended {
  code: number | null
  output: string
}

function bootstrap(folder: string, env: Record<string, string> = {}, node = process.execPath): Promise<Ended> {
  const child = spawn(node, ['playground/bootstrap.mjs'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      npm_execpath: join(folder, 'npm-cli.cjs'),
      npm_node_execpath: process.execPath,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

const calls = async (folder: string): Promise<string[]> =>
  existsSync(join(folder, 'calls.txt')) ? (await readFile(join(folder, 'calls.txt'), 'utf8')).trim().split('\n') : []

test('a missing install is made once, and the next start is silent', async () => {
  const folder = await project()
  const first = await bootstrap(folder)
  expect(first.code).toBe(0)
  expect(first.output).toContain('Installing packages')
  expect(await bootstrap(folder)).toEqual({ code: 0, output: '' })
  expect(await calls(folder)).toEqual([expect.stringMatching(/^ci --include=dev/)])
  expect(await readFile(join(folder, 'stdin.txt'), 'utf8')).toBe('empty')
})

test('without a lockfile it installs by npm install', async () => {
  const folder = await project()
  await rm(join(folder, 'package-lock.json'))
  await bootstrap(folder, { FAKE_NPM: 'odd' })
  expect((await calls(folder))[0]).toMatch(/^install /)
})

test('a lockfile that does not fit the manifests is brought in step by npm install', async () => {
  const folder = await project()
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ workspaces: ['packages/*'], dependencies: { left: '2.0.0' } }),
  )
  await bootstrap(folder)
  expect((await calls(folder))[0]).toMatch(/^install /)
})

test('a lockfile that npm ci refuses is taken by npm install', async () => {
  const folder = await project()
  expect((await bootstrap(folder, { FAKE_NPM: 'out-of-step' })).code).toBe(0)
  expect(await calls(folder)).toEqual([expect.stringMatching(/^ci /), expect.stringMatching(/^install /)])
})

test.each([
  ['the lockfile changed', (folder: string) => writeLock(folder, '1.0.1')],
  ['the bundled Node is gone', (folder: string) => rm(join(folder, 'node_modules/.bin/node'))],
  ['a package is gone', (folder: string) => rm(join(folder, 'node_modules/left'), { recursive: true })],
  [
    'it was made on another platform',
    (folder: string) => writeFile(join(folder, 'node_modules/.inlay-install'), '{"platform":"elsewhere"}'),
  ],
])('it installs again when %s', async (_reason, spoil) => {
  const folder = await project()
  await bootstrap(folder)
  await spoil(folder)
  // Packages of another platform use the same folders, which npm's own record cannot distinguish.
  if (_reason.includes('platform')) await rm(join(folder, 'node_modules/.package-lock.json'))
  expect((await bootstrap(folder)).code).toBe(0)
  expect(await calls(folder)).toHaveLength(2)
  expect(await bootstrap(folder)).toEqual({ code: 0, output: '' })
})

test('an interrupted install is repeated', async () => {
  const folder = await project()
  expect((await bootstrap(folder, { FAKE_NPM: 'killed' })).code).toBe(1)
  expect((await bootstrap(folder)).code).toBe(0)
  expect(await bootstrap(folder)).toEqual({ code: 0, output: '' })
})

test('what somebody installed by hand is taken as it is', async () => {
  const folder = await project()
  await bootstrap(folder)
  await rm(join(folder, 'node_modules/.inlay-install'))
  expect(await bootstrap(folder)).toEqual({ code: 0, output: '' })
  expect(await calls(folder)).toHaveLength(1)
})

test('a change of scripts alone installs nothing', async () => {
  const folder = await project()
  await bootstrap(folder)
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ scripts: { a: 'b' }, workspaces: ['packages/*'], dependencies: { left: '1.0.0' } }),
  )
  expect(await bootstrap(folder)).toEqual({ code: 0, output: '' })
})

test('starts at the same time make one install', async () => {
  const folder = await project()
  const ended = await Promise.all(Array.from({ length: 4 }, () => bootstrap(folder)))
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  expect(await calls(folder)).toHaveLength(1)
  expect(await readdir(join(folder, '.inlay'))).toEqual([])
})

test.each([
  ['whose owner is dead', JSON.stringify({ token: 'old', pid: 2 ** 30, host: undefined }), true],
  ['that was never written to its end', '{"tok', false],
])('a lock %s does not hold up a start', async (_which, content, sameHost) => {
  const folder = await project()
  const lock = join(folder, '.inlay', 'install.lock')
  await mkdir(dirname(lock))
  const { hostname } = await import('node:os')
  await writeFile(lock, sameHost ? JSON.stringify({ ...JSON.parse(content), host: hostname() }) : content)
  if (!sameHost) await utimes(lock, new Date(0), new Date(0))
  const ended = await Promise.all([bootstrap(folder), bootstrap(folder)])
  expect(ended.map(({ code }) => code)).toEqual([0, 0])
  expect(await calls(folder)).toHaveLength(1)
})

test.each([
  ['offline', /registry could not be reached/],
  ['full', /disk is full/],
  ['odd', /something nobody foresaw/],
])('a failure is told in words: %s', async (mode, words) => {
  const folder = await project()
  const { code, output } = await bootstrap(folder, { FAKE_NPM: mode })
  expect(code).toBe(1)
  expect(output).toMatch(words)
  expect(output).not.toContain('    at ')
})

test('where the bundled Node cannot be had, the fitting one of the machine is used', async () => {
  const folder = await project()
  expect((await bootstrap(folder, { FAKE_NPM: 'no-binary' })).code).toBe(0)
  expect(await calls(folder)).toEqual([
    expect.not.stringContaining('ignore-scripts'),
    expect.stringContaining('--ignore-scripts'),
  ])
  expect(await bootstrap(folder)).toEqual({ code: 0, output: '' })
})

test('a bundled Node that does not run is moved out of the way', async () => {
  const folder = await project()
  const broken = join(folder, 'broken')
  await writeFile(broken, '#!/nowhere\n')
  await chmod(broken, 0o755)
  expect((await bootstrap(folder, { FAKE_NODE: broken })).code).toBe(0)
  expect(existsSync(join(folder, 'node_modules/.bin/node'))).toBe(false)
  expect(await bootstrap(folder)).toEqual({ code: 0, output: '' })
})

test('with no Node that fits, it says what to do', async () => {
  const folder = await project()
  // From the second start on the bootstrap itself runs on the bundled Node, and only npm tells of the machine's own.
  const bundled = join(folder, 'node_modules', 'node')
  await mkdir(dirname(bundled))
  await link(process.execPath, bundled).catch(() => cp(process.execPath, bundled))
  const old = join(folder, 'old-node')
  await writeFile(old, '#!/bin/sh\necho v20.1.0\n')
  await chmod(old, 0o755)
  const { code, output } = await bootstrap(folder, { npm_node_execpath: old }, bundled)
  expect(code).toBe(1)
  expect(output).toMatch(/v20\.1\.0[^]*install Node 22\.18 or newer/)
})
