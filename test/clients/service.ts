import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** An `inlay serve` of its own, with an empty folder and a key of every scope. */
export interface Service {
  /** Address of the API. */
  readonly base: string
  readonly key: string
  /** Its output so far, both streams together. */
  readonly log: () => string
  close(): Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const key = 'inlay_check-of-the-whole-api'

/** Starts the command line's server from the sources, on a free port. */
export async function startService(settings: Readonly<Record<string, string>> = {}): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-check-'))
  const child = spawn(
    process.execPath,
    ['--conditions=@inlay/source', join(root, 'packages/inlay/src/cli.ts'), 'serve'],
    {
      cwd: root,
      env: { ...process.env, PORT: '0', INLAY_DATA: folder, INLAY_API_KEY: key, LANCEDB_LOG: 'error', ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let log = ''
  child.stdout.on('data', (chunk) => (log += String(chunk)))
  child.stderr.on('data', (chunk) => (log += String(chunk)))
  const origin = await addressOf(child, () => log)
  return {
    base: `${origin}/api`,
    key,
    log: () => log,
    async close() {
      if (child.exitCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

function addressOf(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const address = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(log())?.[0]
      if (address !== undefined) resolve(address)
    }
    child.stdout?.on('data', look)
    // With INLAY_LOG=json.
    child.stderr?.on('data', look)
    child.once('exit', () => reject(new Error(`inlay serve ended:\n${log()}`)))
  })
}
