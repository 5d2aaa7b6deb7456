import type { Dialect, Events, RecordedRequest, ReplyPart } from '../model-server.ts'
import { github, isJson, objects, type Json, type Provider, type Outcome, type Rule } from './provider.ts'
import { first, forTools, keywordOf, toTool, type OfferedTool } from './schemas.ts'

const tools = ({ body }: RecordedRequest): OfferedTool[] =>
  objects(body['tools']).map((tool, at) => toTool(tool, tool['input_schema'], at))

interface Block {
  readonly block: Json
  readonly type: string
  readonly role: string
  /** Number of its message, and its own within that. */
  readonly at: number
  readonly index: number
}

const contentOf = (message: Json = {}): readonly Json[] =>
  typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : objects(message['content'])
const typeOf = (block: Json | undefined): unknown => block?.['type']

const blocksOf = ({ body }: RecordedRequest): Block[] =>
  objects(body['messages']).flatMap((message, at) =>
    contentOf(message).map((block, index) => {
      return { block, type: String(typeOf(block)), role: String(message['role']), at, index }
    }),
  )

const forBlocks = (name: string, source: string, type: string, refuses: (block: Block) => Outcome): Rule => ({
  name,
  source,
  refuses: (request) =>
    first(
      blocksOf(request).filter((block) => block.type === type),
      refuses,
    ),
})

const signatureOf = (thought: unknown): string => Buffer.from(`signed:${String(thought)}`).toString('base64')
const thinks = (body: Json): boolean =>
  isJson(body['thinking']) && ['enabled', 'adaptive'].includes(String(body['thinking']['type']))

/** Messages of one role in a row count as one. */
function turnsOf(body: Json): Json[] {
  const turns: Json[] = []
  for (const message of objects(body['messages'])) {
    const last = turns.at(-1)
    if (last?.['role'] === message['role'])
      turns[turns.length - 1] = { ...last, content: [...contentOf(last), ...contentOf(message)] }
    else turns.push(message)
  }
  return turns
}

function unanswered({ body }: RecordedRequest): string | undefined {
  const turns = turnsOf(body)
  for (const [at, turn] of turns.entries()) {
    const next = contentOf(turns[at + 1])
    const answered = next.filter((block) => typeOf(block) === 'tool_result').map((block) => block['tool_use_id'])
    const called = contentOf(turn)
      .filter((block) => typeOf(block) === 'tool_use')
      .map(({ id }) => id)
    const missing = called.filter((id) => !answered.includes(id))
    if (missing.length > 0) {
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
    }
    const orphaned =
      turn['role'] === 'user' ? contentOf(turn).find((block) => typeOf(block) === 'tool_result') : undefined
    const before = contentOf(turns[at - 1]).map(({ id }) => id)
    if (orphaned && !before.includes(orphaned['tool_use_id'])) {
      return `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(orphaned['tool_use_id'])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
    }
  }
  return undefined
}

const rules: readonly Rule[] = [
  {
    name: 'key',
    source: github('n8n-io/n8n#37930'),
    // Its newest client sends the key as a bearer's.
    refuses: ({ headers }) =>
      !headers['x-api-key'] &&
      !headers['authorization'] && {
        status: 401,
        message: 'x-api-key header is required',
        type: 'authentication_error',
      },
  },
  forTools('no union at the top', github('anthropics/claude-code#5319'), tools, ({ schema, at }) =>
    keywordOf(schema, ['oneOf', 'anyOf', 'allOf']) === undefined
      ? undefined
      : `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
  ),
  forTools('schemas are objects', github('lidge-jun/opencodex#75'), tools, ({ schema, at }) =>
    schema['type'] === 'object' ? undefined : `tools.${at}.custom.input_schema.type: Field required`,
  ),
  forTools('names of tools', github('anthropics/claude-code#2326'), tools, ({ name, at }) =>
    /^[a-zA-Z0-9_-]{1,128}$/.test(name)
      ? undefined
      : `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
  ),
  // Of the schema at the top alone.
  forTools('keys', github('beautyfree/appstore-connect-mcp#2'), tools, ({ schema, at }) =>
    Object.keys(isJson(schema['properties']) ? schema['properties'] : {}).every((key) =>
      /^[a-zA-Z0-9_.-]{1,64}$/.test(key),
    )
      ? undefined
      : `tools.${at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
  ),
  forBlocks('ids of calls', github('maximhq/bifrost#5097'), 'tool_use', ({ block, at, index }) =>
    /^[a-zA-Z0-9_-]+$/.test(String(block['id']))
      ? undefined
      : `messages.${at}.content.${index}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
  ),
  {
    name: 'ids of calls are unique',
    source: github('anthropics/claude-code#28515'),
    refuses: (request) => {
      const ids = blocksOf(request).flatMap(({ type, block }) => (type === 'tool_use' ? [block['id']] : []))
      return new Set(ids).size === ids.length ? undefined : 'messages: `tool_use` ids must be unique'
    },
  },
  {
    name: 'results right after calls',
    source: github('anthropics/claude-code#8210'),
    refuses: unanswered,
  },
  {
    name: 'no empty messages',
    source: github('anthropics/claude-code#6774'),
    refuses: ({ body }) =>
      first(objects(body['messages']), (message, at) =>
        contentOf(message).length === 0 || message['content'] === ''
          ? `messages.${at}: all messages must have non-empty content except for the optional final assistant message`
          : undefined,
      ),
  },
  forBlocks('no empty text', github('anthropics/claude-code#59812'), 'text', ({ block }) =>
    String(block['text']).trim() === '' ? 'messages: text content blocks must be non-empty' : undefined,
  ),
  forBlocks('signatures', github('ding113/claude-code-hub#518'), 'thinking', ({ block, at, index }) =>
    block['signature'] === signatureOf(block['thinking'])
      ? undefined
      : `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`,
  ),
  {
    name: 'thoughts before calls',
    source: github('RooCodeInc/Roo-Code#10351'),
    refuses: ({ body }) => {
      const turns = turnsOf(body)
      const at = turns.findLastIndex(({ role }) => role === 'assistant')
      const content = contentOf(turns[at])
      const calls = content.some((block) => typeOf(block) === 'tool_use') && at === turns.length - 2
      const opens = ['thinking', 'redacted_thinking'].includes(String(typeOf(content[0])))
      return thinks(body) && calls && !opens
        ? `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(typeOf(content[0]))}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`
        : undefined
    },
  },
  {
    name: 'limits while thinking',
    source: 'https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking',
    refuses: ({ body }) => {
      if (!thinks(body)) return undefined
      if (body['temperature'] !== undefined && body['temperature'] !== 1)
        return '`temperature` may only be set to 1 when thinking is enabled.'
      const choice = isJson(body['tool_choice']) ? body['tool_choice']['type'] : undefined
      return choice === 'any' || choice === 'tool'
        ? 'Thinking may not be enabled when tool_choice forces tool use.'
        : undefined
    },
  },
  {
    name: 'max_tokens',
    source: 'https://docs.anthropic.com/en/api/messages',
    refuses: ({ body }) => (typeof body['max_tokens'] === 'number' ? undefined : 'max_tokens: Field required'),
  },
  {
    name: 'no prefill',
    source: github('langchain-ai/deepagents#1585'),
    refuses: ({ body }) =>
      objects(body['messages']).at(-1)?.['role'] === 'assistant'
        ? 'This model does not support assistant message prefill. The conversation must end with a user message.'
        : undefined,
  },
  {
    name: 'four cache marks at most',
    source: github('tghamm/Anthropic.SDK#50'),
    refuses: ({ body }) => {
      const marks = JSON.stringify(body).split('"cache_control":{').length - 1
      return marks > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.` : undefined
    },
  },
  forBlocks('pictures', github('daya0576/pi-imessage#5'), 'image', ({ block, at, index }) => {
    const source = isJson(block['source']) ? block['source'] : {}
    const bytes = String(source['data'] ?? '').length
    return bytes > 5_242_880
      ? `messages.${at}.content.${index}.image.source.base64: image exceeds 5 MB maximum: ${bytes} bytes > 5242880 bytes`
      : undefined
  }),
]

