import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * How a gate treats what comes: `silent` takes it and passes nothing on, so that no connection ends; `slow` holds each
 * piece of a reply for two seconds; `shut` refuses connections; `cut` breaks each one off amid its first reply; `refusing`
 * answers HTTP requests with 429.
 */
export type Passage = 'open' | 'silent' | 'slow' | 'shut' | 'cut' | 'refusing'

/** A way to a server. */
export interface Gate {
  readonly port: number
  set(passage: Passage): Promise<void>
  remove(): Promise<void>
}

const slowMs = 2_000

/**
 * @param target port that it leads to
 * @param onRequest receives the first line of each HTTP request without its protocol
 */
export async function startGate(target: number, onRequest: (line: string) => void = () => {}): Promise<Gate> {
  const sockets = new Set<Socket>()
  let passage: Passage = 'open'
  const pass = (near: Socket): void => {
    const far = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      const write = (part: Buffer): void => void (to.destroyed || to.write(part))
      from.on('data', (part: Buffer) => {
        if (from === near) for (const [, line] of part.toString('latin1').matchAll(requests)) onRequest(line!)
        if (from === near && passage === 'refusing') return void near.write(refusal)
        if (from === near || passage === 'open') return write(part)
        if (passage === 'slow') return void setTimeout(write, slowMs, part)
        to.write(part.subarray(0, part.length / 2), () => to.resetAndDestroy())
      })
      // What is held goes first.
      from.on('end', () => (passage === 'slow' ? setTimeout(() => to.end(), slowMs + 10) : to.end()))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        if (passage !== 'slow') to.destroy()
        sockets.delete(from)
      })
      if (passage === 'silent') from.pause()
    }
  }
  const listen = async (port: number): Promise<Server> => {
    const server = createServer(pass).listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  let server = await listen(0)
  const { port } = server.address() as { port: number }
  const shut = async (): Promise<void> => {
    if (!server.listening) return
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }
  return {
    port,
    set: async (next) => {
      passage = next
      if (next === 'shut') return shut()
      if (!server.listening) server = await listen(port)
      for (const socket of sockets) socket[next === 'silent' ? 'pause' : 'resume']()
    },
    remove: shut,
  }
}

const refusal = 'HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'
const requests = /^((?:GET|PUT|POST|DELETE|HEAD) \S+) HTTP\/1\.1\r$/gm
