import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ProcessTask } from './process.ts'

export const apiKey = 'inlay_scale_check_key_0123456789'

/** A process of an installation that is ended and started again on the same port. */
export interface Member {
  readonly port: number
  readonly base: string
  readonly isRunning: boolean
  start(): Promise<void>
  /** SIGTERM; resolves once it has ended by itself. */
  stop(): Promise<void>
  kill(): Promise<void>
}

/** If it cannot start, the error contains its standard error; `onLine` receives every line. */
export function member(task: Omit<ProcessTask, 'apiKey'>, onLine: (line: string) => void = () => {}): Member {
  let child: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child
    child = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    ending.kill(signal)
    await once(ending, 'exit')
  }
  return {
    port: task.port,
    base: `http://127.0.0.1:${task.port}/api`,
    get isRunning() {
      return child !== undefined
    },
    start: async () => {
      const program = join(import.meta.dirname, 'process.ts')
      const env = { ...process.env, LANCEDB_LOG: 'error', INLAY_TEST_TASK: JSON.stringify({ ...task, apiKey }) }
      const started = spawn(process.execPath, ['--conditions=@inlay/source', program], { env })
      child = started
      let errors = ''
      started.stderr.on('data', (part: Buffer) => {
        errors = (errors + part).slice(-4_000)
        onLine(String(part).trimEnd())
      })
      await new Promise<void>((resolve, reject) => {
        started.stdout.once('data', () => resolve())
        started.once('exit', (code) => reject(new Error(`a process ended with ${code} at its start:\n${errors}`)))
      })
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

/** Ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  // Listening TCP servers have an address of this form.
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
