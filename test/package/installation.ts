/** Shared by the checks of packed packages: packs, installs into an empty project, calls the mounted server. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Packages that are published. */
const folders = readdirSync('packages').filter(
  (folder) => JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8')).private !== true,
)

/** Runs a command to its end and returns what it printed; fails with all of that when it fails. */
export function run(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): string {
  const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64e6, ...options })
  if (done.error) throw done.error
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${done.stdout}\n${done.stderr}`)
  return done.stdout
}

/** A packed package. */
export interface Packed {
  readonly name: string
  readonly file: string
  readonly entries: number
  readonly bytes: number
}

/** Packs every package, or the named ones, as they are built. */
export function pack(into: string, names: readonly string[] = folders): readonly Packed[] {
  return names.map((folder) => {
    const printed = run('npm', ['pack', '--json', '--silent', '--pack-destination', into], {
      cwd: `packages/${folder}`,
    })
    const [packed] = JSON.parse(printed)
    const names: string[] = packed.files.map(({ path }: { path: string }) => path)
    const missing = ['README.md', 'LICENSE'].filter((name) => !names.includes(name))
    if (missing.length > 0) throw new Error(`${packed.name} is packed without ${missing.join(' and ')}`)
    const manifest = JSON.parse(run('tar', ['-xOf', join(into, packed.filename), 'package/package.json']))
    // Source maps name the sources, which are next to them.
    for (const form of [/\.d\.ts\.map$/, /^src\/.*\.tsx?$/])
      if (!names.some((name) => form.test(name))) throw new Error(`${packed.name} is packed without any ${form.source}`)
    const unsaid = ['author', 'homepage', 'bugs', 'repository'].filter((field) => manifest[field] === undefined)
    if (unsaid.length > 0) throw new Error(`the packed manifest of ${packed.name} lacks ${unsaid.join(' and ')}`)
    return { name: packed.name, file: join(into, packed.filename), entries: packed.entryCount, bytes: packed.size }
  })
}

/** Makes an empty project in a folder and installs into it what is named. */
export function install(project: string, what: readonly string[]): void {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'host', private: true, type: 'module' }))
  run('npm', ['install', '--no-audit', '--no-fund', ...what], { cwd: project })
}

/** How a host installs what it depends on. */
export interface HostInstall {
  readonly manager: 'npm' | 'pnpm'
  /** Packages besides `inlay`, with their versions. */
  readonly dependencies?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
}

/** Makes a project that depends on `inlay` as on a published package: what belongs to it comes from tarballs unasked. */
export function installHost(project: string, packed: readonly Packed[], how: HostInstall): void {
  mkdirSync(project, { recursive: true })
  const { inlay, ...ours } = Object.fromEntries(packed.map(({ name, file }) => [name, `file:${file}`]))
  const host = { name: 'host', private: true, type: 'module', dependencies: { inlay, ...how.dependencies } }
  const write = (file: string, value: object): void => writeFileSync(join(project, file), JSON.stringify(value))
  write('package.json', how.manager === 'npm' ? { ...host, overrides: ours } : host)
  // JSON is YAML.
  write('pnpm-workspace.yaml', { overrides: ours })
  const command = how.manager === 'npm' ? ['npm'] : ['npx', '--yes', 'pnpm@12.21.0']
  run(command[0]!, [...command.slice(1), 'install', ...(how.args ?? [])], { cwd: project })
}

/** Works in its own folder, which is removed afterwards. */
export async function inFolder(
  name: string,
  work: (folder: string) => Promise<void>,
  parent: string = tmpdir(),
): Promise<void> {
  const folder = mkdtempSync(join(parent, `inlay-${name}-`))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Retries until there is a result. */
export async function until<T>(what: string, attempt: () => Promise<T | undefined>, timeoutMs = 180_000): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await attempt().catch(() => undefined)
    if (value !== undefined) return value
    if (Date.now() > deadline) throw new Error(`${what} did not happen in ${timeoutMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** An unused port, below the range of outgoing connections, so that it stays free until it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** A program that serves. */
export interface Serving {
  /** Its output so far. */
  output(): string
  /** Stops it like a supervisor; returns its exit code, or undefined when it had to be killed. */
  end(): Promise<number | undefined>
  /** Whether it had to be killed, since it did not end by itself. */
  isKilled(): boolean
}

/** Starts a program; its output is part of error messages. */
export function serve(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Serving {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const ended = new Promise<number | undefined>((resolve) => {
    child.on('close', (code) => resolve(code ?? undefined))
    // A program that cannot be started.
    child.on('error', (error) => {
      output += String(error)
      resolve(undefined)
    })
  })
  return {
    output: () => output,
    isKilled: () => child.signalCode === 'SIGKILL',
    end: async () => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
      return ended.finally(() => clearTimeout(timer))
    },
  }
}

/** Sends a document, asks about it and returns the answer, which has to cite it. */
export async function askAbout(base: string, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  await until('/health', async () => ((await fetch(`${base}/health`)).ok ? true : undefined))
  const text = 'Full-time staff receive 25 days of paid leave a year.'
  const document = {
    id: 'leave',
    semantic_identifier: 'Leave policy',
    source: 'web',
    metadata: {},
    sections: [{ text, link: 'https://wiki.example.com/leave' }],
  }
  const accepted = await fetch(`${base}/service-api/ingestion`, {
    method: 'POST',
    headers: { ...headers, prefer: 'wait=60' },
    body: JSON.stringify({ document }),
  })
  if (!accepted.ok) throw new Error(`ingestion answered ${accepted.status}: ${await accepted.text()}`)
  const answered = await fetch(`${base}/chat/send-chat-message`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ message: 'How many days of paid leave do full-time staff receive?', stream: false }),
  })
  // Checked right below.
  const answer = (await answered.json()) as { answer: string; citation_info: { document_id: string }[] }
  if (!answer.answer.includes('25 days') || answer.citation_info[0]?.document_id !== 'leave')
    throw new Error(`unexpected answer: ${JSON.stringify(answer)}`)
  return answer.answer
}
