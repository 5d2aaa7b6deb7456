import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { toNodeHandler } from 'srvx/node'

/** A listener for `node:http` and `node:http2`; its promise resolves once the answer is sent or the client has left. */
export type NodeListener = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => Promise<void>

/**
 * A listener for `node:http`, or a middleware for Express and its kin, over a fetch handler. Mount it ahead of body
 * parsers: a body that was read before cannot be read again. Streams are written as fast as the socket takes them; a
 * client that leaves ends its stream and nothing else.
 * @example createServer(nodeListener(inlay.fetch)).listen(3000)
 * @example app.use('/assistant', nodeListener(inlay.fetch))
 */
export function nodeListener(fetch: (request: Request) => Promise<Response>): NodeListener {
  // One handler takes both versions of HTTP; its type names them one by one.
  const handle = toNodeHandler(fetch) as (...call: Parameters<NodeListener>) => void | Promise<void>
  // The promise is for hosts that wait for it: h3 takes a listener without one for done, and answers a second time.
  return async (request, response) => {
    await handle(request, response)
  }
}
