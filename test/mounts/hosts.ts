import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import compression from 'compression'
import express from 'express'
import Fastify from 'fastify'
import { fromNodeHandler, H3 } from 'h3'
import { createApp, eventHandler, fromNodeMiddleware, toNodeListener } from 'h3-v1'
import { Hono } from 'hono'
import Koa from 'koa'
import type { Principal } from '@inlay/protocol'
import { nodeListener, type FetchHandler } from 'inlay'
import { fastifyPlugin } from 'inlay/fastify'
import { koaMiddleware } from 'inlay/koa'
import { routeHandlers } from 'inlay/next'
import { toNodeHandler } from 'srvx/node'

/** A host app that has set an assistant into itself at `/assistant/api`, beside a page of its own. */
export interface Host {
  readonly name: string
  /** Address of the mounted API. */
  readonly base: string
  readonly origin: string
  close(): Promise<void>
}

function plainNode(fetch: FetchHandler): RequestListener {
  const listener = nodeListener(fetch)
  return (request, response) => {
    if (request.url === '/own') return void response.end('own page')
    listener(request, response)
  }
}

function expressApp(fetch: FetchHandler): RequestListener {
  const app = express()
  app.use('/assistant/api', nodeListener(fetch))
  app.use(express.json())
  app.get('/own', (_, response) => void response.send('own page'))
  return app as RequestListener
}

function expressWithParserAhead(fetch: FetchHandler): RequestListener {
  const app = express()
  app.use(express.json(), express.urlencoded())
  app.use('/assistant/api', nodeListener(fetch))
  return app as RequestListener
}

/** A host that reads the files of forms itself, as `multer` does. */
export function expressWithFormParserAhead(fetch: FetchHandler): RequestListener {
  const app = express()
  app.use((request, _response, next) => void request.resume().on('end', next))
  app.use('/assistant/api', nodeListener(fetch))
  return app as RequestListener
}

/** A host whose middleware has signed its user in. */
function expressWithSignIn(fetch: FetchHandler): RequestListener {
  const app = express()
  app.use(express.json(), (request, _response, next) => {
    Object.assign(request, { user: request.get('x-user') })
    next()
  })
  const principal = ({ user }: express.Request & { user?: string }): Principal | undefined =>
    user === undefined ? undefined : { id: user, scopes: ['chat'] }
  app.use('/assistant/api', nodeListener(fetch, { principal }))
  return app as RequestListener
}

/** A host whose own error page must not replace our errors. */
function h3App(fetch: FetchHandler): RequestListener {
  const app = new H3({ silent: true, onError: () => new Response('the host says sorry', { status: 418 }) })
  app.get('/own', () => 'own page')
  app.mount('/assistant/api', { fetch })
  return toNodeHandler(app.fetch) as RequestListener
}

/** Compression changes `write` and `end` of every answer: what it leaves of them has to be enough. */
function expressWithCompression(fetch: FetchHandler): RequestListener {
  const app = express()
  app.use(compression({ threshold: 0 }))
  app.use('/assistant/api', nodeListener(fetch))
  app.get('/own', (_, response) => void response.send('own page'))
  return app as RequestListener
}

/** h3's bridge for Node listeners waits for the promise that a listener returns. */
function h3NodeBridge(fetch: FetchHandler): RequestListener {
  const app = new H3({ silent: true })
  app.get('/own', () => 'own page')
  app.all('/assistant/api/**', fromNodeHandler(nodeListener(fetch)))
  return toNodeHandler(app.fetch) as RequestListener
}

/** The first version of h3, as Nuxt 3 and Nitro 2 run it. */
function h3Version1(fetch: FetchHandler): RequestListener {
  const app = createApp()
  app.use(
    '/own',
    eventHandler(() => 'own page'),
  )
  app.use('/assistant/api', fromNodeMiddleware(nodeListener(fetch)))
  return toNodeListener(app) as RequestListener
}

/** Hono's Node server puts classes of its own in place of `Request` and `Response`. */
function honoApp(fetch: FetchHandler): RequestListener {
  const app = new Hono()
  app.get('/own', (context) => context.text('own page'))
  app.mount('/assistant/api', fetch)
  return getRequestListener(app.fetch) as RequestListener
}

function fastifyApp(fetch: FetchHandler): RequestListener {
  const app = Fastify({ forceCloseConnections: true })
  app.register(fastifyPlugin({ fetch }), { prefix: '/assistant/api' })
  app.get('/own', async () => 'own page')
  return (request, response) => void app.ready().then(() => app.routing(request, response))
}

function koaApp(fetch: FetchHandler): RequestListener {
  const app = new Koa()
  app.use(koaMiddleware({ fetch }, '/assistant/api'))
  app.use((context) => {
    if (context.path === '/own') context.body = 'own page'
  })
  return (request, response) => void app.callback()(request, response)
}

/** Calls route handlers as Next.js does: by method, with a web request. */
function nextRoutes(fetch: FetchHandler): RequestListener {
  const handlers: Readonly<Record<string, (request: Request) => Promise<Response>>> = routeHandlers({ fetch })
  return toNodeHandler(async (request) => {
    if (new URL(request.url).pathname === '/own') return new Response('own page')
    return handlers[request.method]?.(request) ?? new Response(null, { status: 405 })
  }) as RequestListener
}

/** The ways to mount, each with its name. */
export const mounts: readonly (readonly [name: string, mount: (fetch: FetchHandler) => RequestListener])[] = [
  ['node:http', plainNode],
  ['Express', expressApp],
  ['Express behind compression', expressWithCompression],
  ['h3', h3App],
  ["h3's bridge for Node listeners", h3NodeBridge],
  ['the first version of h3', h3Version1],
  ['Hono on Node', honoApp],
  ['Fastify', fastifyApp],
  ['Koa', koaApp],
  ['route handlers of Next.js', nextRoutes],
]

/** Starts a host app on a free port. */
export async function startHost(mount: (fetch: FetchHandler) => RequestListener, fetch: FetchHandler): Promise<Host> {
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

export { expressWithParserAhead, expressWithSignIn }
