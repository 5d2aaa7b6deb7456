import { confirmationSchema, queryInteger, streamFormatFor, uuid, type Principal } from '@inlay/protocol'
import type { Run } from '@inlay/agent'
import * as v from 'valibot'
import { packetReply } from '../../streams/packet-stream.ts'
import { reply, type Reply } from '../../http/replies.ts'
import { routesOf, type Route, type RouteContext } from '../../http/route.ts'

const route = routesOf('Chat', { scope: 'chat', owner: 'caller' })
const sessionPath = v.object({ session_id: uuid })

export const runningAnswerRoutes: readonly Route[] = [
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
        return streamRun(run, context, seen ?? context.query.cursor)
      },
    },
  ),
]

async function isAllSeen(run: Run, cursor: number): Promise<boolean> {
  for await (const _ of run.read(cursor)) return false
  return true
}

/** Sends the lines of a run with a number above the cursor, then follows it, in the format that the client accepts. */
export function streamRun(
  run: Run,
  call: RouteContext<unknown, unknown, unknown> & { readonly caller: Principal },
  cursor: number,
): Reply {
  const { request, caller, settings } = call
  const format = streamFormatFor(request.headers.get('accept'), caller.streamFormat ?? settings.streamFormat)
  return packetReply(run, call, { format, cursor, label: 'a packet stream' })
}

/** Undefined unless it is a line number: a client that received no numbered line gets all lines. */
function lastEventId(request: Request): number | undefined {
  const id = request.headers.get('last-event-id')
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : undefined
}
