import type { Conversations, StoredPersona } from '@inlay/conversations'
import type { Principal, Usage } from '@inlay/protocol'
import type { ClientTurn } from '@inlay/agent'
import { passedHeaders, routesOf, type Route, type StreamFormat } from '@inlay/server'
import * as v from 'valibot'
import { createAnswerReader, documentUrls, lineOf, type AnswerEvent, type FinishReason } from './answer-lines.ts'
import { withPictures } from './content.ts'
import { chatRequestSchema, readChatRequest, type ChatRequest } from './chat-request.ts'
import type { CitedMark } from './cited-text.ts'
import { toApiError } from './errors.ts'
import { resolveModel } from './models.ts'
import { readWhole, runForClient, streamToClient, type ClientRun } from './run-to-client.ts'

const route = routesOf('Chat completions', { scope: 'chat', owner: 'caller' })

const usageSchema = v.looseObject({
  prompt_tokens: v.number(),
  completion_tokens: v.number(),
  total_tokens: v.number(),
})
const reasons = v.picklist(['stop', 'length', 'tool_calls', 'content_filter'])
/** What is new in a chunk, and all of an answer. */
const partSchema = v.looseObject({
  role: v.optional(v.literal('assistant')),
  content: v.optional(v.nullable(v.string())),
  annotations: v.optional(v.array(v.looseObject({ type: v.literal('url_citation') }))),
  tool_calls: v.optional(v.array(v.looseObject({ function: v.looseObject({ arguments: v.string() }) }))),
})
const headFields = { id: v.string(), created: v.number(), model: v.string(), system_fingerprint: v.string() }
const choiceFields = { index: v.number(), logprobs: v.null() }
const completionSchema = v.object({
  ...headFields,
  object: v.literal('chat.completion'),
  choices: v.array(v.object({ ...choiceFields, message: partSchema, finish_reason: reasons })),
  usage: usageSchema,
})
const chunkSchema = v.object({
  ...headFields,
  object: v.literal('chat.completion.chunk'),
  choices: v.array(v.object({ ...choiceFields, delta: partSchema, finish_reason: v.nullable(reasons) })),
  usage: v.optional(v.nullable(usageSchema)),
})

export const chatRoutes: readonly Route[] = [
  route('POST /v1/chat/completions', 'createChatCompletion', 'Answer a chat', {
    description:
      'The agent answers the last user message; the conversation is that of the request. Text has marks `[1]`, and ' +
      '`annotations` say which document each one names. Nothing is stored unless `store` is true or ' +
      '`metadata.chat_session_id` or the header `X-OpenWebUI-Chat-Id` names a session.',
    isPaced: true,
    input: {
      body: { kind: 'json', schema: chatRequestSchema, limit: 'maxChatBytes' },
      headers: { 'x-openwebui-chat-id': 'Names the session to store in.' },
    },
    answer: { description: 'The answer, or chunks of it.', schema: completionSchema, events: chunkSchema },
    errors: ['PERSONA_NOT_FOUND', 'NOT_FOUND', 'INVALID_INPUT', 'VALIDATION_ERROR', 'QUERY_REJECTED', 'RATE_LIMITED'],
    async handle(context) {
      const { body, parts, caller, request, requestId, settings } = context
      const { persona, override } = await resolveModel(body.model, parts.agent, caller)
      const messages = await withPictures(body.messages, context)
      const { message, client } = await readChatRequest(
        { ...body, messages: [...messages] },
        namedSession(body, request),
        caller,
      )
      const asksWeb = body.web_search_options && client.steps?.length === 0 && message.allowed_tool_ids === undefined
      const webSearch = asksWeb ? await webSearchOf(parts.agent, persona, caller) : undefined
      const run = await parts.agent.send(
        {
          ...message,
          chat_session_info: { persona_id: persona.id },
          llm_override: override,
          forced_tool_id: webSearch,
          ...(await sameQuestion(parts.agent, client, message.message, caller)),
          include_usage: true,
          origin: 'api',
        },
        { caller, requestId, client: { ...client, personaId: persona.id }, headers: passedHeaders(request, settings) },
      )
      const head = {
        id: `chatcmpl-${crypto.randomUUID()}`,
        created: Math.floor(Date.now() / 1000),
        model: body.model,
        system_fingerprint: `inlay_${settings.version}`,
      }
      const answering = runForClient(run, client.isStored === true, context)
      if (body.stream !== true) return whole(answering, head)
      const includesUsage = body.stream_options?.include_usage === true
      return streamToClient(answering, chunkFormat(head, includesUsage, documentUrls(context)), 'a chat completion')
    },
  }),
]

/** Fields of the answer and of each chunk. */
type Head = Pick<v.InferOutput<typeof completionSchema>, keyof typeof headFields>

