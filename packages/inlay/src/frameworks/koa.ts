import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeListener } from './node-listener.ts'
import { fetchOf, type Mountable, type PrincipalOption } from './principal.ts'

/** Part of a Koa context that the middleware uses. */
export interface KoaContext {
  readonly path: string
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Set by body parsers. */
  readonly request: object
  respond?: boolean | undefined
}

/**
 * A Koa middleware that handles a path and everything below it, before or after body parsers.
 * @param path mount path, e.g. `/assistant`: the assistant's `basePath`
 * @example app.use(koaMiddleware(inlay, '/assistant', { principal: (context: Context) => context.state.user }))
 */
export function koaMiddleware<Call extends KoaContext = KoaContext>(
  assistant: Mountable,
  path: string,
  { principal: principalOf }: PrincipalOption<Call> = {},
): (context: Call, next: () => Promise<unknown>) => Promise<unknown> {
  const fetch = fetchOf(assistant, 'koaMiddleware')
  return async (context, next) => {
    if (context.path !== path && !context.path.startsWith(`${path}/`)) return next()
    const principal = await principalOf?.(context)
    const { rawBody, body }: { readonly rawBody?: unknown; readonly body?: unknown } = context.request
    // Without this, Koa would send a response itself.
    context.respond = false
    const listener = nodeListener(fetch, { principal: () => principal })
    await listener(Object.assign(context.req, { rawBody, body }), context.res)
  }
}