const reasons: Readonly<Record<string, string>> = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens' }
const usage = { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
const event = (type: string, value: Json = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`

function dialect(request: RecordedRequest): Dialect {
  let called = blocksOf(request).filter(({ type }) => type === 'tool_use').length
  let index = -1
  let open: string | undefined
  const message = (content: readonly Json[], reason: string | null): Json => ({
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: request.body['model'],
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage,
  })
  const callOf = (name: string): Json => ({
    type: 'tool_use',
    id: `toolu_01${String(called++).padStart(22, 'A')}`,
    name,
  })
  const close = (): string[] => (open === undefined ? [] : [event('content_block_stop', { index })])
  const opened = (type: string, block: Json): string[] => {
    if (open === type && type !== 'tool_use') return []
    const before = close()
    open = type
    return [...before, event('content_block_start', { index: ++index, content_block: { type, ...block } })]
  }
  const delta = (value: Json): string => event('content_block_delta', { index, delta: value })
  const write = (part: ReplyPart): Events => {
    if ('text' in part) return [...opened('text', { text: '' }), delta({ type: 'text_delta', text: part.text })]
    if ('reasoning' in part) {
      const events = [
        ...opened('thinking', { thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: part.reasoning }),
        delta({ type: 'signature_delta', signature: signatureOf(part.reasoning) }),
        ...close(),
      ]
      open = undefined
      return events
    }
    if ('error' in part) return [event('error', { error: part.error })]
    if (!('calls' in part)) return []
    return part.calls.flatMap(({ name, input }) => {
      const text = JSON.stringify(input)
      return [
        ...opened('tool_use', { ...callOf(name), input: {} }),
        ...['', text.slice(0, 4), text.slice(4)].map((piece) =>
          delta({ type: 'input_json_delta', partial_json: piece }),
        ),
      ]
    })
  }
  return {
    path: '/v1/messages',
    headers: { 'anthropic-ratelimit-requests-remaining': '49', 'request-id': 'req_011CSHoEeqs5C35K2UUqR7Fy' },
    start: () => [event('message_start', { message: message([], null) }), event('ping')],
    write,
    finish: (reason) => [
      ...close(),
      event('message_delta', {
        delta: { stop_reason: reasons[reason] ?? reason, stop_sequence: null },
        usage: { output_tokens: 7 },
      }),
      event('message_stop'),
    ],
    whole: (parts) => {
      const content = parts.flatMap((part): Json[] => {
        if ('text' in part) return [{ type: 'text', text: part.text }]
        if ('reasoning' in part)
          return [{ type: 'thinking', thinking: part.reasoning, signature: signatureOf(part.reasoning) }]
        return 'calls' in part ? part.calls.map(({ name, input }) => ({ ...callOf(name), input })) : []
      })
      return message(content, content.some((block) => typeOf(block) === 'tool_use') ? 'tool_use' : 'end_turn')
    },
  }
}

export const anthropic: Provider = {
  title: 'Anthropic',
  seesPictures: true,
  rules,
  error: ({ message, type = 'invalid_request_error' }) => ({
    type: 'error',
    error: { type, message },
    request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
  }),
  dialect,
  api: 'anthropic',
  modelId: 'claude-opus-4-6',
}
