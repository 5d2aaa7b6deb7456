import type { Host } from '../host.ts'

const bun = 'node_modules/{bun/bin/bun.exe,@oven/*/bin/bun}'
const deno = 'node_modules/{deno/deno,@deno/*/deno}'

/** Own routes over web requests. */
const answerOwn = `
  if (new URL(request.url).pathname !== '/own') return new Response('nothing here', { status: 404 })
  if (request.method === 'GET') return new Response('own page')
  return request.json().then(({ name }) => new Response('hello ' + name))`

const honoRoutes = `
app.get('/own', (context) => context.text('own page'))
app.post('/own', async (context) => context.text('hello ' + (await context.req.json()).name))`

const elysiaRoutes = `
app.get('/own', () => 'own page')
app.post('/own', ({ body }) => 'hello ' + (body as { name: string }).name)`

/** Hosts that hand out web requests. */
export const runtimes: readonly Host[] = [
  {
    name: 'Hono',
    section: 'Hono',
    takes: ['app.ts', 'server.ts'],
    dependencies: { hono: '4.13.19', '@hono/node-server': '2.1.8' },
    ownRoutes: honoRoutes,
    start: () => ['node', 'server.ts'],
  },
  {
    name: 'Hono on Bun',
    section: 'Hono',
    takes: ['app.ts', 'bun.ts'],
    dependencies: { hono: '4.13.19', bun: '1.4.5' },
    ownRoutes: honoRoutes,
    start: () => [bun, 'bun.ts'],
  },
  {
    name: 'Elysia',
    section: 'Elysia',
    takes: ['server.ts'],
    dependencies: { elysia: '1.4.30', '@elysiajs/node': '1.4.5' },
    ownRoutes: elysiaRoutes,
    start: () => ['node', 'server.ts'],
  },
  {
    name: 'Elysia on Bun',
    section: 'Elysia',
    takes: ['bun.ts'],
    dependencies: { elysia: '1.4.30', bun: '1.4.5' },
    ownRoutes: elysiaRoutes,
    start: () => [bun, 'bun.ts'],
  },
  {
    name: 'h3',
    section: 'h3',
    takes: ['server.ts'],
    dependencies: { h3: '2.0.8' },
    ownRoutes: `
app.get('/own', () => 'own page')
app.post('/own', async (event) => 'hello ' + (await event.req.json()).name)`,
    start: () => ['node', 'server.ts'],
  },
  {
    name: 'h3 v1',
    section: 'h3',
    takes: ['server-v1.ts'],
    dependencies: { h3: '1.15.11' },
    ownRoutes: `
app.use('/own', defineEventHandler(async (event) => {
  if (event.method === 'GET') return 'own page'
  let body = ''
  for await (const piece of event.node.req) body += piece
  return 'hello ' + JSON.parse(body).name
}))`,
    start: () => ['node', 'server-v1.ts'],
  },
  {
    name: 'Bun',
    section: 'Bun',
    dependencies: { bun: '1.4.5' },
    ownRoutes: `
    '/own': {
      GET: () => new Response('own page'),
      POST: async (request: Request) => new Response('hello ' + (await request.json()).name),
    },`,
    start: () => [bun, 'bun.ts'],
  },
  {
    name: 'Deno',
    section: 'Deno',
    dependencies: { deno: '2.9.6' },
    ownRoutes: answerOwn,
    start: () => [
      deno,
      'run',
      ...['net', 'read', 'write', 'env', 'sys', 'ffi'].map((permission) => `--allow-${permission}`),
      '--node-modules-dir=manual',
      'deno.ts',
    ],
  },
]
