import {
  chatFullResponseSchema,
  confirmationSchema,
  InlayError,
  queryInteger,
  sendMessageRequestSchema,
  streamFormatFor,
  uuid,
  type Principal,
} from '@inlay/protocol'
import type { Run } from '@inlay/agent'
import * as v from 'valibot'
import { packetReply } from '../../streams/packet-stream.ts'
import { reply, type Reply } from '../../http/replies.ts'
import { routesOf, type KeyWatch, type Route, type RouteContext } from '../../http/route.ts'

const route = routesOf('Chat', { scope: 'chat', owner: 'caller' })
const sessionPath = v.object({ session_id: uuid })

/** Sending messages, and following or stopping the runs that answer them. */
export const chatRoutes: readonly Route[] = [
  route('POST /chat/send-chat-message', 'sendChatMessage', 'Send a message', {
    description:
      'Returns a stream of packets or, with `"stream": false`, one JSON object once the answer is ' +
      'complete. If the connection is lost, the answer continues: resume or stop it.',
    isPaced: true,
    input: {
      body: { kind: 'json', schema: sendMessageRequestSchema, limit: 'maxChatBytes' },
      headers: {
        accept: '`text/event-stream` for Server-Sent Events, `application/x-ndjson` or `application/json` for lines.',
        'idempotency-key':
          'Up to 255 characters. For 24 hours, the same key with the same body returns the same answer.',
      },
    },
    answer: { description: 'The answer.', schema: chatFullResponseSchema, packets: true },
    errors: [
      'SESSION_NOT_FOUND',
      'PERSONA_NOT_FOUND',
      'NOT_FOUND',
      'VALIDATION_ERROR',
      'INVALID_INPUT',
      'QUERY_REJECTED',
      'INSUFFICIENT_PERMISSIONS',
      'DEPLOYMENT_UNSUPPORTED',
      'CONFLICT',
      'RATE_LIMITED',
      'NOT_IMPLEMENTED',
      'HOOK_EXECUTION_FAILED',
    ],
    async handle(context) {
      const { body, caller, requestId, parts, settings } = context
      const idempotencyKey = context.request.headers.get('idempotency-key') ?? undefined
      if (idempotencyKey === '' || (idempotencyKey?.length ?? 0) > 255) {
        throw new InlayError('INVALID_INPUT', { message: 'An idempotency key must have 1 to 255 characters.' })
      }
      const headers =
        settings.passHeaders.length === 0 ? undefined : passedHeaders(context.request, settings.passHeaders)
      const run = await parts.agent.send(body, { caller, requestId, idempotencyKey, headers })
      return body.stream ? follow(run, context, 0) : whole(run, context.watchKey)
    },
  }),
  route('POST /chat/stop-chat-session/{session_id}', 'stopChatSession', 'Stop the running answer', {
    description: 'Stops the running answer of the session, if any; its text so far is kept.',
    input: { path: sessionPath },
    answer: { description: 'No answer is running.', schema: confirmationSchema },
    errors: ['SESSION_NOT_FOUND'],
    async handle({ path, caller, parts }) {
      await parts.agent.stop(path.session_id, caller)
      return { message: 'The session was stopped.' }
    },
  }),
  route(
    'GET /chat/chat-session/{session_id}/resume-stream',
    'resumeChatStream',
    'Resume the stream of the latest answer',
    {
      description:
        'Sends every line with a number above the cursor, then follows the answer. Available while the ' +
        'answer runs and for ten minutes afterwards.',
      input: {
        path: sessionPath,
        query: v.object({ cursor: v.optional(queryInteger({ least: 0 }), '0') }),
        headers: { 'last-event-id': 'Number of the last line received; takes precedence over the cursor.' },
      },
      answer: {
        description: 'The packets.',
        packets: true,
        ended: 'The answer is complete and `last-event-id` is its last line: do not reconnect.',
      },
      errors: ['SESSION_NOT_FOUND', 'NOT_FOUND'],
      async handle(context) {
        const run = await context.parts.agent.resume(context.path.session_id, context.caller)
        const seen = lastEventId(context.request)
        // A browser's EventSource reconnects whenever a stream ends; only 204 stops it.
        if (seen !== undefined && run.finished && (await isAllSeen(run, seen))) return reply(null, { status: 204 })
        return follow(run, context, seen ?? context.query.cursor)
      },
    },
  ),
  retired('/chat/send-message', 'sendMessage'),
  retired('/chat/send-message-simple-api', 'sendMessageSimple'),
]

/** Whether a finished run has no lines after the cursor. */
async function isAllSeen(run: Run, cursor: number): Promise<boolean> {
  for await (const _ of run.read(cursor)) return false
  return true
}

/** The complete answer, unless the caller's key becomes invalid before it is finished. */
async function whole(run: Run, watchKey: KeyWatch): Promise<Awaited<ReturnType<Run['whole']>>> {
  const { promise: refused, reject } = Promise.withResolvers<never>()
  const over = new AbortController()
  void watchKey(() => reject(new InlayError('INVALID_TOKEN')), over.signal)
  try {
    return await Promise.race([run.whole(), refused])
  } finally {
    over.abort()
  }
}

function follow(
  run: Run,
  {
    request,
    requestId,
    settings,
    caller,
    watchKey,
  }: Pick<RouteContext<unknown, unknown, unknown>, 'request' | 'requestId' | 'settings' | 'watchKey'> & {
    readonly caller: Principal
  },
  cursor: number,
): Reply {
  return packetReply(run, {
    format: streamFormatFor(request.headers.get('accept'), caller.streamFormat ?? settings.streamFormat),
    cursor,
    heartbeatMs: settings.heartbeatMs,
    timer: settings.timer,
    watchKey,
    onError: (error) => settings.onError(error, { requestId, method: request.method, route: 'a packet stream' }),
  })
}

/** Headers of a message that the operator allows actions to see. */
function passedHeaders(request: Request, names: readonly string[]): Record<string, string> {
  const pairs = names.map((name) => [name, request.headers.get(name)] as const)
  return Object.fromEntries(pairs.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}

/** Undefined unless it is a line number: a client that received no numbered line gets all lines. */
function lastEventId(request: Request): number | undefined {
  const id = request.headers.get('last-event-id')
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : undefined
}

function retired(path: `/${string}`, operationId: string): Route {
  return route(`POST ${path}`, operationId, 'Retired', {
    description: 'Use `POST /chat/send-chat-message`.',
    errors: ['GONE'],
    handle() {
      throw new InlayError('GONE', { message: 'This endpoint was removed: use POST /chat/send-chat-message.' })
    },
  })
}
