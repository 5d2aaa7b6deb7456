import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

const program = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'

/** The reference server of the MCP project, in a separate process. */
export interface Everything {
  readonly url: string
  close(): Promise<void>
}

/** Starts it on a free port; it cannot choose one itself. */
export async function startEverything(transport: 'http' | 'sse'): Promise<Everything> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const env = { ...process.env, PORT: String(port) }
    const child = spawn(process.execPath, [program, transport === 'http' ? 'streamableHttp' : 'sse'], { env })
    if (await listens(child)) {
      const url = `http://127.0.0.1:${port}/${transport === 'http' ? 'mcp' : 'sse'}`
      return { url, close: () => end(child) }
    }
    await end(child)
    if (attempt === 5) throw new Error('The reference server of MCP does not start.')
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function listens(child: ChildProcess): Promise<boolean> {
  child.stdout?.resume()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  let received = ''
  child.stderr?.on('data', (text: Buffer) => {
    received += text.toString()
    if (/listening on port|running on port/i.test(received)) resolve(true)
  })
  child.once('exit', () => resolve(false))
  return promise
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
