import type { LogEntry } from '@inlay/agent'
import type { Conversations } from '@inlay/conversations'
import { InlayError, queryInteger, type Principal } from '@inlay/protocol'
import { passedHeaders, reply, routesOf, type Reply, type Route, type RouteContext } from '@inlay/server'
import * as v from 'valibot'
import { documentUrls, lineOf } from './answer-lines.ts'
import { readMessages } from './chat-messages.ts'
import { withPictures } from './content.ts'
import { invalid, toApiError } from './errors.ts'
import { resolveModel } from './models.ts'
import {
  createResponseReader,
  eventSchema,
  responseSchema,
  type OutputItem,
  type ResponseEvent,
  type ResponseHead,
  type ResponseReader,
} from './response-events.ts'
import { conversationSession } from './response-ids.ts'
import {
  itemsSchema,
  parametersOf,
  readTools,
  responseRequestSchema,
  toMessages,
  type InputItem,
  type ResponseRequest,
} from './responses-request.ts'
import { readWhole, runForClient, streamToClient, type ClientRun } from './run-to-client.ts'
import {
  includesResults,
  outputItems,
  plainHead,
  questionItem,
  replay,
  responsesOf,
  searchResults,
  storedReader,
  storedResponse,
  type StoredResponse,
} from './stored-responses.ts'
import { filtersOfStores } from './vector-store-search.ts'

const route = routesOf('Responses', { scope: 'chat', owner: 'caller' })
const path = v.object({ response_id: v.string() })
const answer = { description: 'The response, or the events of it.', schema: responseSchema, events: eventSchema }

export const responseRoutes: readonly Route[] = [
  route('POST /v1/responses', 'createResponse', 'Create a response', {
    description:
      'The agent answers the input. Unless `store` is false, question and answer are a session of Inlay, which ' +
      '`previous_response_id` or `conversation` continues.',
    isPaced: true,
    input: { body: { kind: 'json', schema: responseRequestSchema, limit: 'maxChatBytes' } },
    answer,
    errors: ['PERSONA_NOT_FOUND', 'NOT_FOUND', 'INVALID_INPUT', 'VALIDATION_ERROR', 'QUERY_REJECTED', 'RATE_LIMITED'],
    handle: create,
  }),
  route('GET /v1/responses/{response_id}', 'getResponse', 'One response', {
    description: 'With `stream=true`, its events; with `starting_after`, those with a higher number.',
    input: {
      path,
      query: v.object({
        stream: v.optional(v.picklist(['true', 'false'])),
        starting_after: v.optional(queryInteger({ least: 0 })),
      }),
    },
    answer,
    errors: ['NOT_FOUND'],
    async handle(context) {
      const { parts, caller, query } = context
      const stored = await storedResponse(context.path.response_id, parts.agent, caller)
      const reader = await storedReader(stored, context, includesResults(context.url))
      if (query.stream !== 'true') {
        replay(reader, stored)
        return reader.response()
      }
      const after = query.starting_after ?? -1
      const run = await parts.agent.resume(stored.place.sessionId, caller).catch(() => undefined)
      if (run?.messageId === stored.answer.id) return streamed(runForClient(run, true, context), reader, after)
      const events = replay(reader, stored)
      // Texts are stored in one piece, so that there are fewer events than were sent: the last one always goes out.
      const rest = events.filter((event, at) => event.sequence_number > after || at === events.length - 1)
      return reply(rest.map(frame).join(''), { headers: { 'content-type': 'text/event-stream' } })
    },
  }),
  route('DELETE /v1/responses/{response_id}', 'deleteResponse', 'Delete a response', {
    description: 'Deletes the session of the response, if it has no other answer and no legal hold keeps it.',
    input: { path },
    answer: { description: 'It is deleted.', schema: v.unknown() },
    errors: ['NOT_FOUND', 'INVALID_INPUT', 'CONFLICT'],
    async handle({ path: { response_id: id }, parts, caller }) {
      const { session, place } = await storedResponse(id, parts.agent, caller)
      if (session.messages.filter(({ role }) => role === 'assistant').length > 1)
        throw invalid('response_id', 'It is one of several answers of a conversation, which is deleted as a whole.')
      await parts.agent.sessions.remove(place.sessionId, caller, { erase: true })
      return { id, object: 'response', deleted: true }
    },
  }),
  route('POST /v1/responses/{response_id}/cancel', 'cancelResponse', 'Cancel a response', {
    description: 'Stops the answer, if it is running; its text so far is kept.',
    input: { path },
    answer,
    errors: ['NOT_FOUND'],
    async handle(context) {
      const { path: place, parts, caller } = context
      const id = place.response_id
      const { isRunning, session } = await storedResponse(id, parts.agent, caller)
      if (isRunning) await parts.agent.stop(session.id, caller)
      const stored = await storedResponse(id, parts.agent, caller)
      const reader = await storedReader(stored, context)
      replay(reader, stored)
      return reader.response()
    },
  }),
  route('GET /v1/responses/{response_id}/input_items', 'listResponseInput', 'The input of a response', {
    input: { path },
    answer: { description: 'The question, as a list of items.', schema: v.unknown() },
    errors: ['NOT_FOUND'],
    async handle({ path: { response_id: given }, parts, caller }) {
      const { place, question } = await storedResponse(given, parts.agent, caller)
      const item = questionItem(place.sessionId, question)
      return { object: 'list', data: [item], first_id: item.id, last_id: item.id, has_more: false }
    },
  }),
]

