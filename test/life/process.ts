import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running service and how to talk to it. */
export interface Service {
  readonly base: string
  readonly child: ChildProcess
  /** Its log so far. */
  said(): string
  fetch(path: string, init?: RequestInit): Promise<Response>
  kill(): Promise<void>
  stop(): Promise<void>
}

const apiKey = 'inlay_life_test_key_0123456789abcdef'

/**
 * Starts the service over a data folder and waits for its port.
 * @param options.compiled folder for compiled code: a service that stops leaves some there, which spares later ones
 * half of their start
 * @param options.program which of the programs beside this file
 */
export async function startService(
  dataFolder: string,
  { compiled, program = 'service.ts' }: { compiled?: string; program?: string } = {},
): Promise<Service> {
  const child = spawn(
    process.execPath,
    ['--conditions=@inlay/source', join(import.meta.dirname, program), dataFolder, apiKey],
    {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        LANCEDB_LOG: 'error',
        MASTRA_TELEMETRY_DISABLED: '1',
        ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      },
    },
  )
  let errors = ''
  child.stderr!.on('data', (part) => (errors += part))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    let output = ''
    child.stdout!.on('data', (part) => {
      output += part
      const match = /port (\d+)\n/.exec(output)
      if (match) resolve(Number(match[1]))
    })
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}:\n${errors}`)))
  })
  const base = `http://127.0.0.1:${port}/api`
  return {
    base,
    child,
    said: () => errors,
    fetch: (path, init = {}) =>
      fetch(base + path, {
        ...init,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...init.headers },
      }),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** A folder that is gone after the test. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'inlay-life-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) }
}

/** Calls until a value comes back; fails after the limit with what was waited for. */
export async function eventually<T>(
  what: string,
  attempt: () => Promise<T | undefined>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await attempt()
    if (value !== undefined) return value
    if (Date.now() > deadline) throw new Error(`did not happen in ${timeoutMs} ms: ${what}`)
    await new Promise((done) => setTimeout(done, 50))
  }
}
