import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { finished } from 'node:stream/promises'
import { toNodeHandler } from 'srvx/node'
import type { ServerRequest } from 'srvx'
import { fetchOf, type Mountable, type PrincipalOption } from './principal.ts'

type NodeRequest = IncomingMessage | Http2ServerRequest
type NodeResponse = ServerResponse | Http2ServerResponse

/** A listener for `node:http` and `node:http2`; its promise resolves once the answer is sent or the client has left. */
export type NodeListener = (request: NodeRequest, response: NodeResponse) => Promise<void>

/**
 * A listener for `node:http`, or a middleware for Express and its kin, over an assistant or its `fetch`. Streams are written as fast
 * as the socket takes them; a client that leaves ends its stream and nothing else. Behind a body parser it takes the
 * parsed JSON, text or bytes from `request.body` or `request.rawBody`; forms cannot be restored from there.
 * @example createServer(nodeListener(inlay)).listen(3000)
 * @example app.use('/assistant', nodeListener(inlay, { principal: (request: express.Request) => request.user }))
 */
export function nodeListener<Call extends NodeRequest = NodeRequest>(
  assistant: Mountable,
  { principal: principalOf }: PrincipalOption<Call> = {},
): NodeListener {
  const fetch = fetchOf(assistant, 'nodeListener')
  const plain = listenerOf((request) => fetch(request, { principal: undefined }))
  // The promise is for hosts that wait for it: h3 takes a listener without one for done, and answers a second time.
  return async (request, response) => {
    const body = request.readableDidRead ? parsedBody(request) : undefined
    if (body === undefined && principalOf === undefined) return void (await plain(request, response))
    // The host mounts this where its requests are of this kind.
    const principal = await principalOf?.(request as Call)
    const listener = listenerOf((unread) => fetch(body === undefined ? unread : withBody(unread, body), { principal }))
    await listener(request, response)
  }
}

/** One handler takes both versions of HTTP; its type names them one by one. */
function listenerOf(fetch: (request: Request) => Promise<Response>): (...call: Parameters<NodeListener>) => unknown {
  const handler = toNodeHandler(async (request) => {
    const answer = await fetch(request)
    return answer.status < 400 ? answer : afterBody(request, answer)
  })
  return handler as (...call: Parameters<NodeListener>) => unknown
}

/** A client that needs longer to send a body that was refused is cut off; milliseconds. */
const lingerMs = 5000

/**
 * Holds a refusal back until the body has come, when the connection ends with the answer: Node cuts it at once, and a
 * client that still sends would see a broken connection in place of the reason.
 */
async function afterBody({ runtime }: ServerRequest, answer: Response): Promise<Response> {
  const { req, res } = runtime?.node ?? {}
  if (!req || req.httpVersionMajor > 1 || (res as ServerResponse).shouldKeepAlive || (req as IncomingMessage).complete)
    return answer
  // Nobody may be reading it; whoever does goes on.
  req.resume()
  await finished(req as IncomingMessage, { signal: AbortSignal.timeout(lingerMs), writable: false }).catch(() => {})
  return answer
}

/** A request as a body parser leaves it. */
interface Parsed {
  readonly headers: IncomingMessage['headers']
  readonly rawBody?: unknown
  readonly body?: unknown
}

/** The body that a parser of the host left behind; undefined when there is none that can be sent on. */
function parsedBody(request: Parsed): string | Uint8Array | undefined {
  const { rawBody, body } = request
  for (const bytes of [rawBody, body]) if (typeof bytes === 'string' || bytes instanceof Uint8Array) return bytes
  // A form that was parsed is an object as well.
  const isForm = /^(multipart\/|application\/x-www-form-urlencoded)/i.test(request.headers['content-type'] ?? '')
  return body === undefined || isForm ? undefined : JSON.stringify(body)
}

function withBody(request: Request, body: string | Uint8Array): Request {
  const { url, method, signal } = request
  const headers = new Headers(request.headers)
  // They tell of the bytes that the parser has read and unpacked.
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  return new Request(url, { method, headers, signal, body: typeof body === 'string' ? body : new Uint8Array(body) })
}
