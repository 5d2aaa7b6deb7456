import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { finished } from 'node:stream/promises'
import { textBodyOf, type TextSink, type TextSource } from '@inlay/server'
import { NodeRequest as WebRequest, sendNodeResponse } from 'srvx/node'
import { fetchOf, type Mountable, type PrincipalOption } from './principal.ts'

type NodeRequest = IncomingMessage | Http2ServerRequest
type NodeResponse = ServerResponse | Http2ServerResponse

/**
 * A listener for `node:http` and `node:http2`; its promise resolves when the response is sent or the client has
 * disconnected.
 */
export type NodeListener = (request: NodeRequest, response: NodeResponse) => Promise<void>

/**
 * Creates a listener for `node:http`, or a middleware for Express and similar frameworks, from an assistant or its
 * `fetch`. Streams are written with back-pressure; a client that disconnects only ends its own stream. Behind a body
 * parser, the parsed JSON, text or bytes are read from `request.body` or `request.rawBody`; parsed forms cannot be
 * restored.
 * @example createServer(nodeListener(inlay)).listen(3000)
 * @example app.use('/assistant', nodeListener(inlay, { principal: (request: RequestWithUser) => request.user }))
 */
export function nodeListener<Call extends NodeRequest = NodeRequest>(
  assistant: Mountable,
  { principal: principalOf }: PrincipalOption<Call> = {},
): NodeListener {
  const fetch = fetchOf(assistant, 'nodeListener')
  const plain = listenerOf((request) => fetch(request, { principal: undefined }))
  // Returns a promise for hosts that wait for it: h3 would otherwise consider the request unhandled and respond again.
  return async (request, response) => {
    const body = request.readableDidRead ? parsedBody(request) : undefined
    if (body === undefined && principalOf === undefined) return void (await plain(request, response))
    // The type parameter is the host's request type.
    const principal = await principalOf?.(request as Call)
    const listener = listenerOf((unread) => fetch(body === undefined ? unread : withBody(unread, body), { principal }))
    await listener(request, response)
  }
}

function listenerOf(fetch: (request: Request) => Promise<Response>): NodeListener {
  return async (request, response) => {
    const answer = await fetch(new WebRequest({ req: request, res: response }))
    const text = answer.body === null ? undefined : textBodyOf(answer.body)
    if (text && isFirstVersion(response)) return sendText(answer, text, response)
    const sent = answer.status < 400 ? answer : await afterBody(request, response, answer)
    await sendNodeResponse(response, sent).catch(() => response.destroy())
  }
}

const isFirstVersion = (response: NodeResponse): response is ServerResponse => response instanceof ServerResponse

/** Bytes that wait for a slow client; Node itself queues 64 KiB, as many small objects. */
const maxWaiting = 8_192

/** Writes a text stream to the socket with back-pressure. Resolves when it is sent or the client has disconnected. */
function sendText(
  answer: Response,
  open: (sink: TextSink) => TextSource,
  response: ServerResponse,
): Promise<void> | undefined {
  if (response.destroyed) return
  const headers: string[] = []
  for (const [name, value] of answer.headers) headers.push(name, value)
  response.writeHead(answer.status, answer.statusText, headers)
  let hasWritten = false
  const source = open({
    write: (text) => {
      hasWritten = true
      if (response.writableLength + text.length <= maxWaiting) return response.write(text)
      // Bytes: while it waits, Node keeps a text twice, as it is and encoded.
      response.write(Buffer.from(text), (error) => {
        if (!error) source.resume()
      })
      return false
    },
    end: () => void response.end(),
  })
  return new Promise((resolve) => {
    const leave = (): void => {
      source.cancel()
      resolve()
    }
    response.on('drain', source.resume).on('close', leave).on('error', leave)
    source.resume()
    // Sends the headers at once, since a run may be silent for a while.
    if (!hasWritten) response.flushHeaders()
  })
}

/** A client that takes longer to send a refused body is disconnected; milliseconds. */
const lingerMs = 5000

/**
 * Delays an error response until the body has arrived, if the connection closes after the response: Node would close it
 * at once, and a client that is still sending would see a broken connection instead of the error.
 */
async function afterBody(request: NodeRequest, response: NodeResponse, answer: Response): Promise<Response> {
  if (!isFirstVersion(response) || response.shouldKeepAlive || (request as IncomingMessage).complete) return answer
  // Starts reading, unless somebody already does.
  request.resume()
  await finished(request as IncomingMessage, { signal: AbortSignal.timeout(lingerMs), writable: false }).catch(() => {})
  return answer
}

interface Parsed {
  readonly headers: IncomingMessage['headers']
  readonly rawBody?: unknown
  readonly body?: unknown
}

/** The body left by a parser of the host; undefined if it cannot be restored. */
function parsedBody(request: Parsed): string | Uint8Array | undefined {
  const { rawBody, body } = request
  for (const bytes of [rawBody, body]) if (typeof bytes === 'string' || bytes instanceof Uint8Array) return bytes
  // A parsed form is also an object, but cannot be restored.
  const isForm = /^(multipart\/|application\/x-www-form-urlencoded)/i.test(request.headers['content-type'] ?? '')
  return body === undefined || isForm ? undefined : JSON.stringify(body)
}

function withBody(request: Request, body: string | Uint8Array): Request {
  const { url, method, signal } = request
  const headers = new Headers(request.headers)
  // They describe the original body, before it was parsed and decompressed.
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  return new Request(url, { method, headers, signal, body: typeof body === 'string' ? body : new Uint8Array(body) })
}