async function create(context: RouteContext<unknown, unknown, ResponseRequest> & { readonly caller: Principal }) {
  const { body, parts, caller, request, requestId, settings } = context
  const { agent } = parts
  const isStored = body.store !== false
  if (body.background && !isStored)
    throw invalid('background', 'A response in the background must be stored: leave out store.')
  const { persona, override } = await resolveModel(body.model, agent, caller)
  const { message: toolsOfMessage, client: clientTools, stores } = readTools(body, await agent.actions(caller))
  const turn = await readTurn(context)
  const isNarrowed = stores.storeIds.length > 0 || stores.filters !== undefined
  const searchFilters = isNarrowed ? await filtersOfStores(parts, stores, caller) : null
  const run = await agent.send(
    {
      ...turn.message,
      ...toolsOfMessage,
      internal_search_filters: searchFilters,
      ...(turn.message.chat_session_id === undefined && { chat_session_info: { persona_id: persona.id } }),
      llm_override: override,
      include_usage: true,
      origin: 'api',
    },
    {
      caller,
      requestId,
      headers: passedHeaders(request, settings),
      client: { ...turn.client, ...clientTools, personaId: persona.id, isStored, parameters: parametersOf(body) },
    },
  )
  const place = isStored ? { sessionId: run.sessionId, messageId: run.messageId } : undefined
  const plain = plainHead(place, body.model, Math.floor(Date.now() / 1000))
  const reader = createResponseReader({
    head: givenHead(plain, body),
    key: plain.id.slice('resp_'.length),
    urlOf: documentUrls(context),
    withResults: body.include?.includes(searchResults) ?? false,
  })
  const answering = runForClient(run, isStored, context)
  if (body.stream === true) return streamed(answering, reader)
  if (body.background) return reader.response()
  await readWhole(answering, (line) => {
    if (line) reader.take(line)
    else reader.end()
    const failure = reader.failure()
    if (failure) throw failure
  })
  return reader.response()
}

function givenHead(plain: ResponseHead, body: ResponseRequest): ResponseHead {
  const given = Object.entries(body).filter(
    ([name, value]) => value !== undefined && name !== 'conversation' && name in plain,
  )
  const text = { format: { type: 'text' }, ...body.text }
  return { ...plain, ...Object.fromEntries(given), text, reasoning: { effort: null, summary: null, ...body.reasoning } }
}

