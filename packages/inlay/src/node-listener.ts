import type { RequestListener } from 'node:http'
import type { NodeHttp1Handler } from 'srvx'
import { toNodeHandler } from 'srvx/node'

/**
 * A listener for `node:http`, or a middleware for Express and its kin, over a fetch handler. Mount it ahead of body
 * parsers: a body that was read before cannot be read again. Streams are written as fast as the socket takes them; a
 * client that leaves ends its stream and nothing else.
 * @example createServer(nodeListener(inlay.fetch)).listen(3000)
 * @example app.use('/assistant', nodeListener(inlay.fetch))
 */
export function nodeListener(fetch: (request: Request) => Promise<Response>): RequestListener {
  // One handler for both versions of HTTP; a listener of `node:http` is called with requests of the first alone.
  const handle = toNodeHandler(fetch) as NodeHttp1Handler
  return (request, response) => void handle(request, response)
}
