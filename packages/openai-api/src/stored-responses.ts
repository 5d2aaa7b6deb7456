import type { Conversations, StoredMessage, StoredSession } from '@inlay/conversations'
import { InlayError, type Packet, type Principal } from '@inlay/protocol'
import type { RouteContext } from '@inlay/server'
import { documentUrls } from './answer-lines.ts'
import { toFileId } from './content.ts'
import { modelNameOf } from './models.ts'
import {
  createResponseReader,
  type OutputItem,
  type ResponseEvent,
  type ResponseHead,
  type ResponseOptions,
  type ResponseReader,
} from './response-events.ts'
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
  const stored = responsesOf(session).find(({ answer }) => answer.id === place.messageId)
  if (!stored || session.ownerId !== caller.id) throw missing
  return stored
}

/** All answers of a session, those of other branches too. */
export function responsesOf(session: StoredSession): StoredResponse[] {
  const byId = new Map(session.messages.map((message) => [message.id, message]))
  const answers = session.messages.filter(({ role }) => role === 'assistant')
  return answers.flatMap((answer, at) => {
    const question = byId.get(answer.parentId ?? 0)
    const place = { sessionId: session.id, messageId: answer.id }
    const isRunning = session.currentRunId === answer.id
    return question ? [{ place, session, question, answer, packets: session.packets[at] ?? [], isRunning }] : []
  })
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

export type Context = Pick<RouteContext<unknown, unknown, unknown>, 'request' | 'settings' | 'parts' | 'url'> & {
  readonly caller: Principal
}

export async function storedReader(
  { place, session, question, answer }: StoredResponse,
  context: Context,
  withResults = false,
): Promise<ResponseReader> {
  const agentId = Number(answer.requestParams?.['persona_id'] ?? session.personaId)
  const model = await modelNameOf(agentId, context.parts.agent, context.caller)
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

export function outputItems(
  stored: StoredResponse,
  options: Pick<ResponseOptions, 'urlOf' | 'withResults'>,
): readonly OutputItem[] {
  const head = plainHead(stored.place, '', 0)
  const reader = createResponseReader({ head, key: answerKey(stored.place), ...options })
  replay(reader, stored)
  return reader.response().output
}

export function questionItem(sessionId: string, { id, text, files }: StoredMessage): OutputItem {
  const attached = files.map((file) => ({ type: 'input_file', file_id: toFileId(file.id), filename: file.name }))
  const content = [{ type: 'input_text', text }, ...attached]
  const key = answerKey({ sessionId, messageId: id })
  return { id: `msg_${key}_0`, type: 'message', role: 'user', status: 'completed', content }
}

export const searchResults = 'file_search_call.results'

export const includesResults = ({ searchParams }: URL): boolean =>
  ['include', 'include[]'].some((name) => searchParams.getAll(name).includes(searchResults))
