import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { H3 } from 'h3'
import { nodeListener } from 'inlay'
import { toNodeHandler } from 'srvx/node'

type Fetch = (request: Request) => Promise<Response>

/** A host app that has set an assistant into itself at `/assistant/api`, beside a page of its own. */
export interface Host {
  readonly name: string
  /** Address of the mounted API. */
  readonly base: string
  readonly origin: string
  close(): Promise<void>
}

function plainNode(fetch: Fetch): RequestListener {
  const listener = nodeListener(fetch)
  return (request, response) => {
    if (request.url === '/own') return void response.end('own page')
    listener(request, response)
  }
}

function expressApp(fetch: Fetch): RequestListener {
  const app = express()
  app.use('/assistant/api', nodeListener(fetch))
  app.use(express.json())
  app.get('/own', (_, response) => void response.send('own page'))
  return app as RequestListener
}

function expressWithParserAhead(fetch: Fetch): RequestListener {
  const app = express()
  app.use(express.json())
  app.use('/assistant/api', nodeListener(fetch))
  return app as RequestListener
}

/** A host whose own error page must not replace our errors. */
function h3App(fetch: Fetch): RequestListener {
  const app = new H3({ silent: true, onError: () => new Response('the host says sorry', { status: 418 }) })
  app.get('/own', () => 'own page')
  app.mount('/assistant/api', { fetch })
  return toNodeHandler(app.fetch) as RequestListener
}

/** The ways to mount, each with its name. */
export const mounts: readonly (readonly [name: string, mount: (fetch: Fetch) => RequestListener])[] = [
  ['node:http', plainNode],
  ['Express', expressApp],
  ['h3', h3App],
]

/** Starts a host app on a free port. */
export async function startHost(mount: (fetch: Fetch) => RequestListener, fetch: Fetch): Promise<Host> {
  const server: Server = createServer(mount(fetch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    name: mount.name,
    origin,
    base: `${origin}/assistant/api`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export { expressWithParserAhead }
