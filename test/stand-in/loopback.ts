import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on a free port of the loopback. */
export interface Loopback {
  /** Address without a path. */
  readonly origin: string
  close(): Promise<void>
}

/** Starts a server; a request whose answer fails is cut off. */
export async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Loopback> {
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers in JSON. */
export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