async function readTurn(context: Parameters<typeof create>[0]) {
  const { body, parts, caller } = context
  const { agent } = parts
  if (body.previous_response_id && body.conversation)
    throw invalid('conversation', 'Give either previous_response_id or conversation.')
  const input = await resolveReferences(body.input, agent, caller)
  // An input without a question goes on with the one before it.
  const results = typeof input === 'string' || input.some(({ role }) => role === 'user') ? undefined : input
  const named = typeof body.conversation === 'object' ? body.conversation?.id : body.conversation
  const previous = body.previous_response_id
    ? await storedResponse(body.previous_response_id, agent, caller).catch((error: unknown) => {
        if (!(error instanceof InlayError) || error.code !== 'NOT_FOUND') throw error
        throw invalid('previous_response_id', error.message, 'previous_response_not_found')
      })
    : named && results
      ? await callingResponse(results, named, agent, caller)
      : undefined
  const called = previous && results && calledBefore(results, previous)
  const { instructions, history, message, steps, files } = await readInput(called ?? input, context)
  const sessionId = previous?.place.sessionId ?? (named ? conversationSession(named) : undefined)
  return {
    message: {
      message: message.text,
      file_descriptors: message.fileIds.map((id) => ({ id })),
      ...(sessionId !== undefined && { chat_session_id: sessionId }),
      ...(previous && { parent_message_id: (called ? previous.question : previous.answer).id }),
    },
    client: {
      ...(sessionId === undefined && { history }),
      instructions: [body.instructions ?? '', instructions].filter((text) => text !== '').join('\n\n'),
      files,
      steps,
    },
  }
}

/** The answer of a conversation whose calls the items have results of. */
async function callingResponse(
  items: readonly InputItem[],
  conversation: string,
  agent: Conversations,
  caller: Principal,
): Promise<StoredResponse | undefined> {
  const ids = new Set(items.map(({ call_id: id }) => id))
  const session = await agent.sessions.get(conversationSession(conversation), caller)
  return responsesOf(session).findLast(({ packets }) =>
    packets.some(({ obj }) => obj.type === 'client_tool_call' && ids.has(obj.tool_call_id)),
  )
}

/** The question and the calls of a stored answer before the results that the input brings. */
function calledBefore(input: readonly InputItem[], { question, packets }: StoredResponse): InputItem[] {
  const given = new Set(input.map(({ type, call_id: id }) => (type === 'function_call' ? id : undefined)))
  const calls = packets.flatMap(({ obj }): InputItem[] => {
    if (obj.type !== 'client_tool_call' || given.has(obj.tool_call_id)) return []
    return [{ type: 'function_call', call_id: obj.tool_call_id, name: obj.tool_name, arguments: obj.arguments }]
  })
  return [{ role: 'user', content: question.text }, ...calls, ...input]
}

/** Reads items as the messages of a chat. Errors name the input, since messages have places of their own. */
async function readInput(input: ResponseRequest['input'], context: Parameters<typeof withPictures>[1]) {
  const messages = toMessages(input)
  try {
    return readMessages(await withPictures(messages, context))
  } catch (error) {
    if (!(error instanceof InlayError) || typeof error.data['param'] !== 'string') throw error
    throw invalid('input', error.message)
  }
}

/** Puts stored items of the caller in place of references to them. */
async function resolveReferences(input: ResponseRequest['input'], agent: Conversations, caller: Principal) {
  if (typeof input === 'string') return input
  const outputs = new Map<string, readonly OutputItem[]>()
  const items: InputItem[] = []
  for (const [at, item] of input.entries()) {
    const [, key = ''] = item.id?.split('_') ?? []
    if (item.type === 'item_reference' && !outputs.has(key)) {
      if (outputs.size === 100) throw invalid('input', 'More than 100 responses are referred to.')
      const stored = await storedResponse(`resp_${key}`, agent, caller).catch(() => {
        throw invalid(`input.${at}.id`, 'There is no such stored item of yours: send it whole.')
      })
      outputs.set(key, outputItems(stored, { urlOf: () => '', withResults: false }))
    }
    const kept = outputs.get(key)?.filter(({ id }) => id === item.id)
    const parsed = v.safeParse(itemsSchema, item.type === 'item_reference' ? kept : [item])
    if (parsed.success) items.push(...parsed.output)
  }
  return items
}

const frame = (event: ResponseEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

function streamed(answering: ClientRun, reader: ResponseReader, after = -1): Reply {
  const write = (events: readonly ResponseEvent[]): string =>
    events
      .filter((event) => event.sequence_number > after)
      .map(frame)
      .join('')
  const format = {
    line: (entry: LogEntry) => write(reader.take(lineOf(entry))),
    heartbeat: ': \n\n',
    refusal: (error: InlayError) =>
      `event: error\ndata: ${JSON.stringify({ ...toApiError(error), type: 'error' })}\n\n`,
    end: () => write(reader.end()),
  }
  return streamToClient(answering, format, 'a response')
}
