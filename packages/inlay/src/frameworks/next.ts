import { fetchOf, type Mountable, type PrincipalOption } from './principal.ts'

type RouteHandler = (request: Request) => Promise<Response>

/** Exports of a Next.js route: a handler for each method. */
export type RouteHandlers = Readonly<
  Record<'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', RouteHandler>
>

/**
 * Handlers for a catch-all route of Next.js, such as `app/assistant/[...path]/route.ts`.
 * @example export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = routeHandlers(inlay)
 */
export function routeHandlers(assistant: Mountable, { principal }: PrincipalOption<Request> = {}): RouteHandlers {
  const fetch = fetchOf(assistant, 'routeHandlers')
  const handler: RouteHandler = async (request) => fetch(request, { principal: await principal?.(request) })
  return {
    GET: handler,
    HEAD: handler,
    OPTIONS: handler,
    POST: handler,
    PUT: handler,
    PATCH: handler,
    DELETE: handler,
  }
}
