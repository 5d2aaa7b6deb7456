import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../life/process.ts'

/** A server that is stopped and started again with what it holds. */
export interface EngineServer {
  readonly url: string
  start(): Promise<void>
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
  /** Its processes. */
  pids(): readonly number[]
  /** Ends it for good. */
  remove(): Promise<void>
}

async function listens(port: number): Promise<void> {
  await eventually(`something listens on port ${port}`, async () => {
    const socket = connect(port, '127.0.0.1')
    const result = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error')]).catch(() => [])
    socket.destroy()
    return result === true ? true : undefined
  })
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Stops each process of an engine where it stands, as a machine that hangs does, or lets it go on. */
export function signalAll(pids: readonly number[], signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
}

const pidsOf = (child: ChildProcess | undefined): number[] => (child?.pid === undefined ? [] : [child.pid])

/** A process and those that it started. Linux only. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return [pid, ...(children === '' ? [] : children.split(' ').map(Number))]
}

/** Redis that keeps nothing on the disk. */
export function redisServer(port: number): EngineServer {
  let child: ChildProcess | undefined
  const server: EngineServer = {
    url: `redis://127.0.0.1:${port}`,
    start: async () => {
      child = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], { stdio: 'ignore' })
      await listens(port)
    },
    kill: () => end(child),
    pids: () => pidsOf(child),
    remove: () => end(child),
  }
  return server
}

const version = '0.1.4'

/** PostgreSQL 16 with pgvector, as the Python package `pgserver` brings both; `pip` downloads it at the first use. */
function programs(): string {
  const folder = join(process.env['INLAY_ENGINES'] ?? join(tmpdir(), 'inlay-engines'), `pgserver-${version}`)
  const bin = join(folder, 'pgserver/pginstall/bin')
  if (existsSync(join(bin, 'postgres'))) return bin
  process.stdout.write(`Downloading PostgreSQL with pgvector to ${folder} …\n`)
  mkdirSync(folder, { recursive: true })
  execFileSync('pip', ['install', '-q', '--no-deps', '--target', folder, `pgserver==${version}`], { stdio: 'inherit' })
  return bin
}

/** The server refuses to run as root; Debian's `postgresql` brings the user. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/**
 * Starts on an empty folder. Writes to the disk as in use, so that a kill loses nothing.
 * @param parent folder for its own
 */
export async function vectorPostgres(port: number, parent = tmpdir()): Promise<EngineServer> {
  const bin = programs()
  const user = unprivileged()
  const folder = mkdtempSync(join(parent, 'inlay-postgres-'))
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  const data = join(folder, 'data')
  const options = { ...user, stdio: 'ignore' as const, cwd: folder }
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--encoding=UTF8', '--locale=C'],
    options,
  )
  let child: ChildProcess | undefined
  const server: EngineServer = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start: async () => {
      const words = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-c', 'max_connections=200']
      child = spawn(join(bin, 'postgres'), words, options)
      const isUp = join(bin, 'pg_isready')
      await eventually('PostgreSQL answers', async () => {
        const check = spawn(isUp, ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
        const [code] = (await once(check, 'exit')) as [number | null]
        return code === 0 ? true : undefined
      })
    },
    kill: async () => {
      // Its children go by themselves once they see that it is gone.
      if (child?.exitCode === null && child.signalCode === null) child.kill('SIGQUIT')
      if (child?.exitCode === null) await once(child, 'exit')
    },
    pids: () => pidsOf(child).flatMap(familyOf),
    remove: async () => {
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}
