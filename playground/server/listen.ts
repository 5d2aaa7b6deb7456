import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeServer, nodeListener, type Inlay } from 'inlay'
import type { Peer } from 'inlay/page'

/** A server that listens. */
export interface Listening {
  readonly port: number
  /** Ends the assistant, then every connection. Idempotent. */
  close(inlay: Pick<Inlay, 'close'> & Partial<Pick<Inlay, 'drain'>>): Promise<void>
}

/** A start that cannot work, said in words for a person. */
export interface Refusal {
  readonly refusal: string
}

/** Listens for requests; a port that cannot be had is refused in words. */
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
      return `Port ${port} is taken, perhaps by another Inlay. Stop that, or choose a port: PORT=0 npm start takes any free one.`
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose one above 1023: PORT=0 npm start takes any free one.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address "${host}". Set HOST to one of its own, such as 127.0.0.1.`
    default:
      return `The server cannot listen on ${host}, port ${port} (${failure.code ?? failure.message}).`
  }
}
