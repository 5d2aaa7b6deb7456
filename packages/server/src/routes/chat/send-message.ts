import { chatFullResponseSchema, InlayError, sendMessageRequestSchema } from '@inlay/protocol'
import type { Run } from '@inlay/agent'
import { routesOf, type KeyWatch, type Route } from '../../http/route.ts'
import { passedHeaders } from '../../http/passed-headers.ts'
import { streamRun } from './running-answers.ts'

const route = routesOf('Chat', { scope: 'chat', owner: 'caller' })

export const sendMessageRoutes: readonly Route[] = [
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
      const headers = passedHeaders(context.request, settings)
      const run = await parts.agent.send(body, { caller, requestId, idempotencyKey, headers })
      return body.stream ? streamRun(run, context, 0) : whole(run, context.watchKey)
    },
  }),
  retired('/chat/send-message', 'sendMessage'),
  retired('/chat/send-message-simple-api', 'sendMessageSimple'),
]

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

function retired(path: `/${string}`, operationId: string): Route {
  return route(`POST ${path}`, operationId, 'Retired', {
    description: 'Use `POST /chat/send-chat-message`.',
    errors: ['GONE'],
    handle() {
      throw new InlayError('GONE', { message: 'This endpoint was removed: use POST /chat/send-chat-message.' })
    },
  })
}
