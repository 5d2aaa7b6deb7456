import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Inlay } from '../inlay.ts'
import { nodeListener } from '../node-listener.ts'

/** What the plugin uses of a Fastify instance. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parser: (request: never, payload: never, done: (error: null) => void) => void,
  ): void
  all(path: string, handler: (request: FastifyCall, reply: FastifyAnswer) => Promise<void>): unknown
}

/** What it uses of a request. */
export interface FastifyCall {
  readonly raw: IncomingMessage
}

/** What it uses of a reply. */
export interface FastifyAnswer {
  readonly raw: ServerResponse
  hijack(): unknown
  getHeaders(): Record<string, number | string | string[] | undefined>
}

/**
 * A Fastify plugin that answers all below its prefix. Hooks of the host run before it, and headers they set are sent.
 * Bodies are not parsed in its scope; the rest of the app keeps its parsers.
 * @example app.register(fastifyPlugin(inlay), { prefix: '/assistant' })
 */
export function fastifyPlugin(inlay: Pick<Inlay, 'fetch'>): (app: FastifyScope) => Promise<void> {
  const listener = nodeListener(inlay.fetch)
  return async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', async ({ raw: request }, reply) => {
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) reply.raw.setHeader(name, value)
      await listener(request, reply.raw)
    })
  }
}
