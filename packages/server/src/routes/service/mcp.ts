import {
  InlayError,
  isInlayError,
  mcpMessageSchema,
  parseJsonBody,
  type McpMessage,
  type Principal,
} from '@inlay/protocol'
import { readText } from '../../http/body.ts'
import { answerMcp, isKnownVersion, isSlowCall, type McpContext, type McpOutcome } from '../../mcp/service.ts'
import { jsonReply, reply, type Reply } from '../../http/replies.ts'
import { routesOf, type Route, type RouteContext } from '../../http/route.ts'
import { watchSilence } from '../../streams/packet-stream.ts'

type Context = RouteContext<undefined, undefined, unknown> & { readonly caller: Principal }

const route = routesOf('MCP', { scope: 'search', owner: 'caller' })

export const mcpRoutes: readonly Route[] = [
  route('POST /mcp', 'mcp', 'Use Inlay as an MCP server', {
    description:
      'A Model Context Protocol endpoint (streamable HTTP), used with an API key. Its tools are ' +
      '`search` and `list_documents`; with the scope `chat` also `ask` and, if pages can be read, ' +
      '`open_url`.',
    input: {
      body: { kind: 'stream', mediaType: 'application/json', schema: mcpMessageSchema },
      headers: { 'mcp-protocol-version': 'The version that client and server agreed on.' },
    },
    answer: {
      description: 'The answer, as JSON or as a stream of events.',
      schema: mcpMessageSchema,
      events: mcpMessageSchema,
      accepted: 'A notification was accepted.',
    },
    errors: ['VALIDATION_ERROR'],
    async handle(context) {
      const { request, settings } = context
      const version = request.headers.get('mcp-protocol-version')
      if (version !== null && !isKnownVersion(version)) throw refused('This version of MCP is not supported.')
      const message = await readMessage(request, settings.limits.maxOtherBytes)
      if (message.id === undefined || message.method === undefined) {
        if (message.method === 'notifications/cancelled') cancel(message, context)
        return reply(null, { status: 202 })
      }
      const isStreamed = isSlowCall(message) && (request.headers.get('accept') ?? '').includes('text/event-stream')
      if (isStreamed) return streamed(message, context)
      const answer = toMessage(message.id, await answerTo(message, context, () => {}))
      // The session id stores nothing: it only separates the calls of clients with the same key.
      const isFirst = message.method === 'initialize'
      return jsonReply(answer, isFirst ? { headers: { [sessionHeader]: crypto.randomUUID() } } : {})
    },
  }),
]

const sessionHeader = 'mcp-session-id'

/** Identifies a running call; undefined for clients without a session, since their ids may collide. */
function keyOf(id: unknown, { caller, request }: Context): string | undefined {
  const session = request.headers.get(sessionHeader)
  return session === null ? undefined : JSON.stringify([caller.id, session, id])
}

function cancel({ params }: McpMessage, context: Context): void {
  const key = keyOf(params?.['requestId'], context)
  if (key !== undefined) context.settings.mcpCalls.cancel(key)
}

async function answerTo(message: McpMessage, context: Context, progress: McpContext['progress']): Promise<McpOutcome> {
  const { parts, caller, requestId, request, settings } = context
  const onError = (error: unknown): void =>
    settings.onError(error, { requestId, method: request.method, route: '/mcp' })
  const { signal } = request
  const { version, serves } = settings
  const work = (cancelled: AbortSignal): Promise<McpOutcome> =>
    answerMcp(message, { parts, caller, requestId, signal, cancelled, version, serves, progress, onError })
  const key = keyOf(message.id, context)
  return key === undefined ? work(new AbortController().signal) : settings.mcpCalls.run(key, work)
}

/** Reads the message. MCP clients expect 400 for an invalid message, unlike other invalid bodies. */
async function readMessage(request: Request, maxBytes: number): Promise<McpMessage> {
  const text = await readText(request, { maxBytes })
  try {
    return await parseJsonBody(text, mcpMessageSchema)
  } catch (error) {
    if (isInlayError(error) && error.code === 'VALIDATION_FAILED') {
      throw refused('This is not a JSON-RPC 2.0 message.')
    }
    throw error
  }
}

function refused(message: string): InlayError {
  return new InlayError('VALIDATION_ERROR', { message })
}

function toMessage(id: string | number, outcome: McpOutcome): object {
  return { jsonrpc: '2.0', id, ...outcome }
}

/** Streams progress, if requested, and keeps the connection alive. */
function streamed(message: McpMessage, context: Context): Reply {
  const { settings } = context
  const encoder = new TextEncoder()
  const meta = message.params?.['_meta']
  const token = typeof meta === 'object' && meta !== null && 'progressToken' in meta ? meta.progressToken : undefined
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const watch = watchSilence(settings.heartbeatMs, settings.timer, () => {
        say(': still at it\n\n')
        watch.start()
      })
      const say = (text: string): void => {
        watch.end()
        try {
          controller.enqueue(encoder.encode(text))
        } catch {
          // The client disconnected; the run continues without it.
        }
      }
      let count = 0
      const progress = (words: string): void => {
        if (token === undefined) return
        const params = { progressToken: token, progress: ++count, message: words }
        say(toEvent({ jsonrpc: '2.0', method: 'notifications/progress', params }))
      }
      watch.start()
      try {
        // A request always has an id; messages without one are handled elsewhere.
        say(toEvent(toMessage(message.id ?? 0, await answerTo(message, context, progress))))
        controller.close()
      } catch (error) {
        settings.onError(error, { requestId: context.requestId, method: 'POST', route: '/mcp' })
        controller.error(error)
      } finally {
        watch.stop()
      }
    },
  })
  return reply(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  })
}

function toEvent(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}
