/**
 * Builds the image of docs/deploy/image from the packages of this workspace, and runs it as a careful operator does: read-only
 * root, no capabilities, user 65532. A document is ingested and a question answered; documents are accepted and the container
 * is killed at once; it is stopped amid its work. Needs the build (`npm run build`) and Docker or Podman on Linux.
 *
 *   npm run -w test/rigs check:image [-- --stand-in]
 *
 * ENGINE names the command (default: docker). `--stand-in` makes the base images out of Debian packages first, with
 * `ENGINE="podman --storage-driver overlay --runtime runc"` where no registry of images can be reached.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { askAbout, freePort, inFolder, pack, run, until } from '../package/installation.ts'

const [command = 'docker', ...engineArgs] = (process.env['ENGINE'] ??= 'docker').split(' ')
const isPodman = command === 'podman'
const isStandIn = process.argv.includes('--stand-in')
const key = 'inlay_image_check_key_0123456789'
const name = `inlay-image-check-${process.pid}`
const stopSeconds = 30
const maxBytes = { lancedb: 380e6, none: 210e6 }

const engine = (...args: string[]): string => run(command, [...engineArgs, ...args]).trim()

function build(folder: string, index: 'lancedb' | 'none'): string {
  const tag = `localhost/inlay:check-${index}`
  // Within a container or a small virtual machine there may be no room for namespaces.
  const confined = isPodman ? ['--isolation', 'chroot', '--network', 'host', '--format', 'docker', '--layers'] : []
  const bases = isStandIn ? ['NODE_IMAGE=localhost/stand-in/node:24', 'BASE_IMAGE=localhost/stand-in/cc:nonroot'] : []
  const args = [...bases, 'INLAY=./*.tgz', `INDEX=${index}`].flatMap((arg) => ['--build-arg', arg])
  engine('build', ...confined, ...args, '--file', join(folder, 'Containerfile'), '--tag', tag, folder)
  const bytes = Number(engine('image', 'inspect', '--format', '{{.Size}}', tag))
  console.log(`  ${index}: ${Math.round(bytes / 1e6)} MB`)
  assert(bytes < maxBytes[index], `the image takes ${bytes} bytes`)
  return tag
}

/** Options of `run` for a container without any rights, on the loopback interface. */
function confinement(port: number): string[] {
  const limits = isPodman ? ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'] : ['--tmpfs', '/tmp']
  const env = { HOST: '127.0.0.1', PORT: String(port), INLAY_API_KEY: key, INLAY_SHUTDOWN_DRAIN: '5' }
  const settings = Object.entries(env).flatMap(([variable, value]) => ['--env', `${variable}=${value}`])
  const rights = ['--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges']
  return ['--network', 'host', ...rights, ...limits, ...settings]
}

async function accept(base: string, id: string): Promise<void> {
  const document = { id, semantic_identifier: id, source: 'web', metadata: {}, sections: [{ text: `Note ${id}.` }] }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ document })
  const accepted = await fetch(`${base}/service-api/ingestion`, { method: 'POST', headers, body })
  assert(accepted.ok, `ingestion answered ${accepted.status}: ${await accepted.text()}`)
}

async function indexedDocuments(base: string): Promise<number> {
  const metrics = await (await fetch(`${base}/metrics`, { headers: { authorization: `Bearer ${key}` } })).text()
  return Number(/^inlay_documents\{state="indexed"\} (\d+)/m.exec(metrics)?.[1])
}

async function checkRun(tag: string): Promise<void> {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}/api`
  const ready = (): Promise<true> =>
    until('readiness', async () => ((await fetch(`${base}/health/ready`)).ok ? true : undefined))
  engine('run', '--detach', '--name', name, '--volume', `${name}:/data`, ...confinement(port), tag)
  await ready()
  assert.equal(engine('exec', name, 'node', '-p', 'process.getuid()'), '65532')
  engine('exec', name, 'node', '/app/health.js')
  assert.match(engine('exec', name, 'node', '-p', 'require("/app/sbom.cdx.json").components.length'), /^\d{2,}$/)
  console.log(`  answers: ${await askAbout(base, key)}`)
  assert.match(engine('exec', name, 'inlay', 'documents', 'list', '--json', '--url', base), /Leave policy/)

  await Promise.all(Array.from({ length: 50 }, (_, number) => accept(base, `note ${number}`)))
  engine('kill', '--signal', 'KILL', name)
  engine('start', name)
  await ready()
  await until('indexing', async () => ((await indexedDocuments(base)) === 51 ? true : undefined))
  console.log(`  killed and started again, it has all 51 documents and answers: ${await askAbout(base, key)}`)

  const startedAt = Date.now()
  engine('stop', '-t', String(stopSeconds), name)
  const seconds = (Date.now() - startedAt) / 1000
  assert.equal(engine('inspect', '--format', '{{.State.ExitCode}}', name), '0')
  console.log(`  stopped with exit code 0 in ${seconds.toFixed(1)} s of ${stopSeconds}`)
}

/** Without LanceDB and another index, the start says what to do. */
async function checkWithoutLancedb(tag: string): Promise<void> {
  const done = await freePort().then((port) => {
    try {
      return engine('run', '--rm', ...confinement(port), tag)
    } catch (error) {
      return String(error)
    }
  })
  assert.match(done, /choose another index/)
}

await inFolder('image', async (folder) => {
  if (isStandIn) run('test/deploy/stand-in-bases.sh', [])
  pack(folder)
  cpSync('docs/deploy/image', folder, { recursive: true })
  try {
    await checkRun(build(folder, 'lancedb'))
    await checkWithoutLancedb(build(folder, 'none'))
  } finally {
    // Where a check failed early there is none.
    for (const args of [['rm'], ['volume', 'rm']]) spawnSync(command, [...engineArgs, ...args, '--force', name])
  }
})
