import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'

/** A request that reached a stand-in. */
export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** Parsed JSON; {} when there was none. */
  readonly body: Record<string, unknown>
}

/**
 * One thing a stand-in sends. `calls` are tool calls whose arguments arrive interleaved. `raw` goes out as it is.
 * `cut` breaks the connection, `hang` stays silent until the client leaves, `pause` waits for what is handed in.
 * `end` ends the answer with this reason; null ends the stream without any.
 */
export type ReplyPart =
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[] }
  | { readonly raw: string }
  | { readonly error: Record<string, unknown> }
  | { readonly pause: () => Promise<unknown> }
  | { readonly cut: true }
  | { readonly hang: true }
  | { readonly end: string | null }

/** A whole answer in parts, or a refusal by status. */
export type Reply =
  | readonly ReplyPart[]
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }

/** The replies in order (the last one again and again), or a function that makes them. */
export type Replies = readonly Reply[] | ((request: RecordedRequest, index: number) => Reply)

/** Events as they go over the wire: an SSE block each, or frames of a binary stream. */
export type Events = readonly (string | Uint8Array)[]

/** How a kind of provider writes an answer. */
export interface Dialect {
  /** Path of the calls that are answered; anything else is a 404. */
  readonly path: string
  /** Whether this call is answered in a stream. Default: its `stream`. */
  readonly streams?: boolean
  /** Headers of an answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** Events before the first part, for a part, and after the last. */
  start(model: string): Events
  write(part: ReplyPart): Events
  finish(reason: string): Events
  whole(parts: readonly ReplyPart[], model: string): unknown
}

/** A running stand-in. */
export interface StandIn {
  /** Address without a path. */
  readonly origin: string
  readonly requests: readonly RecordedRequest[]
  /** How many clients left before their answer was complete. */
  readonly abandoned: () => number
  close(): Promise<void>
}

async function read(request: IncomingMessage): Promise<RecordedRequest> {
  let text = ''
  request.setEncoding('utf8')
  for await (const piece of request) text += piece
  const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text)
  return { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
}

async function stream(
  parts: readonly ReplyPart[],
  dialect: Dialect,
  model: string,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...dialect.headers })
  const send = (events: Events): void =>
    void (events.length > 0 && response.write(Buffer.concat(events.map((event) => Buffer.from(event)))))
  send(dialect.start(model))
  let reason: string | null = parts.some((part) => 'calls' in part) ? 'tool_calls' : 'stop'
  for (const part of parts) {
    if ('cut' in part) return void response.destroy()
    if ('hang' in part) return void (await once(response, 'close'))
    if ('pause' in part) await part.pause()
    else if ('raw' in part) response.write(part.raw)
    else if ('end' in part) reason = part.end
    else send(dialect.write(part))
    // Each part is a separate network read.
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (reason !== null) send(dialect.finish(reason))
  response.end()
}

/** Starts a local server that answers calls of a model as its dialect writes them. Close it after use. */
export async function startModelServer(
  replies: Replies,
  /** A function chooses it by the call; undefined is a 404. */
  dialects: Dialect | ((request: RecordedRequest) => Dialect | undefined),
  /** JSON replies of other paths. */
  others: Readonly<Record<string, unknown>> = {},
): Promise<StandIn> {
  const requests: RecordedRequest[] = []
  let abandoned = 0
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.on('close', () => void (response.writableFinished || abandoned++))
    const recorded = await read(request)
    const path = recorded.path.split('?')[0] ?? ''
    if (path in others)
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(others[path]))
    const dialect = typeof dialects === 'function' ? dialects(recorded) : dialects
    if (path !== dialect?.path) return void response.writeHead(404).end()
    const index = requests.push(recorded) - 1
    const reply = typeof replies === 'function' ? replies(recorded, index) : (replies[index] ?? replies.at(-1) ?? [])
    const model = String(recorded.body['model'])
    if ('status' in reply) {
      const isText = typeof reply.body === 'string'
      response.writeHead(reply.status, { 'content-type': isText ? 'text/html' : 'application/json', ...reply.headers })
      response.end(isText ? reply.body : JSON.stringify(reply.body ?? {}))
    } else if (dialect.streams ?? recorded.body['stream'] === true) await stream(reply, dialect, model, response)
    else
      response
        .writeHead(200, { ...dialect.headers, 'content-type': 'application/json' })
        .end(JSON.stringify(dialect.whole(reply, model)))
  }
  const server: Server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    abandoned: () => abandoned,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
