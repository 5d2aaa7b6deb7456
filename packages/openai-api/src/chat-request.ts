import type { AnswerParameters, ClientTool, ClientTurn } from '@inlay/agent'
import { asUuid, boolean, float, integer, type Principal, type SendMessageInput } from '@inlay/protocol'
import * as v from 'valibot'
import { messageSchema, readMessages } from './chat-messages.ts'
import { invalid } from './errors.ts'

/** A field that may be absent or null. */
export const absent = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  )
export const object = v.record(v.string(), v.unknown())
export const between = (least: number, most: number) => absent(v.pipe(float, v.minValue(least), v.maxValue(most)))
export const count = absent(v.pipe(integer, v.minValue(1)))

/** What is known of a request; other fields are ignored. */
export const chatRequestSchema = v.object({
  model: v.string(),
  messages: v.array(messageSchema),
  stream: absent(boolean),
  stream_options: absent(v.object({ include_usage: absent(boolean) })),
  tools: absent(
    v.array(
      v.object({
        type: v.literal('function'),
        function: v.object({
          name: v.pipe(v.string(), v.regex(/^[\w.-]{1,128}$/)),
          description: absent(v.string()),
          parameters: absent(object),
          strict: absent(boolean),
        }),
      }),
    ),
  ),
  tool_choice: absent(
    v.union([v.picklist(['auto', 'none', 'required']), v.object({ function: v.object({ name: v.string() }) })]),
  ),
  response_format: absent(
    v.object({
      type: v.picklist(['text', 'json_object', 'json_schema']),
      json_schema: absent(
        v.object({ name: absent(v.string()), description: absent(v.string()), schema: absent(object) }),
      ),
    }),
  ),
  temperature: between(0, 2),
  top_p: between(0, 1),
  presence_penalty: between(-2, 2),
  frequency_penalty: between(-2, 2),
  max_tokens: count,
  max_completion_tokens: count,
  seed: absent(integer),
  stop: absent(v.union([v.string(), v.array(v.string())])),
  n: count,
  audio: absent(v.unknown()),
  reasoning_effort: absent(v.picklist(['none', 'minimal', 'low', 'medium', 'high', 'xhigh'])),
  web_search_options: absent(v.unknown()),
  store: absent(boolean),
  metadata: absent(object),
})

export type ChatRequest = v.InferOutput<typeof chatRequestSchema>

/**
 * What front ends ask beside a conversation (titles, tags, further questions) begins so. Nothing is stored or searched
 * for it, and it gets no tools.
 */
const helperStart = /^(?:### Task:|Provide a concise, 5-word-or-less title for the conversation)/

/** @param named what the request names its conversation by; undefined for none */
export async function readChatRequest(
  body: ChatRequest,
  named: string | undefined,
  caller: Principal,
): Promise<{
  readonly message: Pick<SendMessageInput, 'message' | 'file_descriptors' | 'allowed_tool_ids'>
  readonly client: ClientTurn
}> {
  if ((body.n ?? 1) > 1) throw invalid('n', 'One answer is given to a request: leave out n.', 'unsupported_parameter')
  if (body.audio) throw invalid('audio', 'Answers are text: leave out audio.', 'unsupported_parameter')
  const { instructions, history, message, steps, files } = readMessages(body.messages)
  const isHelper = helperStart.test(message.text)
  const tools = isHelper || body.tool_choice === 'none' ? [] : (body.tools ?? []).map(({ function: tool }) => tool)
  checkNames(tools)
  const isStored = !isHelper && (body.store === true || named !== undefined)
  return {
    message: {
      message: message.text,
      file_descriptors: message.fileIds.map((id) => ({ id })),
      ...(isHelper && { allowed_tool_ids: [] }),
    },
    client: {
      history,
      isStored,
      ...(isStored && named !== undefined && { sessionId: await sessionIdOf(named, caller) }),
      instructions,
      files,
      tools,
      toolChoice: isHelper ? 'none' : toolChoiceOf(body, tools),
      steps,
      parameters: parametersOf(body),
    },
  }
}

/** @throws INVALID_INPUT for tools of one name, whose calls could not be distinguished */
export function checkNames(tools: readonly ClientTool[]): void {
  const names = new Set<string>()
  for (const { name } of tools)
    if (names.size === names.add(name).size)
      throw invalid('tools', `There are two tools "${name}": give each a name of its own.`)
}

/** A UUID names itself; another id gets one of its own for each caller. */
async function sessionIdOf(named: string, { id: ownerId }: Principal): Promise<string> {
  const known = asUuid(named)
  if (known !== undefined) return known
  const bytes = new TextEncoder().encode(JSON.stringify([ownerId, named]))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes), 0, 16)
  return asUuid([...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')) ?? crypto.randomUUID()
}

export function toolChoiceOf(
  { tool_choice: choice }: Pick<ChatRequest, 'tool_choice'>,
  tools: readonly ClientTool[],
): ClientTurn['toolChoice'] {
  // The choice is about the client's own tools: "none" leaves the agent its search.
  if (!choice || choice === 'none' || choice === 'auto') return 'auto'
  const name = choice === 'required' ? undefined : choice.function.name
  if (name === undefined ? tools.length > 0 : tools.some((tool) => tool.name === name))
    return name === undefined ? 'required' : { name }
  throw invalid('tool_choice', 'It asks for a tool that is not in tools.')
}

function parametersOf(body: ChatRequest): AnswerParameters {
  return {
    temperature: body.temperature,
    topP: body.top_p,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    stopSequences: typeof body.stop === 'string' ? [body.stop] : body.stop,
    seed: body.seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    reasoning: body.reasoning_effort,
    responseFormat: responseFormatOf(
      body.response_format && { ...body.response_format.json_schema, type: body.response_format.type },
      'response_format.json_schema',
    ),
  }
}

type Format = AnswerParameters['responseFormat']

export function responseFormatOf(format: (Format & { type: string }) | undefined, param: string): Format {
  if (!format || format.type === 'text') return undefined
  const { type, name, description, schema } = format
  if (type === 'json_schema' && !schema)
    throw invalid(`${param}.schema`, 'A JSON schema is needed for the type "json_schema".')
  return { name, description, schema }
}
