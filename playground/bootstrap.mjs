/*
 * Prepares a bare machine for `npm start` and `npm test`: runs before them and installs what is missing. Plain
 * JavaScript with built-in modules, and only syntax that Node 12 supports, since it must be able to report an old
 * version.
 */
import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { explain, runNpm } from './run-npm.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
/** Written last, so its absence means an interrupted install. */
const recordFile = join(modules, '.inlay-install')
/** Outside node_modules, which `npm ci` deletes. */
const lockFile = join(root, '.inlay', 'install.lock')
const bundledNode = join(modules, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
const platform = process.platform + '-' + process.arch

/** First version of Node that runs our TypeScript sources directly and has node:sqlite without a flag. */
const wanted = [22, 18]
const heartbeatMs = 2000
const staleMs = 15000

class Refusal extends Error {}

const isAtLeast = (version, [major, minor]) => {
  const [hasMajor, hasMinor] = version.replace(/^v/, '').split('.').map(Number)
  return hasMajor > major || (hasMajor === major && hasMinor >= minor)
}

const readText = (file) => {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const readJson = (file) => {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** Manifests by path: '' for the root, `packages/x` for a workspace, as npm names them in the lockfile. */
function readManifests() {
  const manifests = new Map()
  const rootManifest = readJson(join(root, 'package.json'))
  if (rootManifest === undefined) throw new Refusal('package.json is missing or not valid JSON: ' + root)
  manifests.set('', rootManifest)
  for (const pattern of rootManifest.workspaces || []) {
    const places = pattern.endsWith('/*')
      ? (fs.existsSync(join(root, pattern.slice(0, -2))) ? fs.readdirSync(join(root, pattern.slice(0, -2))) : []).map(
          (name) => pattern.slice(0, -1) + name,
        )
      : [pattern]
    for (const place of places.sort()) {
      const manifest = readJson(join(root, place, 'package.json'))
      if (manifest !== undefined) manifests.set(place, manifest)
    }
  }
  return manifests
}

const dependencyKinds = ['dependencies', 'devDependencies', 'optionalDependencies']

/** Hash of everything an install depends on: the lockfile and the dependencies in each manifest. */
function hashOf(manifests) {
  const hash = createHash('sha256').update(readText(join(root, 'package-lock.json')) || '')
  for (const [place, manifest] of manifests)
    hash.update(
      JSON.stringify([place, manifest.name, dependencyKinds.map((kind) => manifest[kind]), manifest.overrides]),
    )
  return hash.digest('hex')
}

/**
 * Whether every direct dependency exists; detects a folder that was removed by hand, at the cost of some `stat` calls.
 */
function hasDirectDependencies(manifests) {
  for (const [place, manifest] of manifests)
    for (const kind of ['dependencies', 'devDependencies'])
      for (const name of Object.keys(manifest[kind] || {})) {
        const inside = join(name, 'package.json')
        if (!fs.existsSync(join(modules, inside)) && !fs.existsSync(join(root, place, 'node_modules', inside)))
          return false
      }
  return true
}

/** The Node for the scripts: 'bundled' (node_modules/.bin), 'system', or undefined if neither works. */
function usableNode() {
  if (fs.existsSync(bundledNode)) {
    // Run, since the bundled Node may not work on this system (another C library).
    const run = spawnSync(bundledNode, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' })
    if (run.status === 0 && isAtLeast(run.stdout.trim(), wanted)) return 'bundled'
  }
  return isAtLeast(systemVersion(), wanted) ? 'system' : undefined
}

/** Version of the Node that npm uses; this process may already be the bundled one. */
function systemVersion() {
  const npmNode = process.env.npm_node_execpath
  const inside = (path) => resolve(path).startsWith(modules + sep)
  if (!inside(process.execPath)) return process.version
  if (npmNode === undefined || inside(npmNode)) return 'v0.0.0'
  const run = spawnSync(npmNode, ['--version'], { encoding: 'utf8' })
  return run.status === 0 ? run.stdout.trim() : 'v0.0.0'
}

/** Whether there is nothing to do. Fast, since every start calls this: a few small reads and no child process. */
function isFresh(manifests, hash) {
  const record = readJson(recordFile)
  if (record === undefined || record.hash !== hash || record.platform !== platform) return false
  if (record.node === 'bundled' ? !fs.existsSync(bundledNode) : !isAtLeast(process.version, wanted)) return false
  return hasDirectDependencies(manifests)
}

/** Whether the lockfile matches these manifests; otherwise `npm ci` would refuse. */
function isLockInStep(lock, manifests) {
  const same = (left, right) => {
    const sorted = (value) => JSON.stringify(Object.entries(value || {}).sort())
    return sorted(left) === sorted(right)
  }
  for (const [place, manifest] of manifests) {
    const locked = (lock.packages || {})[place]
    if (locked === undefined || !dependencyKinds.every((kind) => same(locked[kind], manifest[kind]))) return false
  }
  return true
}

/** Whether somebody ran `npm install` by hand: npm's own record, written at its end, contains every version. */
function isInstalledByNpm(lock, manifests) {
  const record = readJson(recordFile)
  if (record !== undefined && record.node === 'bundled' && !fs.existsSync(bundledNode)) return false
  const installed = readJson(join(modules, '.package-lock.json'))
  if (installed === undefined || !isLockInStep(lock, manifests) || !hasDirectDependencies(manifests)) return false
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (!place.startsWith('node_modules/') || entry.link) continue
    const there = installed.packages[place]
    if (there === undefined ? !entry.optional && !entry.peer : there.version !== entry.version) return false
    if (there !== undefined && !fs.existsSync(join(root, place, 'package.json'))) return false
  }
  return true
}

/**
 * Takes the lock, waiting for another start to finish its install. A lock whose owner has died is broken by exactly one
 * process.
 */
async function withLock(work) {
  fs.mkdirSync(dirname(lockFile), { recursive: true })
  const token = randomUUID()
  let hasWaited = false
  for (;;) {
    try {
      fs.writeFileSync(lockFile, JSON.stringify({ token, pid: process.pid, host: hostname() }), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (!breakStaleLock()) {
      if (!hasWaited) console.log('Another start is installing; waiting for it …')
      hasWaited = true
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const release = () => {
    const held = readJson(lockFile)
    if (held !== undefined && held.token === token) fs.rmSync(lockFile, { force: true })
  }
  process.on('exit', release)
  const heartbeat = setInterval(() => fs.utimes(lockFile, new Date(), new Date(), () => {}), heartbeatMs)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    release()
  }
}

function breakStaleLock() {
  let ageMs
  try {
    ageMs = Date.now() - fs.statSync(lockFile).mtimeMs
  } catch {
    return true
  }
  const held = readJson(lockFile) || {}
  if (ageMs < staleMs && (held.host !== hostname() || isAlive(held.pid))) return false
  // A lock that is being written has no token yet: give its owner time to write it.
  if (held.token === undefined && ageMs < heartbeatMs) return false
  try {
    // Named after the token of the stale lock, so that only one of several processes removes it.
    fs.writeFileSync(lockFile + '.' + (held.token || 'unreadable'), '', { flag: 'wx' })
  } catch {
    return false
  }
  const same = (readJson(lockFile) || {}).token === held.token
  if (same) fs.rmSync(lockFile, { force: true })
  fs.rmSync(lockFile + '.' + (held.token || 'unreadable'), { force: true })
  return true
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

async function install(lock, manifests) {
  // On Windows a running node.exe cannot be deleted, and `npm ci` would try when this process is the bundled one.
  const clean =
    lock !== undefined && isLockInStep(lock, manifests) && !(process.platform === 'win32' && isRunningBundled())
  // Development dependencies even with NODE_ENV=production, since they include Node, the bundler of the page and the
  // test runner.
  const args = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const label =
    (fs.existsSync(modules) ? 'Bringing the installed packages up to date' : 'Installing packages') + ' (once)'
  const began = Date.now()
  let command = clean ? 'ci' : 'install'
  let result = await runNpm([command].concat(args), { cwd: root, label })
  if (result.code !== 0 && /EUSAGE|in sync/.test(result.output)) {
    // Versions of npm disagree on whether a lockfile matches the manifests.
    command = 'install'
    result = await runNpm([command].concat(args), { cwd: root, label })
  }
  if (result.code !== 0 && explain(result.output, root) === undefined && isAtLeast(systemVersion(), wanted)) {
    // The package `node` downloads its binary in an install script and fails if there is none for the platform.
    result = await runNpm([command].concat(args, '--ignore-scripts'), {
      cwd: root,
      label: 'Installing without a bundled Node (this machine has a fitting one)',
    })
  }
  if (result.code !== 0) {
    // npm prints the error first, followed by its usage.
    const lines = result.output
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(0, 15)
    const reason = explain(result.output, root) || 'npm ' + command + ' failed.'
    throw new Refusal([reason, 'npm said:'].concat(lines).join('\n  '))
  }
  console.log('Installed in ' + Math.round((Date.now() - began) / 1000) + ' s.')
}

const isRunningBundled = () => resolve(process.execPath).startsWith(modules + sep)

/** Records the install, after checking that a Node can run it. */
function record(manifests) {
  const node = usableNode()
  if (node === undefined)
    throw new Refusal(
      'Everything is installed except a working Node: the bundled Node 24 does not work on this machine (npm may be ' +
        'configured to skip install scripts) and the installed one is ' +
        systemVersion() +
        '.\n  Run "npm rebuild node --ignore-scripts=false", ' +
        'or install Node ' +
        wanted.join('.') +
        ' or newer from https://nodejs.org.',
    )
  // Removed, since PATH would otherwise find the one that does not work.
  if (node === 'system') fs.rmSync(bundledNode, { force: true })
  const written = recordFile + '.' + process.pid
  fs.writeFileSync(written, JSON.stringify({ hash: hashOf(manifests), platform, node }))
  fs.renameSync(written, recordFile)
}

async function main() {
  if (!isAtLeast(process.version, [20, 0]))
    throw new Refusal(
      'Inlay needs Node 20 or newer, and this is ' + process.version + '. Get one from https://nodejs.org.',
    )
  const manifests = readManifests()
  if (isFresh(manifests, hashOf(manifests))) return
  await withLock(async () => {
    // The previous owner of the lock may have done everything.
    if (isFresh(manifests, hashOf(manifests))) return
    const lock = readJson(join(root, 'package-lock.json'))
    const byHand = lock !== undefined && isInstalledByNpm(lock, manifests) && usableNode() !== undefined
    if (!byHand) {
      fs.rmSync(recordFile, { force: true })
      await install(lock, manifests)
    }
    record(manifests)
  })
}

main().catch((error) => {
  const known = error instanceof Refusal || explain(String(error.code), root) !== undefined
  console.error('\n' + (known ? (error instanceof Refusal ? error.message : explain(error.code, root)) : error.stack))
  process.exit(1)
})
