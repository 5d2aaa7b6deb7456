import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The playground, started as `npm start` does it, with its own data folder. */
export interface Playground {
  /** The printed address, which opens the page with its key. */
  readonly address: string
  readonly origin: string
  readonly key: string
  /** Resolves once it has printed this. */
  printed(words: string): Promise<void>
  /** Stops it like Ctrl+C; returns its exit code. */
  end(): Promise<number | null>
}

/** Starts the playground on a free port and waits until it has printed its address. */
export async function startPlayground(env: Readonly<Record<string, string>> = {}): Promise<Playground> {
  const folder = await mkdtemp(join(tmpdir(), 'inlay-browser-'))
  const child = spawn(process.execPath, ['--conditions=@inlay/source', 'playground/start.ts'], {
    env: { PATH: process.env.PATH, HOME: folder, PORT: '0', INLAY_DATA: join(folder, 'data'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const end = async (): Promise<number | null> => {
    child.kill('SIGINT')
    const code = await ended
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    return code
  }
  const printed = (words: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (output.includes(words)) resolve()
      }
      child.stdout.on('data', look)
      void ended.then((code) =>
        reject(new Error(`The playground ended (${code}) and never printed "${words}":\n${output}`)),
      )
      look()
    })
  const gather = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  child.stdout.on('data', gather)
  child.stderr.on('data', gather)
  await printed('Ctrl+C').catch(async (error: unknown) => {
    await end()
    throw error
  })
  const address = /Page +(\S+)/.exec(output)?.[1] ?? ''
  const key = /Key +(\S+)/.exec(output)?.[1] ?? ''
  return { address, origin: new URL(address).origin, key, printed, end }
}
