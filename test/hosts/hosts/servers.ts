import type { Host } from '../host.ts'

const node = 'node'

/** Hosts that are programs of their own: the recipe is the whole server. */
export const servers: readonly Host[] = [
  {
    name: 'node:http',
    section: 'node:http',
    ownRoutes: `
  if (request.url !== '/own') return response.writeHead(404).end('nothing here')
  if (request.method === 'GET') return response.end('own page')
  let body = ''
  request.on('data', (piece) => (body += piece)).on('end', () => response.end('hello ' + JSON.parse(body).name))`,
    start: () => [node, 'server.ts'],
  },
  {
    name: 'Express',
    section: 'Express',
    dependencies: { express: '5.3.0', compression: '1.8.2', helmet: '8.3.0' },
    ownRoutes: `
app.get('/own', (_, response) => void response.send('own page'))
app.post('/own', (request, response) => void response.send('hello ' + request.body.name))`,
    start: () => [node, 'server.ts'],
  },
  {
    name: 'Fastify',
    section: 'Fastify',
    dependencies: { fastify: '5.12.8' },
    ownRoutes: `
app.get('/own', async () => 'own page')
app.post<{ Body: { name: string } }>('/own', async (request) => 'hello ' + request.body.name)`,
    start: () => [node, 'server.ts'],
  },
  {
    name: 'Koa',
    section: 'Koa',
    dependencies: { koa: '3.3.0' },
    ownRoutes: `
app.use(async (context) => {
  if (context.path !== '/own') return
  if (context.method === 'GET') return void (context.body = 'own page')
  let body = ''
  for await (const piece of context.req) body += piece
  context.body = 'hello ' + JSON.parse(body).name
})`,
    start: () => [node, 'server.ts'],
  },
  {
    name: 'NestJS',
    section: 'NestJS',
    inlayFile: 'src/inlay.ts',
    dependencies: {
      '@nestjs/common': '12.5.1',
      '@nestjs/core': '12.5.1',
      '@nestjs/platform-express': '12.5.1',
      'reflect-metadata': '0.2.2',
      rxjs: '7.8.2',
      typescript: '5.9.3',
      '@types/node': '24.10.1',
    },
    files: {
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          target: 'es2023',
          module: 'nodenext',
          strict: true,
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
          rootDir: 'src',
          outDir: 'dist',
        },
      }),
      'src/app.module.ts': `import { Body, Controller, Get, Module, Post } from '@nestjs/common'

@Controller('own')
class OwnController {
  @Get() page(): string {
    return 'own page'
  }
  @Post() greet(@Body() body: { name: string }): string {
    return 'hello ' + body.name
  }
}

@Module({ controllers: [OwnController] })
export class AppModule {}
`,
    },
    builds: [['tsc', '-p', '.']],
    start: () => [node, 'dist/main.js'],
  },
]