/** What a request names its conversation by. Temporary chats of Open WebUI have ids that begin with `local:`. */
function namedSession({ metadata }: ChatRequest, request: Request): string | undefined {
  const own = metadata?.['chat_session_id']
  if (typeof own === 'string' && own !== '') return own
  const chat = request.headers.get('x-openwebui-chat-id')
  return chat === null || chat === '' || chat.startsWith('local:') ? undefined : chat
}

/** A stored answer that goes on behind calls of the client's tools is another one to the same question. */
async function sameQuestion(
  agent: Conversations,
  { isStored, sessionId, steps = [] }: ClientTurn,
  text: string,
  caller: Principal,
): Promise<{ readonly parent_message_id?: number }> {
  if (!isStored || sessionId === undefined || steps.length === 0) return {}
  const session = await agent.sessions.get(sessionId, caller).catch(() => undefined)
  const question = session?.messages.findLast(({ role }) => role === 'user')
  return question?.text === text ? { parent_message_id: question.id } : {}
}

/** The web search of an agent, which such a request makes for sure. */
async function webSearchOf(
  agent: Conversations,
  { actionIds }: StoredPersona,
  caller: Principal,
): Promise<number | undefined> {
  const action = (await agent.actions(caller)).find(({ builtIn }) => builtIn === 'WebSearchTool')
  return action && (actionIds?.includes(action.id) ?? true) ? action.id : undefined
}

async function whole(answering: ClientRun, head: Head): Promise<v.InferOutput<typeof completionSchema>> {
  const reader = createAnswerReader(documentUrls(answering.context))
  let [reasoning, finish, usage]: [string, FinishReason, Usage | undefined] = ['', 'stop', undefined]
  const calls: ReturnType<typeof toToolCall>[] = []
  await readWhole(answering, (line) => {
    for (const event of line ? reader.take(line) : reader.end())
      if (event.type === 'error') throw event.error
      else if (event.type === 'reasoning') reasoning += event.text
      else if (event.type === 'call') calls.push(toToolCall(event))
      else if (event.type === 'stop') [finish, usage] = [event.reason, event.usage]
  })
  const { text, marks } = reader.cited
  const message = {
    role: 'assistant' as const,
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    annotations: marks.map(toAnnotation),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    ...head,
    object: 'chat.completion' as const,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: toUsage(usage),
  }
}

/** Chunks as clients need them: the role first, then text, calls and annotations, the end and the usage. */
function chunkFormat(head: Head, includesUsage: boolean, urlOf: (id: string) => string): StreamFormat {
  const reader = createAnswerReader(urlOf)
  let isOpen = false
  let calls = 0
  const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
  const chunk = (choices: readonly object[], usage: object | null = null): string =>
    event({ ...head, object: 'chat.completion.chunk', choices, ...(includesUsage && { usage }) })
  const delta = (part: object, reason: FinishReason | null = null): string =>
    chunk([{ index: 0, delta: part, logprobs: null, finish_reason: reason }])
  const write = (answer: AnswerEvent): string => {
    switch (answer.type) {
      case 'text':
        return delta({ content: answer.text })
      case 'reasoning':
        return delta({ reasoning_content: answer.text })
      case 'call': {
        const { function: called, ...call } = toToolCall(answer)
        const index = calls++
        return (
          delta({ tool_calls: [{ index, ...call, function: { ...called, arguments: '' } }] }) +
          delta({ tool_calls: [{ index, function: { arguments: called.arguments } }] })
        )
      }
      case 'error':
        return event({ error: toApiError(answer.error) })
      case 'stop': {
        const annotations = reader.cited.marks.map(toAnnotation)
        return [
          annotations.length > 0 ? delta({ annotations }) : '',
          delta({}, answer.reason),
          includesUsage ? chunk([], toUsage(answer.usage)) : '',
          'data: [DONE]\n\n',
        ].join('')
      }
    }
  }
  return {
    line(entry) {
      const role = isOpen ? '' : delta({ role: 'assistant', content: '' })
      isOpen = true
      return role + reader.take(lineOf(entry)).map(write).join('')
    },
    heartbeat: ': \n\n',
    refusal: (error) => event({ error: toApiError(error) }),
    end: () => reader.end().map(write).join(''),
  }
}

function toToolCall(call: Extract<AnswerEvent, { type: 'call' }>) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments || '{}' } }
}

function toAnnotation({ document, url, start, end }: CitedMark) {
  return {
    type: 'url_citation' as const,
    url_citation: { url, title: document.semantic_identifier, start_index: start, end_index: end },
  }
}

function toUsage(usage: Usage | undefined) {
  const [input, output] = [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0]
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: usage?.cached_input_tokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage?.reasoning_tokens ?? 0 },
  }
}
