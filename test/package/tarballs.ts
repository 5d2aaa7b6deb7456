/**
 * Packs every package, checks each tarball, installs all of them into an empty project and runs the README's mounting
 * example there on each supported Node. Needs the build and the registry, so it is a check and not a test.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const folders = ['protocol', 'client', 'knowledge', 'agent', 'drivers', 'server', 'inlay']
const nodes = process.argv[2]?.split(',') ?? ['22.18.0', '24.21.0']
const work = mkdtempSync(join(tmpdir(), 'inlay-tarballs-'))

function run(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): string {
  const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64e6, ...options })
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${done.stdout}\n${done.stderr}`)
  return done.stdout
}

function folderBytes(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
  return bytes
}

function pack(): string[] {
  const tarballs: string[] = []
  for (const folder of folders) {
    const [packed] = JSON.parse(
      run('npm', ['pack', '--json', '--pack-destination', work], { cwd: `packages/${folder}` }),
    )
    const tarball = join(work, packed.filename)
    tarballs.push(tarball)
    run('publint', ['run', tarball, '--strict'])
    run('attw', [tarball, '--profile', 'esm-only', '--format', 'ascii'])
    console.log(`  ${packed.name}: ${packed.entryCount} files, ${Math.round(packed.size / 1000)} kB packed`)
  }
  return tarballs
}

/** The README's first TypeScript block is the mounting example: what a newcomer pastes is what runs here. */
function mountingExample(): string {
  const block = /```ts\n(?<code>[\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.groups?.['code']
  if (!block) throw new Error('README.md has no ```ts block to mount')
  return block
}

async function until<T>(what: string, attempt: () => Promise<T | undefined>, limitMs = 60_000): Promise<T> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const value = await attempt().catch(() => undefined)
    if (value !== undefined) return value
    if (Date.now() > deadline) throw new Error(`${what} did not happen in ${limitMs} ms`)
    await new Promise((wake) => setTimeout(wake, 100))
  }
}

async function mount(node: string, project: string): Promise<void> {
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const env = {
    ...process.env,
    PORT: String(port),
    INLAY_API_KEY: 'inlay_tarball_check_key_0123456789',
    INLAY_DATA: join(project, `data-${node}`),
  }
  const example = mountingExample().replace('./inlay-data', `./data-${node}`).replace('listen(3000)', `listen(${port})`)
  if (!example.includes(String(port))) throw new Error('the example does not listen on 3000')
  writeFileSync(join(project, `app-${node}.js`), example)
  const child = spawn(join(work, `node-${node}`, 'node_modules/node/bin/node'), [`app-${node}.js`], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  try {
    const base = `http://127.0.0.1:${port}/api`
    const headers = { authorization: `Bearer ${env.INLAY_API_KEY}`, 'content-type': 'application/json' }
    await until('/health', async () => ((await fetch(`${base}/health`)).ok ? true : undefined))
    const document = {
      id: 'leave',
      semantic_identifier: 'Leave policy',
      source: 'web',
      metadata: {},
      sections: [
        { text: 'Full-time staff receive 25 days of paid leave a year.', link: 'https://wiki.example.com/leave' },
      ],
    }
    const accepted = await fetch(`${base}/service-api/ingestion`, {
      method: 'POST',
      headers: { ...headers, prefer: 'wait=20' },
      body: JSON.stringify({ document }),
    })
    if (!accepted.ok) throw new Error(`ingestion answered ${accepted.status}: ${await accepted.text()}`)
    const answered = await fetch(`${base}/chat/send-chat-message`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ message: 'How many days of paid leave do full-time staff receive?', stream: false }),
    })
    const answer = (await answered.json()) as { answer: string; citation_info: { document_id: string }[] }
    if (!answer.answer.includes('25 days') || answer.citation_info[0]?.document_id !== 'leave')
      throw new Error(`unexpected answer: ${JSON.stringify(answer)}`)
    console.log(`  Node ${node}: the README's example answers: ${answer.answer}`)
  } catch (error) {
    console.error(output)
    throw error
  } finally {
    child.kill('SIGTERM')
  }
}

/** The installed command serves the page that ships with it. */
async function servePage(node: string, project: string): Promise<void> {
  const command = join(project, 'node_modules/inlay/dist/cli.js')
  const words = [command, 'serve', '--port', '0', '--json', '--data', join(project, `served-${node}`)]
  const child = spawn(join(work, `node-${node}`, 'node_modules/node/bin/node'), words, {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    const { address } = await until('inlay serve', async () => JSON.parse(output) as { address: string })
    const page = await (await fetch(address)).text()
    const script = /src="([^"]+\.js)"/.exec(page)?.[1]
    if (script === undefined || !(await fetch(new URL(script, address))).ok)
      throw new Error(`no page at ${address}: ${page}`)
    console.log(`  Node ${node}: inlay serve shows its page`)
  } finally {
    child.kill('SIGTERM')
  }
}

try {
  console.log('tarballs')
  const tarballs = pack()
  const project = join(work, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'host', private: true, type: 'module' }))
  run('npm', ['install', '--no-audit', '--no-fund', ...tarballs], { cwd: project })
  console.log(`  installed: ${Math.round(folderBytes(join(project, 'node_modules')) / 1e6)} MB`)
  for (const node of nodes) {
    const home = join(work, `node-${node}`)
    mkdirSync(home)
    writeFileSync(join(home, 'package.json'), '{"private":true}')
    run('npm', ['install', '--no-audit', '--no-fund', `node@${node}`], { cwd: home })
    await mount(node, resolve(project))
    await servePage(node, resolve(project))
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
