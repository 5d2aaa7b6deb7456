import type { Conversations, StoredMessage, StoredSession } from '@inlay/conversations'
import { InlayError, type Packet, type Principal } from '@inlay/protocol'
import type { RouteContext } from '@inlay/server'
import { documentUrls } from './answer-lines.ts'
import { modelNameOf } from './models.ts'
import { createResponseReader, type ResponseEvent, type ResponseHead, type ResponseReader } from './response-events.ts'
import { answerKey, answerPlace, conversationId, type AnswerPlace } from './response-ids.ts'

export interface StoredResponse {
  readonly place: AnswerPlace
  readonly session: StoredSession
  readonly question: StoredMessage
  readonly answer: StoredMessage
  readonly packets: readonly Packet[]
  readonly isRunning: boolean
}

/** @throws NOT_FOUND also for an answer of another caller */
export async function storedResponse(id: string, agent: Conversations, caller: Principal): Promise<StoredResponse> {
  const missing = new InlayError('NOT_FOUND', {
    message: `There is no response "${id.slice(0, 80)}" of yours: it was deleted, or it was not stored.`,
  })
  const place = answerPlace(id)
  if (!place) throw missing
  const session = await agent.sessions.get(place.sessionId, caller).catch((error: unknown) => {
    throw error instanceof InlayError && error.code === 'SESSION_NOT_FOUND' ? missing : error
  })
  const answers = session.messages.filter(({ role }) => role === 'assistant')
  const at = answers.findIndex((message) => message.id === place.messageId)
  const answer = answers[at]
  const question = session.messages.find((message) => message.id === answer?.parentId)
  if (!answer || !question || session.ownerId !== caller.id) throw missing
  const isRunning = session.currentRunId === answer.id
  return { place, session, question, answer, packets: session.packets[at] ?? [], isRunning }
}

export function plainHead(place: AnswerPlace | undefined, model: string, createdAt: number): ResponseHead {
  const key = place ? answerKey(place) : crypto.randomUUID().replaceAll('-', '')
  const absent = { instructions: null, max_output_tokens: null, temperature: null, top_p: null, user: null }
  const plain = { background: false, metadata: {}, parallel_tool_calls: true, tool_choice: 'auto', tools: [] }
  return {
    ...absent,
    ...plain,
    id: `resp_${key}`,
    object: 'response',
    created_at: createdAt,
    conversation: place ? { id: conversationId(place.sessionId) } : null,
    model,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: place !== undefined,
    text: { format: { type: 'text' } },
    truncation: 'disabled',
  }
}

type Context = Pick<RouteContext<unknown, unknown, unknown>, 'request' | 'settings' | 'parts'> & {
  readonly caller: Principal
}

export async function storedReader(
  { place, session, question, answer }: StoredResponse,
  context: Context,
  withResults = false,
): Promise<ResponseReader> {
  const model = await modelNameOf(session.personaId, context.parts.agent, context.caller)
  const before = session.messages.find(({ id, role }) => id === question.parentId && role === 'assistant')
  const previous = before && `resp_${answerKey({ ...place, messageId: before.id })}`
  const createdAt = Math.floor(Date.parse(answer.timeSent) / 1000)
  return createResponseReader({
    head: { ...plainHead(place, model, createdAt), previous_response_id: previous ?? null },
    key: answerKey(place),
    urlOf: documentUrls(context),
    withResults,
  })
}

/** The events of a stored answer; those of one that is running are not stored yet. */
export function replay(reader: ResponseReader, { packets, answer, isRunning }: StoredResponse): ResponseEvent[] {
  if (isRunning) return []
  const failure = { error_code: null, is_retryable: false, stack_trace: null, details: null }
  return [
    ...packets.flatMap((packet) => reader.take(packet)),
    ...(answer.error ? reader.take({ error: answer.error, ...failure }) : []),
    ...reader.end(),
  ]
}
