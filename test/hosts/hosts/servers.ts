import type { Host } from '../host.ts'

const node = 'node'
const types = { typescript: '5.9.3', '@types/node': '24.10.1' }
/** Node only strips the types of a recipe; here they are looked at. */
const typeCheck = [['tsc', '-p', '.']]
const checked = {
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2024',
      module: 'nodenext',
      types: ['node'],
      noEmit: true,
      skipLibCheck: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
    },
    include: ['*.ts'],
  }),
}
const express = {
  ...types,
  express: '5.3.0',
  compression: '1.8.2',
  helmet: '8.3.0',
  '@types/express': '5.0.6',
  '@types/compression': '1.8.1',
}
const expressRoutes = `
app.get('/own', (_, response) => void response.send('own page'))
app.post('/own', (request, response) => void response.send('hello ' + request.body.name))`

/** Hosts that are programs of their own: the recipe is the whole server. */
export const servers: readonly Host[] = [
  {
    name: 'node:http',
    section: 'node:http',
    dependencies: types,
    files: checked,
    builds: typeCheck,
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
    takes: ['server.ts'],
    dependencies: express,
    files: checked,
    builds: typeCheck,
    ownRoutes: expressRoutes,
    start: () => [node, 'server.ts'],
  },
  {
    name: 'Express CommonJS',
    section: 'Express',
    takes: ['app.js'],
    inlayFile: 'inlay.mts',
    dependencies: { express: express.express },
    // The default of `npm init`.
    files: { 'package.json': '{ "type": "commonjs" }' },
    ownRoutes: expressRoutes,
    start: () => [node, 'app.js'],
  },
  {
    name: 'Express behind parsers',
    section: 'Express',
    takes: ['signed-in.ts'],
    dependencies: express,
    signIn: 'const readSession = async (_cookie: string | null): Promise<{ id: string } | undefined> => undefined\n',
    files: {
      ...checked,
      // Like the middleware of a sign-in library, such as Passport.
      'sign-in.ts': `import type { NextFunction, Request, Response } from 'express'

declare global {
  namespace Express {
    interface Request {
      user?: { id: string }
    }
  }
}

export function signIn(request: Request, _response: Response, next: NextFunction): void {
  const id = /session=(\\w+)/.exec(request.headers.cookie ?? '')?.[1]
  if (id !== undefined) request.user = { id }
  next()
}
`,
    },
    builds: typeCheck,
    ownRoutes: expressRoutes,
    start: () => [node, 'signed-in.ts'],
  },
  {
    name: 'Fastify',
    section: 'Fastify',
    dependencies: { ...types, fastify: '5.12.8' },
    files: checked,
    builds: typeCheck,
    ownRoutes: `
app.get('/own', async () => 'own page')
app.post<{ Body: { name: string } }>('/own', async (request) => 'hello ' + request.body.name)`,
    start: () => [node, 'server.ts'],
  },
  {
    name: 'Koa',
    section: 'Koa',
    dependencies: { ...types, koa: '3.3.0', '@types/koa': '3.0.3' },
    files: checked,
    builds: typeCheck,
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
