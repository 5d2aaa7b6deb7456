import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeListener } from './node-listener.ts'
import { fetchOf, type Mountable, type PrincipalOption } from './principal.ts'

/** Part of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown
  all(path: string, handler: (request: FastifyCall, reply: FastifyAnswer) => Promise<void>): unknown
}

/** Part of a request that the plugin uses. */
export interface FastifyCall {
  readonly raw: IncomingMessage
}

/** Part of a reply that the plugin uses. */
export interface FastifyAnswer {
  readonly raw: ServerResponse
  hijack(): unknown
  getHeaders(): Record<string, number | string | string[] | undefined>
}

/**
 * A Fastify plugin that handles all requests below its prefix. Hooks of the host run before it, and headers they set
 * are sent. Bodies are not parsed in its scope; the rest of the app keeps its parsers.
 * @example app.register(fastifyPlugin(inlay, { principal: (request: FastifyRequest) => request.user }), { prefix: '/assistant' })
 */
export function fastifyPlugin<Call extends FastifyCall = FastifyCall>(
  assistant: Mountable,
  { principal: principalOf }: PrincipalOption<Call> = {},
): (app: FastifyScope) => Promise<void> {
  const fetch = fetchOf(assistant, 'fastifyPlugin')
  return async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', async (request, reply) => {
      // The type parameter is the host's request type.
      const principal = await principalOf?.(request as Call)
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) reply.raw.setHeader(name, value)
      await nodeListener(fetch, { principal: () => principal })(request.raw, reply.raw)
    })
  }
}
