import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a server that can fall silent: what is sent then arrives nowhere, and no connection ends. */
export interface Hole {
  readonly port: number
  open(): Promise<void>
  close(): Promise<void>
  remove(): Promise<void>
}

/** @param target port that it leads to while it is closed */
export async function startHole(target: number): Promise<Hole> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let isOpen = false
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [far, near]] as const) {
      from.on('data', (part) => to.write(part))
      from.on('end', () => to.end())
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
      if (isOpen) from.pause()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    port,
    open: async () => {
      isOpen = true
      for (const socket of [...pairs].flat()) socket.pause()
    },
    close: async () => {
      isOpen = false
      for (const socket of [...pairs].flat()) socket.resume()
    },
    remove: async () => {
      for (const socket of [...pairs].flat()) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
