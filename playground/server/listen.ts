import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeServer, nodeListener, type Inlay } from 'inlay'
import type { Peer } from 'inlay/page'

/** A listening server. */
export interface Listening {
  readonly port: number
  /** Closes the assistant, then all connections. Idempotent. */
  close(inlay: Pick<Inlay, 'close'> & Partial<Pick<Inlay, 'drain'>>): Promise<void>
}

/** The reason why the server cannot start, for the user. */
export interface Refusal {
  readonly refusal: string
}

/** Listens for requests, or explains why the port cannot be used. */
export async function listen(options: {
  readonly host: string
  readonly port: number
  readonly fetch: (request: Request, peer: Peer) => Promise<Response>
}): Promise<Listening | Refusal> {
  const server = createServer((request, response) => {
    const peer = { ip: request.socket.remoteAddress }
    nodeListener((webRequest) => options.fetch(webRequest, peer))(request, response)
  })
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve)
    server.listen(options.port, options.host, () => resolve(undefined))
  })
  if (failure !== undefined) return { refusal: reasonOf(failure, options) }
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo
  return { port, close: (inlay) => closeServer(server, inlay) }
}

function reasonOf(failure: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): string {
  switch (failure.code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use, perhaps by another Inlay. Stop it, or use any free port: PORT=0 npm start.`
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose one above 1023, or any free port: PORT=0 npm start.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address "${host}". Set HOST to one of its own, such as 127.0.0.1.`
    default:
      return `The server cannot listen on ${host}, port ${port} (${failure.code ?? failure.message}).`
  }
}
