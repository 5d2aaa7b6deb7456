import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { eventually } from '../../life/process.ts'

/** A bucket of a server that speaks S3, behind a gate that can be shut. */
export interface S3Server {
  readonly endpoint: string
  readonly bucket: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string }
  /** Refuses connections and cuts those there are; the server keeps what it holds. */
  shut(): Promise<void>
  reopen(): Promise<void>
  /** Removes what has names that end so. @returns how many there were */
  remove(end: string): Promise<number>
  /** Empties the bucket: each list of a folder reads the names of all that was ever written. */
  clear(): Promise<void>
  stop(): Promise<void>
}

const credentials = { accessKeyId: 'inlay', secretAccessKey: 'check', region: 'us-east-1' }
const bucket = 'inlay-check'

/** Starts moto, which keeps all in memory; needs `python3` with `venv`. */
export async function startS3(): Promise<S3Server> {
  const port = 20_000 + (process.pid % 20_000)
  const child = spawn(install(), ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const gate = await openGate(port)
  const endpoint = `http://127.0.0.1:${gate.port}`
  const client = new AwsClient({ ...credentials, service: 's3' })
  const createBucket = (): Promise<true> =>
    eventually('a bucket', async () => {
      const reply = await client.fetch(`${endpoint}/${bucket}`, { method: 'PUT', aws: {} }).catch(() => undefined)
      return reply?.ok || undefined
    })
  await createBucket()
  return {
    endpoint,
    bucket,
    credentials,
    shut: gate.shut,
    reopen: gate.reopen,
    remove: async (end) => {
      const list = await (await client.fetch(`${endpoint}/${bucket}?list-type=2`, { aws: {} })).text()
      const keys = [...list.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key]) => key!).filter((key) => key.endsWith(end))
      for (const key of keys) await client.fetch(`${endpoint}/${bucket}/${key}`, { method: 'DELETE', aws: {} })
      return keys.length
    },
    clear: async () => {
      await fetch(`${endpoint}/moto-api/reset`, { method: 'POST' })
      await createBucket()
    },
    stop: async () => {
      await gate.shut()
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Gets moto from PyPI, into a folder that other runs find again. */
function install(): string {
  const folder = join(process.env['INLAY_ENGINES'] ?? join(tmpdir(), 'inlay-engines'), 'moto-5.2.5')
  const server = join(folder, 'bin', 'moto_server')
  if (existsSync(server)) return server
  process.stdout.write(`Installing moto to ${folder} …\n`)
  execFileSync('python3', ['-m', 'venv', folder])
  execFileSync(join(folder, 'bin', 'pip'), ['install', '--quiet', 'moto[server,s3]==5.2.5'])
  return server
}

async function openGate(target: number): Promise<Pick<S3Server, 'shut' | 'reopen'> & { readonly port: number }> {
  const sockets = new Set<Socket>()
  const pass = (from: Socket): void => {
    const to = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy()).on('close', () => (other.destroy(), sockets.delete(socket)))
    }
  }
  const listen = (port: number): Promise<ReturnType<typeof createServer>> =>
    new Promise((resolve, reject) => {
      const server = createServer(pass).once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve(server))
    })
  let server = await listen(0)
  const { port } = server.address() as { port: number }
  return {
    port,
    shut: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
    reopen: async () => void (server = await listen(port)),
  }
}
